package corpusio

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFileLabel(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  LabelFrom
		label string
	}{
		{"/data/spam/1.txt", FromRecord, ""},
		{"/data/spam/1.txt", FromFolder, "spam"},
		{"/data/ spam /1.txt", FromFolder, "spam"},
		{"/data/naïve.d/1.txt", FromFolder, "naïve.d"},
		{"gs://bucket/1.txt", FromFolder, "bucket"},
		{"gs://bucket/a/b/1.txt", FromFolder, "b"},
		{"/data/spam.txt", FromFile, "spam"},
		{"/data/spam.TXT.gz", FromFile, "spam"},
		{"/data/crawl.warc.wet.gz", FromFile, "crawl"},
		{"/data/gpt-4.5.jsonl.zst", FromFile, "gpt-4.5"},
		{"/data/gpt-4.5", FromFile, "gpt-4.5"},
		{"/data/spam", FromFile, "spam"},
	} {
		if label, err := fileLabel(c.name, "", c.from); err != nil || label != c.label {
			t.Errorf("%s, %s: %q, %v; want %q", c.name, c.from, label, err, c.label)
		}
		if label, err := fileLabel(c.name, "given", c.from); err != nil || label != "given" {
			t.Errorf("%s: %q, %v; want the label that was given", c.name, label, err)
		}
	}
	for name, from := range map[string]LabelFrom{"/1.txt": FromFolder, "/data/ /1.txt": FromFolder, "/data/.txt": FromFile, "/data/\xff/1.txt": FromFolder} {
		if label, err := fileLabel(name, "", from); err == nil || !strings.Contains(err.Error(), name+": the name of the "+string(from)+" cannot be a label") {
			t.Errorf("%q: label %q, error %v", name, label, err)
		}
	}
}

// writeFiles writes files into a folder, which it returns.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestListLabeled(t *testing.T) {
	dir := writeFiles(t, map[string]string{"spam/1.tsv": "a\tb\n", "spam/2.tsv": "a\tb\n", "ham/3.tsv": "a\tb\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	list := func(from LabelFrom, patterns ...Pattern) (string, error) {
		files, err := ListLabeled(t.Context(), patterns, Reading{LabelFrom: from})
		var labels []string
		for _, f := range files {
			labels = append(labels, strings.TrimPrefix(f.Name, dir+"/")+"="+f.Label)
		}
		return strings.Join(labels, " "), err
	}
	for _, c := range []struct {
		from     LabelFrom
		patterns []Pattern
		want     string
		err      string
	}{
		{FromRecord, []Pattern{{at("*/*"), ""}}, "ham/3.tsv= spam/1.tsv= spam/2.tsv=", ""},
		{FromFolder, []Pattern{{at("*/*"), ""}}, "ham/3.tsv=ham spam/1.tsv=spam spam/2.tsv=spam", ""},
		{FromFile, []Pattern{{at("*/*"), ""}}, "ham/3.tsv=3 spam/1.tsv=1 spam/2.tsv=2", ""},
		{FromRecord, []Pattern{{at("spam/*"), "S"}, {at("ham/*"), ""}}, "ham/3.tsv= spam/1.tsv=S spam/2.tsv=S", ""},
		{FromRecord, []Pattern{{at("spam/1*"), "S"}, {at("spam/*"), "S"}}, "spam/1.tsv=S spam/2.tsv=S", ""},
		{FromFolder, []Pattern{{at("*/1*"), "S"}, {at("ham/*"), ""}}, "ham/3.tsv=ham spam/1.tsv=S", ""},
		{FromRecord, []Pattern{{at("spam/*"), "S"}, {at("*/2*"), "H"}}, "", at("spam/2.tsv") + ": is in two classes, H and S; a file must have one label"},
		{FromRecord, []Pattern{{at("spam/*"), "S"}, {at("*/2*"), ""}}, "", at("spam/2.tsv") + ": matches --input and --class=S; it must match only one of them"},
		{FromRecord, []Pattern{{at("spam/*"), "S"}, {at("x*"), "H"}}, "", "--class=H=" + at("x*") + ": no file matches"},
		{FromRecord, []Pattern{{at("x*"), ""}}, "", at("x*") + ": no file matches --input"},
	} {
		got, err := list(c.from, c.patterns...)
		if fmt.Sprint(err) != c.err && (err != nil || c.err != "") || got != c.want {
			t.Errorf("%s, %v: %s, %v; want %s, %s", c.from, c.patterns, got, err, c.want, c.err)
		}
		if strings.Contains(c.err, "no file") && !errors.Is(err, ErrNoMatch) {
			t.Errorf("%v is not ErrNoMatch", err)
		}
	}
}

