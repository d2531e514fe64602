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
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

func randomTotals(rng *rand.Rand, file corpusio.File, start, end int64) Totals {
	t := Totals{
		Classes: map[string]ClassTotal{fmt.Sprint(rng.IntN(3)): {1 + rng.Int64N(9), float64(rng.IntN(99)), float64(rng.IntN(50))}},
		Drops:   modelio.Drops{Lines: map[corpusio.Reason]int64{corpusio.NoTab: rng.Int64N(3)}, BlankLines: rng.Int64N(4), OtherRecords: rng.Int64N(4), Replaced: 1},
		Spans:   []corpusio.Span{{File: file, Start: start, End: end, CRC: rng.Uint32()}},
	}
	for range rng.IntN(4) {
		t.Examples = append(t.Examples, corpusio.Rejection{File: file.Name, Offset: start + rng.Int64N(end-start), Reason: corpusio.NoTab})
	}
	for range rng.IntN(4) {
		text := fmt.Sprint(rng.IntN(2))
		t.Rejected = append(t.Rejected, modelio.RejectedRow{Source: file.Name, Offset: start + rng.Int64N(9), Reason: string(corpusio.NoTab), Text: &text})
	}
	t.ByFile = map[string]map[corpusio.Reason]int64{file.Name: {corpusio.NoTab: rng.Int64N(3), corpusio.TooLong: 1}}
	t.OtherLabels.Add(fmt.Sprint("other", rng.IntN(3)), rng.Int64N(9))
	t.Drops.OtherClasses.Documents = rng.Int64N(9)
	if rng.IntN(10) == 0 {
		t.Skipped = append(t.Skipped, corpusio.CorruptError{File: file.Name, Offset: start, Cause: "damaged"})
	}
	return t
}

