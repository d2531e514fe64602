//go:build !race

// These tests compare numbers. The graphs that make them run with the race detector in other tests; here they would take minutes.

package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/verify"
)

// sklearnCase is an input of sklearn_counts.py.
type sklearnCase struct {
	Vectorizer map[string]any `json:"vectorizer"`
	Model      string         `json:"model"`
	Alpha      float64        `json:"alpha"`
}

type sklearnResult struct {
	Classes  []string
	Priors   []float64
	Features map[string]struct {
		Total, Documents float64
		Theta            []float64
	}
}

func sklearn(t *testing.T, file string, cases []sklearnCase) (results []sklearnResult) {
	t.Helper()
	job, err := json.Marshal(map[string]any{"file": file, "cases": cases})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(outside.Python(t), "../testdata/pruning/sklearn_counts.py")
	cmd.Stdin = bytes.NewReader(job)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var r sklearnResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results
}

// The features that are left, their counts and the model of all of them are those of CountVectorizer with the same arguments, and
// of MultinomialNB or BernoulliNB on its columns.
func TestPruningEqualsSklearn(t *testing.T) {
	outside.Python(t)
	files := map[string]string{"federalist": federalist, "random": save(t, "random.tsv", randomText())}
	if !testing.Short() {
		files["imdb"] = outside.Shared(t, "data/imdb/train.tsv.gz")
	}
	type vectorizer = map[string]any
	vocabulary := []string{"upon", "whilst", "the", "movie", "bad", "never-occurs", "w1", "w2", "été", "nothing"}
	for name, file := range files {
		counts := filepath.Join(t.TempDir(), "counts")
		if err := runCount(t, counts, documents(t, file)); err != nil {
			t.Fatal(err)
		}
		var cases []sklearnCase
		var prunings []selection.Pruning
		for i, c := range []struct {
			vectorizer vectorizer
			options    map[string]string
			vocabulary []string
		}{
			{vectorizer{"min_df": 2}, map[string]string{"min_df": "2"}, nil},
			{vectorizer{"min_df": 0.02, "max_df": 0.9}, map[string]string{"min_df": "2%", "max_df": "0.9"}, nil},
			{vectorizer{"min_df": 3, "max_df": 10}, map[string]string{"min_df": "3", "max_df": "10"}, nil},
			{vectorizer{"min_df": 2, "max_df": 0.5, "max_features": 100}, map[string]string{"min_df": "2", "max_df": "0.5", "max_features": "100"}, nil},
			{vectorizer{"max_features": 1000}, map[string]string{"max_features": "1000"}, nil},
			{vectorizer{"vocabulary": vocabulary}, nil, vocabulary},
		} {
			for _, model := range []string{"multinomial", "bernoulli"} {
				if name == "imdb" && (i%2 == 0) == (model == "bernoulli") {
					continue // half of them; reading IMDB takes scikit-learn seconds
				}
				cases = append(cases, sklearnCase{c.vectorizer, model, 0.5})
				prunings = append(prunings, rules(t, c.options, c.vocabulary, nil))
			}
		}
		for i, want := range sklearn(t, file, cases) {
			what := fmt.Sprintf("%s, %v, %s", name, cases[i].Vectorizer, cases[i].Model)
			got := selectAll(t, counts, cases[i], prunings[i])
			if cases[i].Vectorizer["max_features"] != nil {
				// Of equally frequent features, scikit-learn leaves others.
				totals := func(counts iterOfTotals) []float64 { return slices.Sorted(counts) }
				gotTotals := totals(func(yield func(float64) bool) {
					for _, f := range got.Features {
						if !yield(totalOf(t, counts, f.Feature)) {
							return
						}
					}
				})
				wantTotals := totals(func(yield func(float64) bool) {
					for _, f := range want.Features {
						if !yield(f.Total) {
							return
						}
					}
				})
				if !slices.Equal(gotTotals, wantTotals) {
					t.Errorf("%s: other totals", what)
				}
				var names []string
				for _, f := range got.Features {
					names = append(names, f.Feature)
				}
				same := cases[i]
				same.Vectorizer = vectorizer{"vocabulary": names}
				want = sklearn(t, file, []sklearnCase{same})[0]
			}
			compareSklearn(t, what, got, want)
		}
	}
}

type iterOfTotals = func(yield func(float64) bool)

// selectAll selects all features that a pruning leaves.
func selectAll(t *testing.T, counts string, c sklearnCase, p selection.Pruning) modelio.Published {
	t.Helper()
	sel := choose(t, "", "100%")
	sel.Model, sel.Smoothing, sel.Pruning = parseModel(t, c.Model), []float64{c.Alpha}, p
	dir := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, counts, nil, sel); err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
	return read(t, dir)
}

var totalsByRun = map[string]map[string]float64{}

// totalOf returns the occurrences of a feature in the counts of a run.
func totalOf(t *testing.T, dir, name string) float64 {
	t.Helper()
	if totalsByRun[dir] == nil {
		totalsByRun[dir] = map[string]float64{}
		for name, classes := range countsOf(t, dir) {
			for _, n := range classes {
				totalsByRun[dir][name] += float64(n.Count)
			}
		}
	}
	return totalsByRun[dir][name]
}

func compareSklearn(t *testing.T, what string, got modelio.Published, want sklearnResult) {
	t.Helper()
	if len(got.Features) != len(want.Features) || got.Models[0].M != int64(len(want.Features)) {
		t.Errorf("%s: %d features, scikit-learn has %d", what, len(got.Features), len(want.Features))
		return
	}
	m := got.Models[0]
	positive, negative := slices.Index(want.Classes, m.Positive), slices.Index(want.Classes, m.Negative)
	if prior := want.Priors[positive] - want.Priors[negative]; m.Model == "multinomial" && !(math.Abs(m.Intercept-prior) < 1e-9) {
		t.Errorf("%s: the intercept is %v, scikit-learn's %v", what, m.Intercept, prior)
	}
	for _, f := range got.Features {
		w, ok := want.Features[f.Feature]
		if !ok {
			t.Errorf("%s: %q is left", what, f.Feature)
			return
		}
		total := w.Total
		if m.Model == "bernoulli" {
			total = w.Documents
		}
		if n := f.CountPositive + f.CountNegative; n != total {
			t.Errorf("%s: %q has %v, scikit-learn %v", what, f.Feature, n, total)
			return
		}
		if p, n := f.ThetaPositive/w.Theta[positive]-1, f.ThetaNegative/w.Theta[negative]-1; !(math.Abs(p) < 1e-9 && math.Abs(n) < 1e-9) {
			t.Errorf("%s: %q has θ %v and %v, scikit-learn %v", what, f.Feature, f.ThetaPositive, f.ThetaNegative, w.Theta)
			return
		}
	}
}

// randomText has many words that are equally frequent.
func randomText() string {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	for range 300 {
		b.WriteString([]string{"pos\t", "neg\t"}[rng.IntN(2)])
		for range 1 + rng.IntN(30) {
			fmt.Fprintf(&b, "w%d ", int(1/(rng.Float64()+1e-3)))
		}
		b.WriteString("\n")
	}
	return b.String()
}
