package pipeline

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// The same input gives the same bytes for any split, order, compression, runner and memory.
func TestSameInputSameBytes(t *testing.T) {
	lines, temp := corpus(t), t.TempDir()
	sel := choose(t, "Hamilton", "10", "1%", "7")
	train := func(pattern string, tuning Tuning) map[string]string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "out")
		d := documents(t, pattern)
		d.Tuning = tuning
		if err := runTrain(t, dir, d, sel); err != nil {
			t.Fatal(err)
		}
		return sums(t, dir)
	}
	whole := spread(t, lines, 1, "")
	const wholeFiles = 1 << 40
	want := train(whole, Tuning{Threads: 1, RangeBytes: wholeFiles})
	six := spread(t, lines, 6, "")
	if n := ranges(documents(t, six), 4<<10); n < 100 {
		t.Fatalf("%d ranges, 100 are wanted", n)
	}
	// 20 flushes and more, as TestTablesAreFlushed shows.
	small := Tuning{RangeBytes: 4 << 10, MemoryBytes: flushing, BlockBytes: 4 << 10}
	with := func(t Tuning, threads int) Tuning { t.Threads = threads; return t }
	spill := func(t Tuning) Tuning { t.Spill, t.TempDir = true, temp; return t }
	for name, c := range map[string]struct {
		pattern string
		tuning  Tuning
	}{
		"two goroutines":              {whole, Tuning{Threads: 2, RangeBytes: wholeFiles}},
		"ranges of 1 MB":              {whole, Tuning{Threads: 2, RangeBytes: 1 << 20}},
		"six files":                   {six, Tuning{Threads: 2, RangeBytes: wholeFiles}},
		"six files, ranges of 4 KB":   {six, Tuning{Threads: 2, RangeBytes: 4 << 10}},
		"one goroutine, all small":    {six, with(small, 1)},
		"two goroutines, all small":   {six, with(small, 2)},
		"one goroutine, spilled":      {six, spill(with(small, 1))},
		"two goroutines, spilled":     {six, spill(with(small, 2))},
		"five goroutines, in memory":  {six, spill(with(Tuning{RangeBytes: 4 << 10}, 5))},
		"shuffled lines":              {spread(t, shuffled(lines), 5, ""), with(small, 2)},
		"shuffled lines in one file":  {spread(t, shuffled(lines), 1, ""), Tuning{}},
		"gzip":                        {spread(t, lines, 6, ".gz"), with(small, 2)},
		"zstd":                        {spread(t, lines, 6, ".zst"), with(small, 1)},
		"gzip, shuffled, in one file": {spread(t, shuffled(lines), 1, ".gz"), Tuning{}},
	} {
		if got := train(c.pattern, c.tuning); !maps.Equal(got, want) {
			t.Errorf("%s: other bytes in %s", name, differing(got, want))
		}
	}
	// With a key of eight bits and no check nearly all features collide, and the names must tell them apart. Their
	// feature_id differs from that of full keys, so two splits are compared with each other.
	defer kernel.NarrowKeys(8)()
	want = train(whole, Tuning{Threads: 1, RangeBytes: wholeFiles})
	if got := train(six, with(small, 2)); !maps.Equal(got, want) {
		t.Errorf("8-bit keys: other bytes in %s", differing(got, want))
	}
	if got := train(six, spill(with(small, 2))); !maps.Equal(got, want) {
		t.Errorf("8-bit keys, spilled: other bytes in %s", differing(got, want))
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func ranges(d Documents, size int64) (n int64) {
	for _, f := range d.Files {
		n += (f.Size + size - 1) / size
	}
	return n
}

func differing(a, b map[string]string) string {
	var names []string
	for name := range b {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Narrow keys change feature_id and the order of the rows, and nothing else, however the input is cut. Words that the hash
// of format 2 took for one are among the features.
func TestNarrowKeysCountTheSame(t *testing.T) {
	sel := choose(t, "Hamilton", "10")
	full, narrow := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	d := documents(t, federalist)
	if err := runTrain(t, full, d, sel); err != nil {
		t.Fatal(err)
	}
	restore := kernel.NarrowKeys(8)
	err := runTrain(t, narrow, d, sel)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	a, b := read(t, full), read(t, narrow)
	if a.Manifest.Features != b.Manifest.Features || !slices.Equal(a.Path, b.Path) {
		t.Errorf("%d features and path %v, want %d and %v", b.Manifest.Features, b.Path, a.Manifest.Features, a.Path)
	}
	for i := range a.Features {
		b.Features[i].FeatureID = a.Features[i].FeatureID
	}
	if !reflect.DeepEqual(a.Features, b.Features) {
		t.Error("other features are selected")
	}

	lines := corpus(t)
	for i := range 100 {
		lines = append(lines, fmt.Appendf(nil, "%s\tvdwxmzdbfzgzymmy92xhr2ng%08d upon vdwxmzdbfzgzymmy92xhr2ngaaaaaaaa\n", []string{"Hamilton", "Madison"}[i%2], i%7))
	}
	count := func(pattern string, tuning Tuning) map[string]map[string]tally {
		t.Helper()
		d := documents(t, pattern)
		d.Tuning = tuning
		dir := filepath.Join(t.TempDir(), "out")
		if err := runCount(t, dir, d); err != nil {
			t.Fatal(err)
		}
		return countsOf(t, dir)
	}
	want := count(spread(t, lines, 1, ""), Tuning{Threads: 1})
	if n := want["vdwxmzdbfzgzymmy92xhr2ngaaaaaaaa"]["Madison"]; n != (tally{50, 50}) || want["vdwxmzdbfzgzymmy92xhr2ng00000006"]["Hamilton"] != (tally{7, 7}) {
		t.Errorf("words of one family are counted as one: %+v", n)
	}
	full5 := count(spread(t, shuffled(lines), 5, ""), Tuning{Threads: 2, RangeBytes: 4 << 10, MemoryBytes: flushing, BlockBytes: 4 << 10})
	defer kernel.NarrowKeys(4)()
	for what, got := range map[string]map[string]map[string]tally{
		"one table":  count(spread(t, lines, 1, ""), Tuning{Threads: 1}),
		"many":       count(spread(t, shuffled(lines), 5, ""), Tuning{Threads: 2, RangeBytes: 4 << 10, MemoryBytes: flushing, BlockBytes: 4 << 10}),
		"in files":   count(spread(t, shuffled(lines), 3, ""), Tuning{Threads: 2, RangeBytes: 16 << 10, MemoryBytes: flushing, Spill: true, TempDir: t.TempDir()}),
		"full, many": full5,
	} {
		if !maps.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%s: the counts differ", what)
		}
	}
}

// Known results for the Federalist papers: Mosteller and Wallace, 1964, and the digits of an independent computation.
func TestFederalist(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, documents(t, federalist), choose(t, "Hamilton", "10")); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	m := p.Models[0]
	near(t, "ψ(10)-C", m.UpperBoundGain, 414.884377, 5e-7)
	near(t, "gain", m.Gain, 413.288505, 5e-7)
	if m.Certificate != "optimal" || *m.DocsPositive != 51 || *m.DocsNegative != 14 {
		t.Errorf("%+v", m)
	}
	near(t, "intercept", m.Intercept, math.Log(51.0/14), 1e-12)
	words := wordsOf(p.Features)
	if want := "by confederation congress department on powers there to upon would"; words != want {
		t.Errorf("selected %s, want %s", words, want)
	}
	first := p.Features[0]
	if first.Feature != "upon" || first.CountPositive != 374 || first.CountNegative != 7 || fmt.Sprintf("%.2f", first.Weight) != "2.73" {
		t.Errorf("the first feature is %+v", first)
	}
	checks, err := verify.Run(t.Context(), dir)
	if err != nil || len(checks) != 4 {
		t.Errorf("verified %q, %v", checks, err)
	}
}

func wordsOf(rows []modelio.FeatureRow) string {
	var words []string
	for _, r := range rows {
		words = append(words, r.Feature)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

// Swapping the classes mirrors the model.
func TestPositiveDefaultsToTheLastLabel(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, a, documents(t, federalist), choose(t, "", "10")); err != nil {
		t.Fatal(err)
	}
	if err := runTrain(t, b, documents(t, federalist), choose(t, "Hamilton", "10")); err != nil {
		t.Fatal(err)
	}
	pa, pb := read(t, a), read(t, b)
	if pa.Models[0].Positive != "Madison" || pa.Models[0].Gain != pb.Models[0].Gain {
		t.Errorf("%+v", pa.Models[0])
	}
	for i := range pa.Features {
		if pa.Features[i].Feature != pb.Features[i].Feature || math.Abs(pa.Features[i].Weight+pb.Features[i].Weight) > 1e-12 {
			t.Errorf("%+v against %+v", pa.Features[i], pb.Features[i])
		}
	}
}

// Counting first and selecting later is the same as training.
func TestSelectFromCountsIsTraining(t *testing.T) {
	for _, model := range []string{"multinomial", "bernoulli"} {
		sel := choose(t, "Hamilton", "10", "2%")
		sel.Model = parseModel(t, model)
		trained, counted, selected := filepath.Join(t.TempDir(), "t"), filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "s")
		d := documents(t, spread(t, corpus(t), 3, ""))
		if err := runTrain(t, trained, d, sel); err != nil {
			t.Fatal(err)
		}
		if err := runCount(t, counted, d); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{counted, trained} {
			if err := runSelect(t, selected, from, nil, sel); err != nil {
				t.Fatal(err)
			}
			want, c, s := sums(t, trained), sums(t, counted), sums(t, selected)
			maps.Copy(c, s)
			if !maps.Equal(c, want) {
				t.Errorf("%s from %s: other bytes in %s", model, from, differing(c, want))
			}
			if _, err := verify.Run(t.Context(), selected); err != nil {
				t.Error(err)
			}
			selected = filepath.Join(t.TempDir(), "s2")
		}
	}
}

// IMDB: experiment 4 of the paper. Its nine words are one swap short of the best nine.
func TestIMDB(t *testing.T) {
	train := outside.Shared(t, "data/imdb/train.tsv.gz")
	stop := outside.Shared(t, "data/stop_words_english.txt")
	d := documents(t, train)
	d.StopWords = strings.Fields(readFile(t, stop))
	sel := choose(t, "1", "8", "9", "10")
	sel.Smoothing = []float64{0}
	dir := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, d, sel); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	if p.Manifest.Features != 74_540 {
		t.Errorf("m = %d, want 74,540", p.Manifest.Features)
	}
	for i, want := range []struct {
		gain, bound float64
		words       string
	}{
		{6074.796816, 6074.796816, "awful bad best excellent great love waste worst"},
		{6474.181819, 6488.375834, "awful bad best excellent great love terrible waste worst"},
		{6901.915640, 6901.915640, "awful bad best excellent great love terrible waste wonderful worst"},
	} {
		m := p.Models[i]
		near(t, fmt.Sprintf("gain at k = %d", m.K), m.Gain, want.gain, 5e-7)
		near(t, fmt.Sprintf("ψ(%d)-C", m.K), m.UpperBoundGain, want.bound, 5e-7)
		if got := wordsOf(p.Of(m)); got != want.words || m.Certificate != "optimal" {
			t.Errorf("k = %d: %s, certificate %s; want %s", m.K, got, m.Certificate, want.words)
		}
	}

	// Without a stop list, and with smoothing.
	d = documents(t, train)
	dir = filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, d, choose(t, "", "9")); err != nil {
		t.Fatal(err)
	}
	p = read(t, dir)
	var tokens float64
	for _, c := range p.Manifest.Classes {
		tokens += c.Tokens
	}
	if tokens != 5_678_283 || p.Manifest.Features != 74_851 {
		t.Errorf("%v tokens of %d words, want 5,678,283 of 74,851", tokens, p.Manifest.Features)
	}
	near(t, "ψ(9)-C", p.Models[0].UpperBoundGain, 6965.357902, 5e-7)
	near(t, "gain", p.Models[0].Gain, 6960.012632, 5e-7)
	if got, want := wordsOf(p.Features), "and awful bad great no stupid terrible waste worst"; got != want {
		t.Errorf("selected %s, want %s", got, want)
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// If a model has only some features of a group with equal counts, it has the first by name, from any shard.
func TestTiesGoToTheFirstNames(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%s\tword%04d common\n", []string{"Hamilton", "Madison"}[i%2], (i*7919)%1000)
	}
	name := save(t, "in.tsv", text.String())
	for _, shards := range []int{1, 64} {
		d := documents(t, name)
		d.Shards = shards
		dir := filepath.Join(t.TempDir(), "out")
		if err := runTrain(t, dir, d, choose(t, "Hamilton", "100")); err != nil {
			t.Fatal(err)
		}
		// The best hundred are half of Hamilton's words and half of Madison's: Hamilton's have even numbers.
		next := map[bool]int{true: 0, false: 1}
		for _, f := range read(t, dir).Features {
			even := f.CountPositive == 1
			if want := fmt.Sprintf("word%04d", next[even]); f.Feature != want {
				t.Fatalf("%d shards: rank %d is %s, want %s", shards, f.Rank, f.Feature, want)
			}
			next[even] += 2
		}
		if next[true] != 100 || next[false] != 101 {
			t.Errorf("%d shards: words up to %v", shards, next)
		}
	}
}

