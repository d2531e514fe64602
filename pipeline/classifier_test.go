package pipeline

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// classified is a run that testdata/classifiers/sklearn_models.py compares with scikit-learn.
type classified struct {
	Dir    string  `json:"dir"`
	File   string  `json:"file"`
	Binary bool    `json:"binary"`
	TFIDF  bool    `json:"tfidf"`
	C      float64 `json:"c,omitempty"`
}

// comparison is what it says about a model.
type comparison struct {
	Problem   string  `json:"problem"`
	K         int64   `json:"k"`
	Smoothing float64 `json:"smoothing"`

	Difference float64 `json:"difference"` // of naive Bayes
	Ours, Best float64 // objectives of the others
}

func compareClassifiers(t *testing.T, runs []classified) (results [][]comparison) {
	t.Helper()
	askPython(t, "../testdata/classifiers/sklearn_models.py", runs, &results)
	return results
}

// fiveClasses writes documents of five classes, some of them empty.
func fiveClasses(t *testing.T, seed uint64) string {
	text, _ := multiclassCorpus(rand.New(rand.NewPCG(seed, 5)), []string{"a", "b", "c", "d", "e"}, 300)
	return save(t, fmt.Sprintf("five%d.tsv", seed), string(bytes.Join(text, nil)))
}

// The weights of naive Bayes classifiers that are computed from counts are those of scikit-learn on the selected columns,
// whichever model has selected them.
func TestClassifiersFromCountsAreThoseOfScikitLearn(t *testing.T) {
	five := fiveClasses(t, 1)
	var runs []classified
	var names []string
	for _, file := range []string{federalist, five} {
		counts := filepath.Join(t.TempDir(), "counts")
		d := documents(t, file)
		d.Shards = 2
		if err := runCount(t, counts, d); err != nil {
			t.Fatal(err)
		}
		for _, strategy := range []selection.Strategy{"ovr", "ovo", "joint"} {
			if file == federalist && strategy != "ovr" {
				continue
			}
			for _, classifier := range []string{"mnb", "cnb", "bnb"} {
				for _, model := range []solver.Model{solver.Multinomial, solver.Bernoulli} {
					for _, weights := range []string{"", modelio.BinaryWeights} {
						sel := choose(t, "", "20")
						sel.Strategy, sel.Model, sel.Classifier, sel.Weights, sel.Smoothing = strategy, model, classifier, weights, []float64{0.1}
						if file == federalist {
							sel = choose(t, "", "3", "20")
							sel.Model, sel.Classifier, sel.Weights, sel.Smoothing = model, classifier, weights, []float64{0.1, 1}
						}
						run := classified{Dir: filepath.Join(t.TempDir(), "out"), File: file, Binary: weights != ""}
						counts, err := selection.FindCounts(t.Context(), counts, nil, sel)
						if err != nil {
							t.Fatal(err)
						}
						if err := selectOn(localRunners["direct"], run.Dir, counts, sel); err != nil {
							t.Fatal(err)
						}
						if _, err := verify.Run(t.Context(), run.Dir); err != nil {
							t.Error(err)
						}
						p := read(t, run.Dir)
						for _, m := range p.Models {
							if m.Classifier != classifier || p.Of(m)[0].Classifier != classifier {
								t.Errorf("classifier %q, of features %q", m.Classifier, p.Of(m)[0].Classifier)
							}
						}
						runs, names = append(runs, run), append(names, fmt.Sprint(filepath.Base(file), " ", strategy, " ", classifier, " ", model, " ", weights))
					}
				}
			}
		}
	}
	for i, models := range compareClassifiers(t, runs) {
		for _, m := range models {
			if !(m.Difference < 1e-12) {
				t.Errorf("%s, %s, k = %d: differs by %v", names[i], m.Problem, m.K, m.Difference)
			}
		}
		if len(models) == 0 {
			t.Errorf("%s: no models", names[i])
		}
	}
}

