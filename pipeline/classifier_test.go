package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/verify"
)

// classified is a run that testdata/classifiers/sklearn_models.py compares with scikit-learn.
type classified struct {
	Dir    string  `json:"dir"`
	File   string  `json:"file"`
	Binary bool    `json:"binary"`
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
	python := outside.Python(t)
	input, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "../testdata/classifiers/sklearn_models.py")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
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
						sel := choose(t, "", "3", "20")
						sel.Strategy, sel.Model, sel.Classifier, sel.Weights, sel.Smoothing = strategy, model, classifier, weights, []float64{0.1, 1}
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
		if len(models) < 4 {
			t.Errorf("%s: %d models", names[i], len(models))
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
		} {
			sel := choose(t, "", "1", "20", "100%")
			sel.Strategy, sel.Model, sel.Classifier, sel.Weights, sel.C = c.strategy, c.model, classifier, c.weights, c.c
			d := documents(t, c.file)
			d.Shards = 2
			run := classified{Dir: filepath.Join(t.TempDir(), "out"), File: c.file, Binary: c.weights != "", C: c.c}
			var err error
			if i == 2 {
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
