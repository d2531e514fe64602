package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// corpus draws lines of several classes, and counts their words.
func multiclassCorpus(rng *rand.Rand, labels []string, lines int) (text [][]byte, counts map[string][]float64) {
	counts = map[string][]float64{}
	for range lines {
		class := rng.IntN(len(labels))
		line := []byte(labels[class] + "\t")
		for range 1 + rng.IntN(12) {
			word := fmt.Sprintf("w%d", int(math.Exp(rng.Float64()*5)))
			if rng.IntN(4) == 0 {
				word = fmt.Sprintf("only%d%d", class, rng.IntN(20))
			}
			line = append(append(line, word...), ' ')
			if counts[word] == nil {
				counts[word] = make([]float64, len(labels))
			}
			counts[word][class]++
		}
		text = append(text, append(line, '\n'))
	}
	return text, counts
}

// With several classes every problem is what the solver finds for the dense counts, and verifies.
func TestSeveralClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	labels := []string{"a", "b", "c vs d", "e"} // sorted
	text, counts := multiclassCorpus(rng, labels, 400)
	for _, strategy := range []string{modelio.OneVersusRest, modelio.OneVersusOne} {
		for _, positive := range []string{"", "b"} {
			sel := choose(t, positive, "3", "20%")
			sel.Strategy, sel.Smoothing = "ovr", []float64{0.5, 1}
			if strategy == modelio.OneVersusOne {
				sel.Strategy = "ovo"
			}
			dir := filepath.Join(t.TempDir(), "out")
			if err := runTrain(t, dir, documents(t, spread(t, text, 3, "")), sel); err != nil {
				t.Fatal(err)
			}
			p := read(t, dir)
			want := map[string]int{"ovr": 4, "ovrb": 1, "ovo": 6, "ovob": 3}[strategy+positive] * 2 * 2
			if len(p.Models) != want {
				t.Errorf("%s %q: %d models, want %d", strategy, positive, len(p.Models), want)
			}
			for _, m := range p.Models {
				checkAgainstDense(t, p, m, labels, counts)
			}
			if !slices.IsSortedFunc(p.Models, func(a, b modelio.ModelRow) int { return a.Key().Compare(b.Key()) }) {
				t.Error("the models are not in order")
			}
			if checks, err := Verify(t.Context(), dir); err != nil {
				t.Errorf("%v: %v", checks, err)
			}
		}
	}
}

func checkAgainstDense(t *testing.T, p modelio.Published, m modelio.ModelRow, labels []string, counts map[string][]float64) {
	t.Helper()
	sides := func(word string) (positive, negative float64) {
		for c, n := range counts[word] {
			switch {
			case labels[c] == m.Positive:
				positive = n
			case m.Strategy == modelio.OneVersusRest || labels[c] == m.Negative:
				negative += n
			}
		}
		return positive, negative
	}
	var positive, negative []float64
	for word := range counts {
		a, b := sides(word)
		positive, negative = append(positive, a), append(negative, b)
	}
	groups, err := solver.GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	want, err := solver.Solve(solver.Problem{Groups: groups, K: m.K, Smoothing: m.Smoothing}, solver.Settings{})
	if err != nil || m.Gain != want.Gain || math.Abs(m.UpperBoundGain-want.UpperBound) > 1e-13*want.UpperBound {
		t.Errorf("%s: gain %v, bound %v; the solver alone: %v, %v, %v", m.Key(), m.Gain, m.UpperBoundGain, want.Gain, want.UpperBound, err)
	}
	features := p.Of(m)
	if int64(len(features)) != m.K {
		t.Errorf("%s: %d features", m.Key(), len(features))
	}
	for _, f := range features {
		if a, b := sides(f.Feature); a != f.CountPositive || b != f.CountNegative {
			t.Errorf("%s, %s: counts %v and %v, want %v and %v", m.Key(), f.Feature, f.CountPositive, f.CountNegative, a, b)
		}
	}
}

// Features that a class does not have are selected by their sum in all others.
func TestFeaturesThatAClassDoesNotHave(t *testing.T) {
	table := save(t, "counts.csv", "feature,a,b,c\nx,40,0,1\ny,0,30,30\nz,0,0,50\nv,20,20,20\nw,0,0,49\nu,0,0,50\nnever,0,0,0\n")
	dir := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, table, nil, choose(t, "a", "4")); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	var names []string
	for _, f := range p.Features {
		names = append(names, f.Feature)
	}
	if !slices.Equal(names, []string{"x", "y", "u", "z"}) || p.Models[0].M != 7 {
		t.Errorf("selected %v of %d", names, p.Models[0].M)
	}
	if _, err := Verify(t.Context(), dir); err != nil {
		t.Error(err)
	}
}