// The pipeline gives the same result as the solver alone on counts that were made with maps.
func TestPipelineAgreesWithTheSolver(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 8 {
		counts := map[string][2]float64{}
		var lines [][]byte
		for range 50 + rng.IntN(400) {
			side := rng.IntN(2)
			line := []byte([]string{"a\t", "b\t"}[side])
			for range rng.IntN(12) {
				word := fmt.Sprintf("w%d", int(math.Exp(rng.Float64()*6)))
				line = append(append(line, word...), ' ')
				c := counts[word]
				c[side]++
				counts[word] = c
			}
			lines = append(lines, append(line, '\n'))
		}
		var positive, negative []float64
		for _, c := range counts {
			positive, negative = append(positive, c[1]), append(negative, c[0])
		}
		groups, err := solver.GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "out")
		d := documents(t, spread(t, lines, 3, ""))
		if err := runTrain(t, dir, d, choose(t, "b", "2", "5", "20%")); err != nil {
			t.Fatal(err)
		}
		p := read(t, dir)
		for _, m := range p.Models {
			want, err := solver.Solve(solver.Problem{Groups: groups, K: m.K, Smoothing: 1}, solver.Settings{})
			// A search starts at the result for the previous k, which changes the last digit of the bound.
			if err != nil || m.Gain != want.Gain || math.Abs(m.UpperBoundGain-want.UpperBound) > 1e-13*want.UpperBound || m.M != int64(len(counts)) {
				t.Errorf("k = %d: gain %v, bound %v; the solver alone: %v, %v, %v", m.K, m.Gain, m.UpperBoundGain, want.Gain, want.UpperBound, err)
			}
			for _, f := range p.Of(m) {
				if c := counts[f.Feature]; c != [2]float64{f.CountNegative, f.CountPositive} {
					t.Errorf("%s has counts %v and %v, want %v", f.Feature, f.CountNegative, f.CountPositive, c)
				}
			}
		}
	}
}

