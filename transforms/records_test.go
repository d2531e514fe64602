package transforms

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

func randomTotals(rng *rand.Rand, file corpusio.File, start, end int64) Totals {
	t := Totals{
		Classes: map[string]ClassTotal{fmt.Sprint(rng.IntN(3)): {1 + rng.Int64N(9), float64(rng.IntN(99)), float64(rng.IntN(50))}},
		Drops:   modelio.Drops{Lines: map[corpusio.Reason]int64{corpusio.NoTab: rng.Int64N(3)}, BlankLines: rng.Int64N(4), Replaced: 1},
		Spans:   []corpusio.Span{{File: file, Start: start, End: end, CRC: rng.Uint32()}},
	}
	for range rng.IntN(4) {
		t.Examples = append(t.Examples, corpusio.Rejection{File: file.Name, Offset: start + rng.Int64N(end-start), Reason: corpusio.NoTab})
	}
	return t
}

// Totals are added by goroutines, bundles and the audit, in whatever order they come.
func TestTotalsAddUpInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		var list []Totals
		for f := range 3 {
			file := corpusio.File{Info: fileio.Info{Name: fmt.Sprint("file", f), Size: 1000}}
			for start := int64(0); start < 1000; start += 100 {
				list = append(list, randomTotals(rng, file, start, start+100))
			}
		}
		sum := func() Totals {
			var total Totals
			for len(list) > 0 { // in groups that are normalised on their own
				n := 1 + rng.IntN(len(list))
				var part Totals
				for _, t := range list[:n] {
					part.add(t)
				}
				part.normalise()
				pieces, err := part.pieces()
				if err != nil {
					t.Fatal(err)
				}
				for _, piece := range pieces {
					total.add(piece)
				}
				list = list[n:]
			}
			total.normalise()
			return total
		}
		all := slices.Clone(list)
		want := sum()
		list = slices.Clone(all)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got := sum(); !reflect.DeepEqual(got, want) {
			t.Fatalf("added in another order:\n%+v\n%+v", got, want)
		}
		if len(want.Spans) != 3 || len(want.Examples) > maxExamples {
			t.Fatalf("%d spans, %d examples", len(want.Spans), len(want.Examples))
		}
	}
}

// No element between two steps is larger than MaxElement, whatever the number of files and of classes.
func TestRecordsAreCut(t *testing.T) {
	var files []corpusio.File
	whole := Totals{Classes: map[string]ClassTotal{}, Drops: modelio.Drops{BlankLines: 7}}
	outcome := Audited{Features: 7}
	for i := range 50_000 {
		name := fmt.Sprintf("/a/folder/with/a/name/that/is/long/%s/file%05d.tsv", strings.Repeat("x", i%100), i)
		files = append(files, corpusio.File{Info: fileio.Info{Name: name, Size: 100, Version: name[len(name)-20:]}})
		whole.Classes[fmt.Sprint("label", i)] = ClassTotal{Documents: int64(i)}
		whole.Spans = append(whole.Spans, corpusio.Span{File: files[i], End: 100})
		outcome.Inputs = append(outcome.Inputs, modelio.Input{File: files[i]})
		outcome.Warnings = append(outcome.Warnings, name+": is empty")
	}
	lists, err := chunks(files)
	if err != nil {
		t.Fatal(err)
	}
	var listed []corpusio.File
	for _, b := range lists {
		list, err := decode[[]corpusio.File](b)
		if err != nil || len(b) > MaxElement || len(list) > 1000 {
			t.Fatalf("a list of %d files, %d bytes, %v", len(list), len(b), err)
		}
		listed = append(listed, list...)
	}
	if !slices.Equal(listed, files) {
		t.Error("the lists are not the files")
	}
	var again Totals
	pieces, err := whole.pieces()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range encoded(t, pieces) {
		piece, err := decode[Totals](b)
		if err != nil {
			t.Fatal(err)
		}
		again.add(piece)
	}
	if !maps.Equal(again.Classes, whole.Classes) || again.Drops.BlankLines != 7 || !slices.Equal(again.Spans, whole.Spans) {
		t.Error("the pieces are not the totals")
	}
	audits, err := outcome.pieces()
	if err != nil {
		t.Fatal(err)
	}
	all := encoded(t, audits)
	slices.Reverse(all)
	next := func(b *[]byte) bool {
		if len(all) == 0 {
			return false
		}
		*b, all = all[0], all[1:]
		return true
	}
	joined, err := joinAudited(next)
	if err != nil || !slices.Equal(joined.Inputs, outcome.Inputs) || !slices.Equal(joined.Warnings, outcome.Warnings) || joined.Features != 7 {
		t.Errorf("the pieces are not the outcome: %v", err)
	}
	all = encoded(t, audits)[1:]
	if _, err := joinAudited(next); err == nil {
		t.Error("a piece of the outcome is missing, and nobody notices")
	}
}

