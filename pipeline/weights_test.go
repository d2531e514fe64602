package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// weighed is a case of testdata/analyzer/weights.py.
type weighed struct {
	Weights   string   `json:"weights"`
	Exponent  int      `json:"exponent"`
	Sublinear bool     `json:"sublinear_tf"`
	Norm      string   `json:"norm"`
	SmoothIDF bool     `json:"smooth_idf"`
	Analyzer  string   `json:"analyzer"`
	Ngrams    [2]int   `json:"ngrams"`
	Files     []string `json:"files"`
}

func (w weighed) weights() kernel.Weights {
	v := kernel.Weights{Scheme: kernel.Scheme(w.Weights), Exponent: w.Exponent}
	if v.Scheme == kernel.TFIDF {
		v.Sublinear, v.Norm, v.PlainIDF = w.Sublinear, kernel.Norm(w.Norm), !w.SmoothIDF
		if w.Norm == "" {
			v.Norm = kernel.NoNorm
		}
	}
	return v
}

// vectorizedValues returns for each case, feature and class the sum of the rounded values, the documents, and the exact sum.
func vectorizedValues(t *testing.T, cases []weighed) (values []map[string]map[string][3]float64) {
	t.Helper()
	askPython(t, "../testdata/analyzer/weights.py", cases, &values)
	return values
}