// Totals are added by goroutines, bundles and Reconcile, in whatever order they come.
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
			for len(list) > 0 { // in groups that are normalized separately
				n := 1 + rng.IntN(len(list))
				var part Totals
				for _, t := range list[:n] {
					part.add(t)
				}
				part.normalize()
				pieces, err := part.pieces()
				if err != nil {
					t.Fatal(err)
				}
				for _, piece := range pieces {
					total.add(piece)
				}
				list = list[n:]
			}
			total.normalize()
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
	whole := Totals{Classes: map[string]ClassTotal{}, Drops: modelio.Drops{BlankLines: 7}, ByFile: map[string]map[corpusio.Reason]int64{}}
	outcome := Reconciled{Features: 7}
	for i := range 50_000 {
		name := fmt.Sprintf("/a/folder/with/a/name/that/is/long/%s/file%05d.tsv", strings.Repeat("x", i%100), i)
		files = append(files, corpusio.File{Info: fileio.Info{Name: name, Size: 100, Version: name[len(name)-20:]}})
		whole.Classes[fmt.Sprint("label", i)] = ClassTotal{Documents: int64(i)}
		whole.ByFile[name] = map[corpusio.Reason]int64{corpusio.NoTab: int64(i)}
		whole.OtherLabels.Add(fmt.Sprint("other", i), 1)
		whole.Rejected = append(whole.Rejected, modelio.RejectedRow{Source: name, Offset: 1, Reason: "no_tab"})
		whole.Skipped = append(whole.Skipped, corpusio.CorruptError{File: name, Cause: "damaged"})
		outcome.Corrupt = append(outcome.Corrupt, whole.Skipped[i])
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
	if !maps.Equal(again.Classes, whole.Classes) || again.Drops.BlankLines != 7 || !slices.Equal(again.Spans, whole.Spans) ||
		!reflect.DeepEqual(again.ByFile, whole.ByFile) || !reflect.DeepEqual(again.OtherLabels, whole.OtherLabels) ||
		!slices.Equal(again.Rejected, whole.Rejected) || !slices.Equal(again.Skipped, whole.Skipped) {
		t.Error("the pieces are not the totals")
	}
	reconciled, err := outcome.pieces()
	if err != nil {
		t.Fatal(err)
	}
	all := encoded(t, reconciled)
	slices.Reverse(all)
	next := func(b *[]byte) bool {
		if len(all) == 0 {
			return false
		}
		*b, all = all[0], all[1:]
		return true
	}
	joined, err := joinReconciled(next)
	if err != nil || !slices.Equal(joined.Inputs, outcome.Inputs) || !slices.Equal(joined.Warnings, outcome.Warnings) || joined.Features != 7 {
		t.Errorf("the pieces are not the outcome: %v", err)
	}
	all = encoded(t, reconciled)[1:]
	if _, err := joinReconciled(next); err == nil {
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

func TestReconcileNoticesMissingParts(t *testing.T) {
	part := func(name, sum string) Part { return Part{FileSum: tableio.FileSum{Name: name, SHA256: sum}} }
	for what, c := range map[string]struct {
		parts []Part
		want  string
	}{
		"all":        {[]Part{part("b", "2"), part("a", "1")}, ""},
		"twice":      {[]Part{part("a", "1"), part("b", "2"), part("a", "1")}, ""},
		"missing":    {[]Part{part("a", "1")}, "b: was not written"},
		"different":  {[]Part{part("a", "1"), part("b", "2"), part("a", "3")}, "a: two attempts wrote different bytes"},
		"unexpected": {[]Part{part("a", "1"), part("b", "2"), part("c", "3")}, "3 parts of the counts were written, but 2"},
	} {
		_, err := matchParts(c.parts, []string{"a", "b"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestReconcileNoticesUnreadBytes(t *testing.T) {
	file := corpusio.File{Info: fileio.Info{Name: "in.tsv", Size: 300}}
	span := func(start, end int64) corpusio.Span { return corpusio.Span{File: file, Start: start, End: end} }
	for what, c := range map[string]struct {
		spans []corpusio.Span
		files int
		want  string
	}{
		"whole": {[]corpusio.Span{span(100, 200), span(0, 100), span(200, 300)}, 1, ""},
		"hole":  {[]corpusio.Span{span(0, 100), span(200, 300)}, 1, "was not read exactly once"},
		"twice": {[]corpusio.Span{span(0, 100), span(100, 300), span(0, 100)}, 1, "was not read exactly once"},
		"tail":  {[]corpusio.Span{span(1, 300)}, 1, "was not read exactly once"},
		"end":   {[]corpusio.Span{span(0, 299)}, 1, "was not read exactly once"},
		"none":  {nil, 1, "0 files were read, but 1 were expected"},
	} {
		total := Totals{Spans: c.spans}
		total.normalize()
		err := checkCoverage(total.Spans, c.files)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestReconcileNoticesEveryKindOfLoss(t *testing.T) {
	labels, counted := []string{"a", "b"}, map[string]ClassTotal{"a": {2, 10, 7}, "b": {1, 5, 5}}
	for what, arrived := range map[string][]ClassTotal{
		"a token":   {{0, 9, 7}, {0, 5, 5}},
		"a posting": {{0, 10, 6}, {0, 5, 5}},
		"a class":   {{0, 10, 7}, {}},
	} {
		if err := compareSums(labels, counted, arrived); err == nil {
			t.Errorf("%s: not noticed", what)
		}
	}
	if err := compareSums(labels, counted, []ClassTotal{{0, 10, 7}, {0, 5, 5}}); err != nil {
		t.Error(err)
	}
	part := Part{Classes: []int32{0, 2}, Sums: []ClassTotal{{0, 10, 7}, {0, 1, 1}}}
	if _, err := reconcile(Totals{Classes: counted}, []Part{part}, ReconcileParams{Parts: []string{""}}); err == nil || !strings.Contains(err.Error(), "class number 2") {
		t.Errorf("counts of a class too many: %v", err)
	}
}

func TestParseBudget(t *testing.T) {
	for text, exceeded := range map[string][2]bool{"1%": {false, true}, "10": {false, true}, "0": {true, true}, "0%": {true, true}, "100%": {false, false}} {
		b, err := ParseBudget(text)
		if err != nil || b.Exceeded(10, 1000) != exceeded[0] || b.Exceeded(11, 1000) != exceeded[1] || b.Exceeded(0, 1000) {
			t.Errorf("%s: %+v, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "-1", "-1%", "101%", "x", "%", "NaN%", "1.5"} {
		if b, err := ParseBudget(text); err == nil {
			t.Errorf("%q is taken for %+v", text, b)
		}
	}
}