// A selected feature has the numbers of documents of the counts.
func TestDocumentsOfFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	labels := []string{"a", "b", "c"}
	text, _ := multiclassCorpus(rng, labels, 300)
	counted := filepath.Join(t.TempDir(), "counted")
	d := documents(t, spread(t, text, 2, ""))
	d.Shards = 2
	if err := runCount(t, counted, d); err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]int64{}
	table := "feature,class,count,documents\n"
	for part := range d.Shards {
		err := tableio.Read(t.Context(), filepath.Join(counted, countio.PartName(part, d.Shards)), func(r *countio.Row) error {
			if found[r.Feature] == nil {
				found[r.Feature] = map[string]int64{}
			}
			found[r.Feature][r.Class] = r.Documents
			table += fmt.Sprintf("%s,%s,%d,%d\n", r.Feature, r.Class, r.Count, r.Documents)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	classDocuments := map[string]int64{}
	for _, c := range read(t, counted).Manifest.Classes {
		classDocuments[c.Label] = *c.Documents
	}
	own := save(t, "counts.csv", table)
	for _, strategy := range []string{"ovr", "ovo", "joint"} {
		for _, model := range []string{"multinomial", "bernoulli"} {
			sel := choose(t, "", "5", "40%") // 40 % ends within a group of equal counts
			sel.Strategy, sel.Model = selection.Strategy(strategy), parseModel(t, model)
			var rows [][]modelio.FeatureRow
			for _, from := range []string{counted, own} {
				of := classDocuments
				if from == counted {
					of = nil
				}
				dir := filepath.Join(t.TempDir(), "out")
				if err := runSelect(t, dir, from, of, sel); err != nil {
					t.Fatal(err)
				}
				if _, err := verify.Run(t.Context(), dir); err != nil {
					t.Errorf("%s %s: %v", strategy, model, err)
				}
				p := read(t, dir)
				rows = append(rows, p.Features)
				for _, m := range p.Models {
					for _, f := range p.Of(m) {
						var positive, negative int64
						for label, n := range found[f.Feature] {
							switch {
							case label == f.Class:
								positive = n
							case m.Negative == "" || m.Negative == label:
								negative += n
							}
						}
						if f.DocumentsPositive == nil || *f.DocumentsPositive != positive || f.DocumentsNegative == nil || *f.DocumentsNegative != negative {
							t.Fatalf("%s %s: %+v, want %d and %d documents", strategy, model, f, positive, negative)
						}
					}
				}
			}
			if !reflect.DeepEqual(rows[0], rows[1]) {
				t.Errorf("%s %s: the same counts in a table give other features", strategy, model)
			}
		}
	}
	// A table with one number for both has no documents.
	dir := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, save(t, "wide.csv", "feature,a,b\nx,3,1\ny,1,5\n"), nil, choose(t, "", "2")); err != nil {
		t.Fatal(err)
	}
	for _, f := range read(t, dir).Features {
		if f.DocumentsPositive != nil || f.DocumentsNegative != nil {
			t.Errorf("%+v", f)
		}
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// One word gains nothing, so all words tie: the most frequent is selected.
func TestOneWordOfFederalist(t *testing.T) {
	for _, strategy := range []selection.Strategy{modelio.OneVersusRest, modelio.Joint} {
		dir := filepath.Join(t.TempDir(), "out")
		sel := choose(t, "Hamilton", "1", "2")
		if sel.Strategy = strategy; strategy == modelio.Joint {
			sel.Positive = ""
		}
		if err := runTrain(t, dir, documents(t, federalist), sel); err != nil {
			t.Fatal(err)
		}
		p := read(t, dir)
		if f, m := p.Features[0], p.Models[0]; f.K != 1 || f.Feature != "upon" || m.Gain != 0 || m.Certificate != "optimal" {
			t.Errorf("%+v, %+v", f, m)
		}
		if _, err := verify.Run(t.Context(), dir); err != nil {
			t.Error(err)
		}
	}
}

// The model has the number of features that tie with the last selected ones but are left out.
func TestTiesAreTold(t *testing.T) {
	table := save(t, "counts.csv", "feature,a,b,c\nx,90,0,5\ny,1,80,4\n"+
		"p,0,3,0\nq,0,3,0\nr,0,3,0\ns,0,3,0\nt,0,3,0\n")
	for _, strategy := range []selection.Strategy{modelio.OneVersusRest, modelio.Joint} {
		for k, want := range map[string][2]int64{"2": {0, 0}, "4": {2, 3}, "7": {0, 0}} {
			sel := choose(t, "", k)
			if sel.Strategy = strategy; strategy == modelio.OneVersusRest {
				sel.Positive = "b"
			}
			dir := filepath.Join(t.TempDir(), "out")
			if err := runSelect(t, dir, table, nil, sel); err != nil {
				t.Fatal(err)
			}
			p := read(t, dir)
			for _, m := range p.Models {
				if m.TiedSelected != want[0] || m.TiedLeftOut != want[1] {
					t.Errorf("%s, k = %s, selected %s: %d tie with %d left out, want %v", strategy, k, wordsOf(p.Features), m.TiedSelected, m.TiedLeftOut, want)
				}
			}
			if _, err := verify.Run(t.Context(), dir); err != nil {
				t.Error(err)
			}
		}
	}
}

// The manifest and the model have the analyzer with the stop words, even if the model was selected from counts.
func TestAnalyzerIsTold(t *testing.T) {
	d := documents(t, federalist)
	d.Analyzer, d.HashBits, d.StopWords = kernel.Analyzer{Min: 1, Max: 2}, 10, []string{"the", "of", "and", "of"}
	want := modelio.Analyzer{
		Unit: "word", Ngrams: [2]int{1, 2}, Lowercase: "unicode", TokenPattern: `(?u)\b\w\w+\b`, StopWords: []string{"and", "of", "the"}, HashBits: 10,
	}
	trained, counted, selected := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, trained, d, choose(t, "", "5")); err != nil {
		t.Fatal(err)
	}
	d.StopWords = []string{"and", "the", "of"}
	if err := runCount(t, counted, d); err != nil {
		t.Fatal(err)
	}
	if err := runSelect(t, selected, counted, nil, choose(t, "", "5")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{trained, counted, selected} {
		m := read(t, dir).Manifest
		if m.Analyzer == nil || !reflect.DeepEqual(*m.Analyzer, want) {
			t.Errorf("%s: %+v, want %+v", m.Verb, m.Analyzer, want)
		}
		if !strings.HasPrefix(m.Options["stop_words"], "3 words, sha256 ") {
			t.Errorf("%s: %v", m.Verb, m.Options)
		}
		if dir == counted {
			continue
		}
		text, err := tableio.Metadata(t.Context(), filepath.Join(dir, modelio.ModelFile), "sparsenb.analyzer")
		if want := `{"unit":"word","ngrams":[1,2],"lowercase":"unicode","token_pattern":"(?u)\\b\\w\\w+\\b","stop_words":["and","of","the"],"hash_bits":10}`; err != nil || text != want {
			t.Errorf("%s: the model has %s, %v; want %s", m.Verb, text, err, want)
		}
	}
	if a, b := sums(t, trained), sums(t, selected); a[modelio.ModelFile] != b[modelio.ModelFile] || a[modelio.ModelFile] == "" {
		t.Error("the model of a run and of its counts differ")
	}
	// N-grams of characters have no stop words; a custom table has no analyzer.
	d = documents(t, federalist)
	d.Analyzer = kernel.Analyzer{Unit: kernel.CharWB, Min: 2, Max: 3}
	chars := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, chars, d, choose(t, "", "5")); err != nil {
		t.Fatal(err)
	}
	if a := read(t, chars).Manifest.Analyzer; !reflect.DeepEqual(*a, modelio.Analyzer{Unit: "char_wb", Ngrams: [2]int{2, 3}, Lowercase: "unicode"}) {
		t.Errorf("%+v", a)
	}
	own := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, own, save(t, "wide.csv", "feature,a,b\nx,3,1\ny,1,5\n"), nil, choose(t, "", "2")); err != nil {
		t.Fatal(err)
	}
	if a := read(t, own).Manifest.Analyzer; a != nil {
		t.Errorf("%+v", a)
	}
	for _, dir := range []string{trained, selected, chars, own} {
		if _, err := verify.Run(t.Context(), dir); err != nil {
			t.Error(err)
		}
	}
}