// valuesOf reads the counts of a run that are real numbers.
func valuesOf(t testing.TB, dir string) map[string]map[string][2]float64 {
	t.Helper()
	values := map[string]map[string][2]float64{}
	parts, err := filepath.Glob(filepath.Join(dir, "counts", "*.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, part := range parts {
		err := tableio.Read(t.Context(), part, func(r *countio.RealRow) error {
			if values[r.Feature] == nil {
				values[r.Feature] = map[string][2]float64{}
			}
			values[r.Feature][r.Class] = [2]float64{r.Count, float64(r.Documents)}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// randomCorpus has documents of few words, some of them many times, and some documents without a word.
func randomCorpus(rng *rand.Rand) string {
	var b strings.Builder
	for range 20 + rng.IntN(100) {
		fmt.Fprintf(&b, "class%d\t", rng.IntN(3))
		for range rng.IntN(30) {
			word := fmt.Sprintf("w%d ", int(rng.ExpFloat64()*20))
			b.WriteString(strings.Repeat(word, 1+rng.IntN(3)*rng.IntN(40)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Sums of logarithms and of tf-idf equal those of scikit-learn's values, rounded to the unit.
func TestWeightsAreThoseOfScikitLearn(t *testing.T) {
	schemes := []weighed{
		{Weights: "log"},
		{Weights: "tfidf", Norm: "l2", SmoothIDF: true},
		{Weights: "tfidf", Norm: "l1", SmoothIDF: true, Sublinear: true},
		{Weights: "tfidf"},
		{Weights: "count"},
	}
	units := []string{"word", "char", "char_wb"}
	rng := rand.New(rand.NewPCG(13, 6))
	var cases []weighed
	for i := range 20 {
		w := schemes[i%len(schemes)]
		w.Analyzer, w.Ngrams, w.Exponent = units[i%3], [2]int{1, 1 + i%2}, []int{-20, -30, -35}[i/len(schemes)%3]
		w.Files = []string{save(t, "random.tsv", randomCorpus(rng))}
		cases = append(cases, w)
	}
	for i, w := range schemes[:4] {
		w.Analyzer, w.Ngrams, w.Exponent = "word", [2]int{1, 1 + i%2}, -20
		w.Files = []string{federalist, save(t, "awkward.tsv", awkward)}
		cases = append(cases, w)
	}
	want := vectorizedValues(t, cases)
	for i, w := range cases {
		t.Run(fmt.Sprintf("%d %s %s", i, w.Weights, w.Norm), func(t *testing.T) {
			d := documents(t, w.Files...)
			unit, err := kernel.ParseUnit(w.Analyzer)
			if err != nil {
				t.Fatal(err)
			}
			d.Analyzer = kernel.Analyzer{Unit: unit, Min: w.Ngrams[0], Max: w.Ngrams[1]}
			d.Weights, d.Shards = w.weights(), 3
			d.Tuning = Tuning{Threads: 2, RangeBytes: 1 << 10 << (3 * (i % 3)), MemoryBytes: 1 << 20, Spill: i%2 == 0}
			dir := filepath.Join(t.TempDir(), "out")
			if err := runCount(t, dir, d); err != nil {
				t.Fatal(err)
			}
			got, postings, wrong, sum, exact := valuesOf(t, dir), 0.0, 0, 0.0, 0.0
			for name, classes := range want[i] {
				for class, n := range classes {
					if got[name][class] != [2]float64{n[0], n[1]} {
						if wrong++; wrong <= 3 {
							t.Errorf("%q in %s: %v, want %v", name, class, got[name][class], n)
						}
					}
					postings, sum, exact = postings+n[1], sum+n[0], exact+n[2]
				}
			}
			if len(got) != len(want[i]) || len(got) == 0 {
				t.Errorf("%d features, want %d", len(got), len(want[i]))
			}
			lost := read(t, dir).Manifest.Drops.Rounding
			if bound := postings * math.Ldexp(0.5, w.Exponent); math.Abs(sum-exact) > lost+1e-12*sum || lost > bound*1.000002 {
				t.Errorf("the sum %v is exactly %v; rounding lost %v, at most %v", sum, exact, lost, bound)
			}
			if _, err := verify.Run(t.Context(), dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whole numbers are the same as values and as occurrences, and so are the models, whatever ranges the files are cut into.
func TestValuesOfWholeNumbersAreOccurrences(t *testing.T) {
	sel := choose(t, "", "10")
	var features []modelio.FeatureRow
	var same map[string]string
	for i, size := range []int64{0, 1 << 10, 1 << 20} {
		d := documents(t, federalist)
		d.Tuning = Tuning{RangeBytes: size, Threads: 1 + i, MemoryBytes: 1 << (20 + i), Spill: i == 1}
		if i > 0 {
			d.Weights = kernel.Weights{Scheme: kernel.Values}
		}
		dir := filepath.Join(t.TempDir(), "out")
		if err := runTrain(t, dir, d, sel); err != nil {
			t.Fatal(err)
		}
		switch p := read(t, dir); i {
		case 0:
			features = p.Features
		case 1:
			same = sums(t, dir)
			counts := countsOf(t, filepath.Join(dir)) // Parquet converts the numbers
			for name, classes := range valuesOf(t, dir) {
				for class, n := range classes {
					if c := counts[name][class]; float64(c.Count) != n[0] || float64(c.Documents) != n[1] {
						t.Fatalf("%q in %s: %v and %v", name, class, c, n)
					}
				}
			}
		case 2:
			if !maps.Equal(sums(t, dir), same) {
				t.Error("other bytes with other ranges")
			}
		}
		for at, f := range read(t, dir).Features {
			if got, want := fmt.Sprint(f.Feature, f.CountPositive, f.CountNegative, f.Score, f.Weight), features[at]; got != fmt.Sprint(want.Feature, want.CountPositive, want.CountNegative, want.Score, want.Weight) {
				t.Errorf("%s, want %+v", got, want)
			}
		}
		if _, err := verify.Run(t.Context(), dir); err != nil {
			t.Error(err)
		}
	}
}

// A selection with binary weights has the documents as counts: from the text, and from counts.
func TestBinaryWeights(t *testing.T) {
	sel := choose(t, "", "10")
	counts, trained := filepath.Join(t.TempDir(), "counts"), filepath.Join(t.TempDir(), "trained")
	if err := runCount(t, counts, documents(t, federalist)); err != nil {
		t.Fatal(err)
	}
	sel.Weights = modelio.BinaryWeights
	if err := runTrain(t, trained, documents(t, federalist), sel); err != nil {
		t.Fatal(err)
	}
	tallies := countsOf(t, counts)
	for _, from := range []string{counts, trained} {
		dir := filepath.Join(t.TempDir(), "selected")
		if err := runSelect(t, dir, from, nil, sel); err != nil {
			t.Fatal(err)
		}
		for at, f := range read(t, dir).Features {
			if f != read(t, trained).Features[at] && fmt.Sprint(f.Feature, f.Score) != fmt.Sprint(read(t, trained).Features[at].Feature, read(t, trained).Features[at].Score) {
				t.Errorf("%+v, trained %+v", f, read(t, trained).Features[at])
			}
			if got, want := f.CountPositive, float64(tallies[f.Feature]["Madison"].Documents); got != want || float64(*f.DocumentsPositive) != want {
				t.Errorf("%s: %v documents, %v, want %v", f.Feature, got, *f.DocumentsPositive, want)
			}
		}
		if _, err := verify.Run(t.Context(), dir); err != nil {
			t.Error(err)
		}
		if w := read(t, dir).Manifest.Analyzer.Weights; w == nil || w.Name != modelio.BinaryWeights {
			t.Errorf("weights %+v", w)
		}
	}
	logs := filepath.Join(t.TempDir(), "logs")
	d := documents(t, federalist)
	d.Weights = kernel.Weights{Scheme: kernel.Log, Exponent: -20}
	if err := runCount(t, logs, d); err != nil {
		t.Fatal(err)
	}
	for from, weights := range map[string][]string{counts: {"log", "tfidf"}, logs: {"count", "binary", "tfidf"}} {
		for _, name := range weights {
			sel.Weights = name
			_, err := selection.FindCounts(t.Context(), from, nil, sel)
			var usage *modelio.Error
			if !errors.As(err, &usage) || usage.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), "--weights="+name) {
				t.Errorf("%s from %s: %v", name, from, err)
			}
		}
	}
	sel.Weights = "log"
	if err := runSelect(t, filepath.Join(t.TempDir(), "out"), logs, nil, sel); err != nil {
		t.Error(err)
	}
}

// Values that add up to 2⁵³ units are a verdict, whichever worker has counted them, also in the second reading.
func TestOverflowIsAVerdict(t *testing.T) {
	text := save(t, "text.tsv", strings.Repeat("a\tsome words and more words\nb\tother words\n", 200))
	for _, weights := range []kernel.Weights{
		{Scheme: kernel.Log, Exponent: -45},
		{Scheme: kernel.TFIDF, Norm: kernel.L2, Exponent: -47},
		{Scheme: kernel.Values, Exponent: -60},
	} {
		d := documents(t, text)
		d.Weights, d.Tuning.RangeBytes = weights, 1<<10
		err := runCount(t, filepath.Join(t.TempDir(), "out"), d)
		t.Logf("%v", err)
		if exitOf(err) != modelio.ExitData || !strings.Contains(fmt.Sprint(err), "choose a larger unit") {
			t.Errorf("%+v: %v", weights, err)
		}
	}
}