// fixedReader reads documents from a list.
type fixedReader struct {
	Reader
	documents []Document
}

func (r *fixedReader) Next(d *Document) bool {
	if len(r.documents) == 0 {
		return false
	}
	*d, r.documents = r.documents[0], r.documents[1:]
	return true
}

func (r *fixedReader) Skipped() Skipped { return Skipped{Blank: 7} }

// labeledWith returns a document with labels that are separated by spaces.
func labeledWith(labels string) Document {
	var d Document
	for i, label := range strings.Split(labels, " ") {
		if i == 0 {
			d.Label = []byte(label)
		} else {
			d.MoreLabels = append(d.MoreLabels, []byte(label))
		}
	}
	return d
}

func TestLabelsAreChosen(t *testing.T) {
	documents := []string{"a", "b", "c", "a b", "b c", "c d", "d", "d d", "a \x00", "", "a d c"}
	for _, c := range []struct {
		name    string
		file    string
		reading Reading
		want    string // the labels of the documents that are left
		others  int64
		labels  string // that were left out
	}{
		{"all", "", Reading{}, "a; b; c; a b; b c; c d; d; d; a c d", 0, "map[]"},
		{"renamed", "", Reading{LabelMap: map[string]string{"a": "b", "b": "a"}}, "b; a; c; a b; a c; c d; d; d; b c d", 0, "map[]"},
		{"merged", "", Reading{LabelMap: map[string]string{"a": "c", "d": "c"}}, "c; b; c; b c; b c; c; c; c; c", 0, "map[]"},
		{"kept", "", Reading{Classes: []string{"a", "b"}}, "a; b; a b; b; a", 4, "map[c:4 d:4]"},
		{"both", "", Reading{LabelMap: map[string]string{"a": "x", "d": "c"}, Classes: []string{"x"}}, "x; x; x", 6, "map[b:3 c:6]"},
		{"of the file", "f", Reading{}, strings.Repeat("f; ", 10) + "f", 0, "map[]"},
		{"of the file, renamed", "f", Reading{LabelMap: map[string]string{"f": "g"}, Classes: []string{"g"}}, strings.Repeat("g; ", 10) + "g", 0, "map[]"},
		{"of another file", "f", Reading{Classes: []string{"a"}}, "", 11, "map[f:11]"},
	} {
		var list []Document
		for _, labels := range documents {
			list = append(list, labeledWith(labels))
		}
		rejected := 0
		r := newLabeledReader(&fixedReader{documents: list}, File{Label: c.file}, Options{Reading: c.reading, Reject: func(Rejection) { rejected++ }})
		var got []string
		for d := (Document{}); r.Next(&d); {
			labels := []string{string(d.Label)}
			for _, label := range d.MoreLabels {
				labels = append(labels, string(label))
			}
			got = append(got, strings.Join(labels, " "))
		}
		s := r.Skipped()
		if others := fmt.Sprint(s.OtherLabels.ByName); strings.Join(got, "; ") != c.want || s.OtherClasses != c.others || others != c.labels || s.Blank != 7 {
			t.Errorf("%s: %q, %d others: %s; want %q, %d: %s", c.name, got, s.OtherClasses, others, c.want, c.others, c.labels)
		}
		if want := 2; c.file == "" && rejected != want {
			t.Errorf("%s: %d rejected, want %d", c.name, rejected, want)
		}
	}
}

