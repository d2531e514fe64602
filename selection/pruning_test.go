package selection

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// Limits read as numbers of documents or shares of them. The products are those of scikit-learn: max_df * n_doc in doubles.
func TestDocumentLimits(t *testing.T) {
	for text, want := range map[string]float64{ // of 1000 documents
		"0": 0, "1": 1, "5": 5, "1000": 1000, "7000": 7000,
		"1%": 10, "0.7%": 7, "7%": 70, "100%": 1000, "0.05%": 0.5, "0%": 0,
		"1.0": 1000, "0.01": 10, "0.0": 0, ".5": 500, "1e-3": 1,
	} {
		l, err := ParseDocumentLimit(text)
		if got := l.of(1000); err != nil || got != want || l.Text != text {
			t.Errorf("%s: %v of 1000 documents, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]float64{"7%": 7, "0.07": 0.07 * float64(100*documentsAreAVariable), "0.29": 0.29 * float64(100*documentsAreAVariable), "29%": 29} {
		if l, err := ParseDocumentLimit(text); err != nil || l.of(100) != want {
			t.Errorf("%s: %v of 100 documents, %v; want %v", text, l.of(100), err, want)
		}
	}
	for _, text := range []string{"", "-1", "-0.5", "1.5", "2.0", "101%", "-1%", "%", "few", "NaN", "Inf", "1e3", "1 %", "1e1%", "0x1%", "99999999999999999999"} {
		if l, err := ParseDocumentLimit(text); err == nil {
			t.Errorf("%q is read as %+v", text, l)
		}
	}
	_, err := ParseDocumentLimit("1.5")
	if want := `"1.5": a number with a point is a share of the documents, from 0.0 to 1.0; for a number of documents write 2, for a percentage 1.5%`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

var documentsAreAVariable = 1 // so that products are rounded, and not computed exactly by the compiler

func TestPruningRoundTrip(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for _, options := range []map[string]string{
		{}, {"min_df": "5"}, {"min_df": "0"}, {"min_df": "1%", "max_df": "0.9"}, {"min_count": "3", "max_features": "1000"},
		{"vocabulary": "12 names, sha256 " + hash}, {"exclude": "1 names, sha256 " + hash, "max_df": "1.0"},
	} {
		p, err := ParsePruning(options)
		if err != nil || !reflect.DeepEqual(p.options(), options) || p.Any() != (len(options) > 0) {
			t.Errorf("%v became %v, %v", options, p.options(), err)
		}
		again, err := ParsePruning(p.options())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v became %+v, %v", p, again, err)
		}
	}
	for _, options := range []map[string]string{
		{"min_df": "1.5"}, {"max_df": "x"}, {"min_count": "0"}, {"min_count": "-1"}, {"min_count": "0.5"}, {"max_features": "0"}, {"max_features": "10%"},
		{"vocabulary": "words.txt"}, {"exclude": "12 names, sha256 12"},
	} {
		if _, err := ParsePruning(options); err == nil {
			t.Errorf("%v is accepted", options)
		} else if flag := slices.Collect(func(yield func(string) bool) {
			for flag := range options {
				yield(flag)
			}
		})[0]; !strings.HasPrefix(err.Error(), "--"+flag) {
			t.Errorf("%v: %v does not name the flag", options, err)
		}
	}
}

func TestPruningIsValidated(t *testing.T) {
	for _, c := range []struct {
		options map[string]string
		want    string // "" is no error
	}{
		{map[string]string{"min_df": "5", "max_df": "5"}, ""},
		{map[string]string{"min_df": "5", "max_df": "1%"}, ""},
		{map[string]string{"min_df": "10%", "max_df": "0.1"}, ""},
		{map[string]string{"min_df": "6", "max_df": "5"}, "--min_df=6 is above --max_df=5: every feature is left out"},
		{map[string]string{"min_df": "10%", "max_df": "0.05"}, "--min_df=10% is above --max_df=0.05"},
		{map[string]string{"max_df": "0"}, "--max_df=0: leaves out every feature"},
		{map[string]string{"max_df": "0.0"}, "--max_df=0.0: leaves out every feature"},
		{map[string]string{"max_df": "0%"}, "--max_df=0%: leaves out every feature"},
	} {
		p, err := ParsePruning(c.options)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Validate()
		var e *modelio.Error
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.As(err, &e) || e.Exit != modelio.ExitUsage) {
			t.Errorf("%v: %v, want %q", c.options, err, c.want)
		}
	}
	if err := (Pruning{Vocabulary: Names{SHA256: "x"}}).ValidateFor(8); err == nil || !strings.HasPrefix(err.Error(), "--vocabulary: ") {
		t.Errorf("%v", err)
	}
	if err := (Pruning{MinCount: 2}).ValidateFor(8); err != nil {
		t.Error(err)
	}
}

func writeNames(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "names.txt")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadNames(t *testing.T) {
	for content, want := range map[string][]string{
		"b\na\n":                      {"a", "b"},
		"a\nb":                        {"a", "b"},
		"\ufeffa\r\n\r\n\nb b\r\na\n": {"a", "b b"},
		" a\na \n":                    {" a", "a "}, // n-grams of characters begin and end with spaces
		"\t\n":                        {"\t"},
	} {
		n, err := ReadNames(t.Context(), writeNames(t, content))
		if err != nil {
			t.Fatal(err)
		}
		set, err := n.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range set.entries {
			got = append(got, string(set.name(e)))
		}
		if slices.Sort(got); !slices.Equal(got, want) || n.Count != int64(len(want)) {
			t.Errorf("%q: %d names, %q; want %q", content, n.Count, got, want)
		}
	}
	for content, want := range map[string]string{
		"":                                 "has no names",
		"\n\r\n":                           "has no names",
		"a\nb\xff\n":                       "line 2 is not valid UTF-8",
		"\x1f\x8b\x08\n":                   "line 1 is not valid UTF-8",
		"a\n" + strings.Repeat("x", 65536): "line 2 has 65536 bytes",
	} {
		if _, err := ReadNames(t.Context(), writeNames(t, content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", content, err, want)
		}
	}
	if _, err := ReadNames(t.Context(), "none.txt"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A file that is too large to travel with the job is read by the workers, which notice a change.
func TestLargeFilesOfNames(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "word%d\n", i)
	}
	file := writeNames(t, b.String())
	n, err := ReadNames(t.Context(), file)
	if err != nil || n.Inline != nil || n.Count != 50_000 {
		t.Fatalf("%d names, %d bytes travel, %v", n.Count, len(n.Inline), err)
	}
	if err := os.WriteFile(file, []byte("other\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := n.load(t.Context()); err == nil || !strings.Contains(err.Error(), "has changed since the run started") {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := n.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shards := 0
	for shard := range 7 {
		from, to := set.shard(shard, 7)
		for _, e := range set.entries[from:to] {
			if feature.Shard(e.key, 7) != shard {
				t.Fatalf("shard %d has a name of shard %d", shard, feature.Shard(e.key, 7))
			}
		}
		shards += to - from
	}
	if shards != 50_000 {
		t.Errorf("the shards have %d names", shards)
	}
}

// The set has exactly its names, whatever bytes they have.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"a\nb\n", "\ufeffa\r\n", "a\n\xff", "", "\n\n", "a\na\n", " \n", "\r\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		set, err := parseNameSet(content)
		if err != nil {
			return
		}
		want := map[string]bool{}
		for _, line := range strings.Split(strings.TrimPrefix(string(content), "\ufeff"), "\n") {
			if line = strings.TrimSuffix(line, "\r"); line != "" {
				want[line] = true
			}
		}
		if len(want) != len(set.entries) {
			t.Fatalf("%d names, want %d", len(set.entries), len(want))
		}
		for name := range want {
			key, _ := feature.Hash([]byte(name))
			if at, err := set.find(key, func() ([]byte, error) { return []byte(name), nil }); err != nil || at < 0 {
				t.Fatalf("%q is not found", name)
			}
			if at, _ := set.find(key, func() ([]byte, error) { return []byte(name + "x"), nil }); at >= 0 {
				t.Fatalf("%q is found", name+"x")
			}
		}
	})
}

// The first rule that a feature does not satisfy leaves it out.
func TestKeep(t *testing.T) {
	vocabulary, err := ReadNames(t.Context(), writeNames(t, "a\nb\nc\nd\n"))
	if err != nil {
		t.Fatal(err)
	}
	exclude, err := ReadNames(t.Context(), writeNames(t, "b\nz\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules := Pruning{Vocabulary: vocabulary, Exclude: exclude, MinCount: 3, MaxFeatures: 1}
	d := "m"
	p, err := NewPruner(t.Context(), rules, PruningPlan{Least: 2, Most: 5, Cut: &Cut{Occurrences: 7, ID: 10, Name: &d}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                   string
		id                     int64
		occurrences, documents float64
		want                   string
	}{
		{"z", 1, 9, 3, "vocabulary"}, {"b", 1, 0, 0, "exclude"}, {"a", 1, 9, 1, "min_df"}, {"a", 1, 9, 6, "max_df"}, {"a", 1, 2, 2, "min_count"},
		{"a", 1, 6, 2, "max_features"}, {"a", 11, 7, 2, "max_features"}, {"a", 10, 7, 2, ""}, {"a", 9, 7, 2, ""}, {"a", 11, 8, 2, ""},
	} {
		key, _ := feature.Hash([]byte(c.name))
		name := func() ([]byte, error) { return []byte(c.name), nil }
		if keep, rule, err := p.Keep(c.id, key, name, c.occurrences, c.documents); err != nil || keep != (c.want == "") || rule != c.want {
			t.Errorf("%+v: %v, %q, %v", c, keep, rule, err)
		}
	}
	cut := &Cut{Occurrences: 7, ID: 10, Name: &d}
	for name, want := range map[string]bool{"l": true, "m": true, "n": false} {
		if keep, err := cut.keeps(10, func() ([]byte, error) { return []byte(name), nil }, 7); err != nil || keep != want {
			t.Errorf("%s: %v, %v", name, keep, err)
		}
	}
	var none *Pruner
	if keep, rule, err := none.Keep(0, 0, nil, 0, 0); !keep || rule != "" || err != nil {
		t.Error(keep, rule, err)
	}
}

func TestPlan(t *testing.T) {
	a, b := int64(60), int64(40)
	classes := []modelio.Class{{Label: "a", Documents: &a}, {Label: "b", Documents: &b}}
	p, err := ParsePruning(map[string]string{"min_df": "3%"})
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := p.Plan(classes); err != nil || plan.Least != 3 || !math.IsInf(plan.Most, 1) {
		t.Errorf("%+v, %v", plan, err)
	}
	classes[1].Documents = nil
	var e *modelio.Error
	if _, err := p.Plan(classes); !errors.As(err, &e) || e.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), "--class_documents=b=n") {
		t.Error(err)
	}
	if p, err = ParsePruning(map[string]string{"max_df": "3"}); err != nil {
		t.Fatal(err)
	}
	if plan, err := p.Plan(classes); err != nil || plan.Most != 3 {
		t.Errorf("%+v, %v", plan, err)
	}
}