// encoded are records as they cross a shuffle.
func encoded[T any](t *testing.T, records []T) (list [][]byte) {
	t.Helper()
	for _, r := range records {
		b, err := encode(r)
		if err != nil || len(b) > MaxElement {
			t.Fatalf("a %T of %d bytes, %v", r, len(b), err)
		}
		list = append(list, b)
	}
	return list
}

func TestRecordsKeepNumbersThatAreNotFinite(t *testing.T) {
	want := []modelio.FeatureRow{{Weight: math.Inf(1)}, {Weight: math.Inf(-1)}}
	b, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode[[]modelio.FeatureRow](b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := decode[Part](b); err == nil {
		t.Error("a record of another type is decoded")
	}
	if _, err := decode[Part](b[:len(b)/2]); err == nil {
		t.Error("half a record is decoded")
	}
}

func TestAuditNoticesMissingParts(t *testing.T) {
	part := func(name, sum string) Part { return Part{FileSum: countio.FileSum{Name: name, SHA256: sum}} }
	for what, c := range map[string]struct {
		parts []Part
		want  string
	}{
		"all":        {[]Part{part("b", "2"), part("a", "1")}, ""},
		"twice":      {[]Part{part("a", "1"), part("b", "2"), part("a", "1")}, ""},
		"missing":    {[]Part{part("a", "1")}, "b: was never written"},
		"different":  {[]Part{part("a", "1"), part("b", "2"), part("a", "3")}, "a: two attempts wrote different bytes"},
		"unexpected": {[]Part{part("a", "1"), part("b", "2"), part("c", "3")}, "there are 3 parts"},
	} {
		_, err := expected(c.parts, []string{"a", "b"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestAuditNoticesUnreadBytes(t *testing.T) {
	file := corpusio.File{Info: fileio.Info{Name: "in.tsv", Size: 300}}
	span := func(start, end int64) corpusio.Span { return corpusio.Span{File: file, Start: start, End: end} }
	for what, c := range map[string]struct {
		spans []corpusio.Span
		files int
		want  string
	}{
		"whole": {[]corpusio.Span{span(100, 200), span(0, 100), span(200, 300)}, 1, ""},
		"hole":  {[]corpusio.Span{span(0, 100), span(200, 300)}, 1, "was not read once"},
		"twice": {[]corpusio.Span{span(0, 100), span(100, 300), span(0, 100)}, 1, "was not read once"},
		"tail":  {[]corpusio.Span{span(1, 300)}, 1, "was not read once"},
		"end":   {[]corpusio.Span{span(0, 299)}, 1, "was not read once"},
		"none":  {nil, 1, "0 files were read, 1 were expected"},
	} {
		total := Totals{Spans: c.spans}
		total.normalise()
		err := checkSpans(total.Spans, c.files)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestConserveNoticesEveryKindOfLoss(t *testing.T) {
	labels, counted := []string{"a", "b"}, map[string]ClassTotal{"a": {2, 10, 7}, "b": {1, 5, 5}}
	for what, arrived := range map[string][]ClassTotal{
		"a token":   {{0, 9, 7}, {0, 5, 5}},
		"a posting": {{0, 10, 6}, {0, 5, 5}},
		"a class":   {{0, 10, 7}, {}},
	} {
		if err := conserve(labels, counted, arrived); err == nil {
			t.Errorf("%s: not noticed", what)
		}
	}
	if err := conserve(labels, counted, []ClassTotal{{0, 10, 7}, {0, 5, 5}}); err != nil {
		t.Error(err)
	}
	part := Part{Classes: []int32{0, 2}, Sums: []ClassTotal{{0, 10, 7}, {0, 1, 1}}}
	if _, err := audit(Totals{Classes: counted}, []Part{part}, AuditParams{Parts: []string{""}}); err == nil || !strings.Contains(err.Error(), "class number 2") {
		t.Errorf("counts of a class too many: %v", err)
	}
}

// What was solved is what is selected: a model whose features gain something else is not written.
func TestCheckSupportComparesGains(t *testing.T) {
	rows := []modelio.FeatureRow{{Score: 1}, {Score: 2}}
	for gain, good := range map[float64]bool{3: true, 3 + 1e-6: false, math.NaN(): false} {
		if err := checkSupport(rows, Solution{Models: []modelio.ModelRow{{K: 2, Gain: gain}}}); (err == nil) != good {
			t.Errorf("a gain of %v: %v", gain, err)
		}
	}
	if err := checkSupport(rows[:1], Solution{Models: []modelio.ModelRow{{K: 2, Gain: 1}}}); err == nil {
		t.Error("one of two features is enough")
	}
}

func TestParseK(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "9": 9, "250": 200, "5%": 10, "1%": 2, "0.1%": 1, "100%": 200, "0.7%": 1, "0.8%": 2} {
		k, err := ParseK(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, reason, err := k.of(rules{features: 200}); n != want || reason != "" || err != nil {
			t.Errorf("%s of 200 is %d, %q, %v; want %d", text, n, reason, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "0%", "101%", "-5%", "NaN%", "x", "%", "9 ", "1e3", "99999999999999999999",
		"auto", "auto:", "auto:gain", "auto:gain=0%", "auto:gain=2", "auto:elbow", "auto:knee=", "auto:knee=1", "auto:fdr", "auto:fdr=0", "auto:fdr=1", "auto:fdr=5%", "auto:best"} {
		if k, err := ParseK(text); err == nil {
			t.Errorf("%q is taken for %+v", text, k)
		}
	}
}

// A curve of 10 features, of which the first gains most.
func TestRulesForK(t *testing.T) {
	bound := func(k int64) float64 { return 100 * (1 - math.Pow(0.5, float64(k))) }
	curve := solver.Curve{Features: 10, Bound: bound, Gain: func(k int64) float64 { return bound(k) - 0.1 }}
	c := rules{10, func(solver.Settings) (solver.Curve, error) { return curve, nil }, func(rate float64) (int64, error) {
		return int64(100 * rate), nil
	}}
	for text, want := range map[string]struct {
		k      int64
		reason string
	}{
		"auto:gain=50%": {2, "the fewest that gain 50% of the 99.90 that all 10 gain"}, "auto:gain=90%": {4, "of the 99.90"}, "auto:gain=100%": {10, "100%"},
		"auto:knee": {3, "less than the average of all, 9.99"}, "auto:fdr=0.05": {5, "so many are significant"}, "auto:fdr=0.001": {1, "no feature is significant"},
	} {
		k, err := ParseK(text)
		if err != nil {
			t.Fatal(err)
		}
		n, reason, err := k.of(c)
		if n != want.k || !strings.Contains(reason, want.reason) || err != nil {
			t.Errorf("%s: %d, %q, %v; want %v", text, n, reason, err, want)
		}
	}
}

func TestProblemsAreCounted(t *testing.T) {
	var classes []modelio.Class
	for i := range 150 {
		classes = append(classes, modelio.Class{Label: fmt.Sprintf("%03d", i)})
	}
	for _, strategy := range []Strategy{modelio.OneVersusRest, modelio.OneVersusOne} {
		for _, positive := range []string{"", "001"} {
			for _, n := range []int{2, 3, 20, 150} {
				if got, want := strategy.Problems(n, positive), len(problems(classes[:n], strategy, positive)); got != int64(want) {
					t.Errorf("%s of %d classes, positive %q: %d problems, want %d", strategy, n, positive, got, want)
				}
			}
		}
	}
	for strategy, refused := range map[Strategy]bool{modelio.OneVersusOne: true, modelio.OneVersusRest: false, modelio.Joint: false} {
		exit, message := JudgeClasses(classes, "", strategy)
		if want := "--strategy=ovo makes 11,175 problems of 150 classes"; refused != strings.HasPrefix(message, want) || refused != (exit == ExitUsage) {
			t.Errorf("%s: exit %d, %s", strategy, exit, message)
		}
	}
	many := make([]modelio.Class, 10_001)
	for i := range many {
		many[i].Label = fmt.Sprintf("%05d", i)
	}
	if _, message := JudgeClasses(many, "", modelio.OneVersusRest); message != "" {
		t.Errorf("each of 10,001 classes against the rest: %s", message)
	}
	if _, message := JudgeClasses(classes, "001", modelio.OneVersusOne); message != "" {
		t.Errorf("one class against each other: %s", message)
	}
	if _, message := JudgeClasses(classes[:141], "", modelio.OneVersusOne); message != "" {
		t.Errorf("9,870 problems: %s", message)
	}
}

func TestParseBudget(t *testing.T) {
	for text, exceeded := range map[string][2]bool{"1%": {false, true}, "10": {false, true}, "0": {true, true}, "0%": {true, true}, "100%": {false, false}} {
		b, err := ParseBudget(text)
		if err != nil || b.exceeded(10, 1000) != exceeded[0] || b.exceeded(11, 1000) != exceeded[1] || b.exceeded(0, 1000) {
			t.Errorf("%s: %+v, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "-1", "-1%", "101%", "x", "%", "NaN%", "1.5"} {
		if b, err := ParseBudget(text); err == nil {
			t.Errorf("%q is taken for %+v", text, b)
		}
	}
}

func TestPath(t *testing.T) {
	for m, want := range map[int64]string{1: "[1]", 2: "[1 2]", 7: "[1 2 3 5 7]", 74: "[1 2 3 5 10 20 50 74]", 100: "[1 2 3 5 10 20 50 100]"} {
		requested := map[int64]request{}
		if m >= 3 {
			requested[3] = request{}
		}
		if got := fmt.Sprint(pathOf(m, requested)); got != want {
			t.Errorf("m = %d: %s, want %s", m, got, want)
		}
	}
	if ks := pathOf(math.MaxInt64, nil); ks[len(ks)-1] != math.MaxInt64 || !slices.IsSorted(ks) {
		t.Errorf("%v", ks)
	}
}