// A file that has a label needs none in its lines, and every cut gives the same documents.
func TestFileWithLabel(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.tsv": "x\tone\n\ttwo\n" + strings.Repeat("l", 2000) + "\tthree\nnone\ny\tfour\rz\tfive\ny\tsix\n"})
	files, err := ListLabeled(t.Context(), []Pattern{{filepath.Join(dir, "*"), "f"}}, Reading{Format: "tsv"})
	if err != nil {
		t.Fatal(err)
	}
	for size := int64(1); size <= files[0].Size; size += 1 + size/10 {
		ranges, err := Split(t.Context(), files[0], size, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		var all content
		for _, r := range ranges {
			c, err := readRange(t, r, maxRecord)
			if err != nil {
				t.Fatal(err)
			}
			all.records, all.rejections = append(all.records, c.records...), append(all.rejections, c.rejections...)
		}
		want := []record{{"f", "one"}, {"f", "two"}, {"f", "three"}, {"f", "six"}}
		if !slices.Equal(all.records, want) || len(all.rejections) != 2 || all.rejections[0].Reason != NoTab || all.rejections[1].Reason != BareReturn {
			t.Fatalf("ranges of %d bytes: %v, %v", size, all.records, all.rejections)
		}
	}
}

// The counts are the same in any order, also of more labels than are counted by name.
func TestLabelCountsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, labels := range []int{3, MaxLabelCounts, MaxLabelCounts + 1, 3*MaxLabelCounts + 7} {
		var want LabelCounts
		for round := range 4 {
			var documents []string
			for i := range labels {
				for range 1 + i%3 {
					documents = append(documents, fmt.Sprintf("label%06d", i))
				}
			}
			rng.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
			workers := make([]LabelCounts, 1+round)
			for _, label := range documents {
				workers[rng.IntN(len(workers))].Add(label, 1)
			}
			var sum LabelCounts
			for _, w := range workers {
				if rng.IntN(2) == 0 {
					w.Trim()
				}
				sum.Merge(w)
			}
			sum.Trim()
			if round == 0 {
				want = sum
			}
			if !maps.Equal(sum.ByName, want.ByName) || sum.Unnamed != want.Unnamed || sum.Limit != want.Limit {
				t.Fatalf("%d labels, %d workers: %d by name, %d unnamed from %q on; want %d, %d, %q", labels, len(workers),
					len(sum.ByName), sum.Unnamed, sum.Limit, len(want.ByName), want.Unnamed, want.Limit)
			}
			total := sum.Unnamed
			for _, n := range sum.ByName {
				total += n
			}
			if total != int64(len(documents)) || len(sum.ByName) != min(labels, MaxLabelCounts) || (sum.Limit == "") != (labels <= MaxLabelCounts) {
				t.Fatalf("%d labels: %d documents, want %d; %d by name; limit %q", labels, total, len(documents), len(sum.ByName), sum.Limit)
			}
			if top := sum.Top(2); top[0] != (LabelCount{"label000002", 3}) || labels > 5 && top[1].Label != "label000005" {
				t.Fatalf("most frequent: %v", top)
			}
		}
	}
}

func TestParseLabelMap(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\tb\n":                      "map[a:b c:b]",
		"\ufeffa\tb\r\n\r\n c \t d d ":      "map[a:b c:d d]",
		"a,b\tc\n":                          "map[a,b:c]",
		"a,b\n\"c,\"\"d\"\"\",\"e\nf\"\n":   `map[a:b c,"d":e` + "\nf]",
		"a,b\r\n":                           "map[a:b]",
		"":                                  "there are no labels",
		"\n\n":                              "there are no labels",
		"a\n":                               "line 1: must be the old and the new label",
		"a,b\n\nc\n":                        "line 3: must be",
		"a\tb\nc\td\te\n":                   "line 2: must be",
		"a\tb\n\tc\n":                       "line 2: the old label: the label is empty",
		"a\tb\nc\t \n":                      "line 2: the new label: the label is empty",
		"a\tb\nc\td\na\tb\n":                `line 3: the label "a" is already in line 1`,
		"a,b\na,c\n":                        `line 2: the label "a" is already in line 1`,
		"a,b\n\"c,d\n":                      `line 2: extraneous or missing " in quoted-field`,
		"a\tb\nc\xff\td\n":                  "line 2: not UTF-8",
		"a\x00\tb\n":                        "line 1: the old label: the label contains NUL bytes",
		strings.Repeat("l", 1025) + "\tb\n": "line 1: the old label: the label is longer than 1024 bytes",
	} {
		m, err := ParseLabelMap([]byte(text))
		if got := fmt.Sprint(m, err); !strings.Contains(got, want) || (err == nil) != strings.HasPrefix(want, "map[") {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

// What is parsed, written and parsed again is the same.
func FuzzParseLabelMap(f *testing.F) {
	for _, seed := range []string{"a\tb\nc\tb\n", "a,b\r\n", "\"a,\",\"b\nc\"\n", "\ufeffa,b", "a\tb\tc\n", "\xff", "a,\"b", "\r\n\t\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := ParseLabelMap(content)
		if err != nil {
			if m != nil {
				t.Errorf("names and the error %v", err)
			}
			return
		}
		var again strings.Builder
		tabs := false
		for old, label := range m {
			for _, l := range []string{old, label} {
				if clean, err := CleanLabel(l); err != nil || clean != l {
					t.Fatalf("label %q: %v", l, err)
				}
				tabs = tabs || strings.ContainsAny(l, "\t\r\n")
			}
			fmt.Fprintf(&again, "%s\t%s\n", old, label)
		}
		if tabs { // of CSV
			return
		}
		if other, err := ParseLabelMap([]byte(again.String())); err != nil || !maps.Equal(other, m) {
			t.Errorf("%q again is %q, %v", m, other, err)
		}
	})
}