// Fitted classifiers have the objective of scikit-learn's at its minimum, for each strategy.
func TestFittedClassifiersAreThoseOfScikitLearn(t *testing.T) {
	five := fiveClasses(t, 2)
	var runs []classified
	for _, classifier := range []string{"logistic", "svm"} {
		for i, c := range []struct {
			file     string
			strategy selection.Strategy
			model    solver.Model
			weights  string
			c        float64
		}{
			{federalist, "ovr", solver.Multinomial, "", 1},
			{federalist, "ovr", solver.Bernoulli, modelio.BinaryWeights, 0.1},
			{five, "ovr", solver.Multinomial, "", 1},
			{five, "ovo", solver.Bernoulli, "", 10},
			{five, "joint", solver.Multinomial, modelio.BinaryWeights, 1},
			{five, "joint", solver.Multinomial, "tfidf", 1},
		} {
			sel := choose(t, "", "1", "20", "100%")
			sel.Strategy, sel.Model, sel.Classifier, sel.Weights, sel.C = c.strategy, c.model, classifier, c.weights, c.c
			d := documents(t, c.file)
			d.Shards = 2
			run := classified{Dir: filepath.Join(t.TempDir(), "out"), File: c.file, Binary: c.weights == modelio.BinaryWeights, TFIDF: c.weights == "tfidf", C: c.c}
			if run.TFIDF {
				d.Weights = kernel.Weights{Scheme: kernel.TFIDF, Norm: kernel.L2, Exponent: kernel.DefaultExponent}
			}
			var err error
			if i == 2 || run.TFIDF {
				err = runTrain(t, run.Dir, d, sel)
			} else {
				err = trainOn(localRunners["direct"], run.Dir, d, sel)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := verify.Run(t.Context(), run.Dir); err != nil {
				t.Error(err)
			}
			runs = append(runs, run)
		}
	}
	for i, models := range compareClassifiers(t, runs) {
		for _, m := range models {
			if over := (m.Ours - m.Best) / m.Best; !(over < 1e-9 && over > -1e-4) {
				t.Errorf("%+v, %s, k = %d: objective %v, scikit-learn's %v", runs[i], m.Problem, m.K, m.Ours, m.Best)
			}
		}
		if len(models) < 3 {
			t.Errorf("%+v: %d models", runs[i], len(models))
		}
	}
}

// A fitted model has the same bytes for any split, order, compression and number of goroutines.
func TestFittedModelsDoNotDependOnTheSplit(t *testing.T) {
	lines := corpus(t)
	sel := choose(t, "Hamilton", "10", "1%")
	sel.Classifier, sel.C = modelio.Logistic, 1
	train := func(pattern string, tuning Tuning) map[string]string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "out")
		d := documents(t, pattern)
		d.Tuning, d.Shards = tuning, 4
		if err := trainOn(localRunners["direct"], dir, d, sel); err != nil {
			t.Fatal(err)
		}
		return sums(t, dir)
	}
	want := train(spread(t, lines, 1, ""), Tuning{Threads: 1, RangeBytes: 1 << 40})
	six := spread(t, lines, 6, "")
	for name, got := range map[string]map[string]string{
		"ranges of 4 KB, one goroutine":   train(six, Tuning{Threads: 1, RangeBytes: 4 << 10}),
		"ranges of 4 KB, two goroutines":  train(six, Tuning{Threads: 2, RangeBytes: 4 << 10}),
		"ranges of 64 KB":                 train(six, Tuning{Threads: 3, RangeBytes: 64 << 10}),
		"shuffled lines":                  train(spread(t, shuffled(lines), 5, ""), Tuning{RangeBytes: 4 << 10}),
		"gzip, shuffled, in several file": train(spread(t, shuffled(lines), 3, ".gz"), Tuning{}),
	} {
		if !maps.Equal(got, want) {
			t.Errorf("%s: other bytes in %s", name, differing(got, want))
		}
	}
}

// A document with a weight counts as so many documents, and one with two labels as a document of each.
func TestFittedDocumentsCountAsInTheCounts(t *testing.T) {
	weighted := save(t, "weighted.jsonl", `{"text": "fine fine film", "label": "a", "weight": 3}
{"text": "dull film", "label": ["b", "c"], "weight": 2}
{"text": "dull fine plot", "label": "c", "weight": 1}
{"text": "a plot", "label": "a", "weight": 0}
{"text": "film plot", "label": ["a", "c"], "weight": 1}
`)
	plain := save(t, "plain.tsv", strings.Repeat("a\tfine fine film\n", 3)+strings.Repeat("b\tdull film\nc\tdull film\n", 2)+
		"c\tdull fine plot\na\tfilm plot\nc\tfilm plot\n")
	for _, strategy := range []selection.Strategy{"ovr", "ovo", "joint"} {
		for _, classifier := range []string{modelio.Logistic, modelio.SVM} {
			var tables []string
			for _, file := range []string{weighted, plain} {
				sel := choose(t, "", "2", "4")
				sel.Strategy, sel.Classifier, sel.C = strategy, classifier, 1
				d, dir := documents(t, file), filepath.Join(t.TempDir(), "out")
				if d.Shards = 1; file == weighted {
					var err error
					d.Reading.WeightColumn = "weight"
					if d.Files, err = corpusio.List(t.Context(), []string{file}, d.Reading); err != nil {
						t.Fatal(err)
					}
				}
				if err := trainOn(localRunners["direct"], dir, d, sel); err != nil {
					t.Fatal(err)
				}
				p := read(t, dir)
				tables = append(tables, fmt.Sprint(p.Manifest.Files[1:]))
				if _, err := verify.Run(t.Context(), dir); err != nil {
					t.Error(err)
				}
			}
			if tables[0] != tables[1] {
				t.Errorf("%s, %s: %s\n%s", strategy, classifier, tables[0], tables[1])
			}
		}
	}
}

// Values of a matrix, and buckets, are columns as other features are.
func TestFittedToMatricesAndBuckets(t *testing.T) {
	matrix := save(t, "values.svm", strings.Repeat("1 1:0.5 2:1.5\n-1 1:2.5 3:1\n1 3:0.25\n-1 2:0.125 4:2\n", 5))
	sel := choose(t, "", "2", "100%")
	sel.Classifier, sel.C = modelio.Logistic, 1
	d, dir := documents(t, matrix), filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, d, sel); err != nil {
		t.Fatal(err)
	}
	checkOptimal(t, read(t, dir), map[string][][2]float64{
		"1": {{0.5, 1}, {2.5, 0}, {0, 1}, {0, 0}}, "2": {{1.5, 1}, {0, 0}, {0, 1}, {0.125, 0}}, "3": {{0, 1}, {1, 0}, {0.25, 1}, {0, 0}}, "4": {{0, 1}, {0, 0}, {0, 1}, {2, 0}},
	}, 5)

	d, dir = documents(t, federalist), filepath.Join(t.TempDir(), "out")
	d.HashBits = 10
	if err := runTrain(t, dir, d, sel); err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if p := read(t, dir); p.Models[0].Classifier != modelio.Logistic || len(p.Buckets) == 0 {
		t.Errorf("%+v, %d names", p.Models[0], len(p.Buckets))
	}
}

// checkOptimal checks that the gradient of a logistic regression is 0. rows are by feature, with values and classes; all repeat
// a number of times.
func checkOptimal(t *testing.T, p modelio.Published, columns map[string][][2]float64, times float64) {
	t.Helper()
	for _, m := range p.Models {
		features := p.Of(m)
		residual := make([]float64, 4)
		for i := range residual {
			score, class := m.Intercept, 0.0
			for _, f := range features {
				cell := columns[f.Feature][i]
				score, class = score+f.Weight*cell[0], cell[1]
			}
			residual[i] = times * (1/(1+math.Exp(-score)) - class)
		}
		for _, f := range features {
			gradient := f.Weight
			for i, r := range residual {
				gradient += r * columns[f.Feature][i][0]
			}
			if math.Abs(gradient) > 1e-4 {
				t.Errorf("k = %d: the derivative by the weight of %s is %v", m.K, f.Feature, gradient)
			}
		}
	}
}

// Documents that take too much memory, and a fit without a result, are verdicts that name the way out.
func TestUnfittableData(t *testing.T) {
	sel := choose(t, "", "10")
	sel.Classifier, sel.C = modelio.SVM, 1
	defer func(most int64) { selection.MaxFitBytes = most }(selection.MaxFitBytes)
	for _, selection.MaxFitBytes = range []int64{100, 5_000} { // known from the counts, and after reading
		dir := filepath.Join(t.TempDir(), "out")
		err := runTrain(t, dir, documents(t, federalist), sel)
		if exitOf(err) != modelio.ExitData {
			t.Errorf("%v", err)
		}
		contains(t, err, "as rows of the selected features", "24 bytes for a document and 12", "smaller --k", "sparsenb transform")
		checkNothingPublished(t, dir)
	}
	selection.MaxFitBytes = 1 << 30
	large := save(t, "large.svm", "1 1:1e12 2:1\n-1 1:3e11 2:3\n1 1:3 2:1\n-1 1:1e12 2:1\n")
	sel = choose(t, "", "2")
	sel.Classifier, sel.C = modelio.Logistic, 1e9
	d, dir := documents(t, large), filepath.Join(t.TempDir(), "out")
	d.Weights = kernel.Weights{Scheme: kernel.Values, Exponent: 0}
	err := runTrain(t, dir, d, sel)
	if exitOf(err) != modelio.ExitData {
		t.Errorf("%v", err)
	}
	contains(t, err, "--classifier=logistic", "did not converge", "use a smaller --c")
}
