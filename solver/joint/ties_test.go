package joint

import (
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

func TestOneFeatureIsTheLargestAtTheSharesOfAllCounts(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(34)
	for range solvertest.Count(100) {
		kind, counts := instance(rng, 2+rng.IntN(30), 3+rng.IntN(4))
		if isZero(counts) {
			continue
		}
		p, _ := problemOf(t, counts, 1, 1)
		ranking := newRanking(p)
		at := sharesOf(ranking.masses())
		ranking.scoreAll(&at)
		want := slices.Index(ranking.scores, slices.Max(ranking.scores))
		r := mustSolve(t, p, solver.Settings{})
		if r.Take[want] != 1 || r.Gain != 0 || r.Certificate != solver.Optimal {
			t.Fatalf("%s: took %v with a gain of %v, %s; want one of vector %d", kind, r.Take, r.Gain, r.Certificate, want)
		}
	}
}

func TestTies(t *testing.T) {
	t.Parallel()
	counts := [][]float64{{9, 0, 1}, {0, 4, 0}, {0, 4, 0}, {0, 4, 0}, {1, 1, 1}}
	for _, model := range []solver.Model{solver.Multinomial, solver.Bernoulli} {
		p, _ := problemOf(t, counts, 3, 1)
		p.Model, p.Documents = model, []float64{10, 10, 10}
		r := mustSolve(t, p, solver.Settings{})
		if selected, left := p.Ties(r.Take); selected != 2 || left != 1 {
			t.Errorf("%s, took %v: %d tie with %d", model, r.Take, selected, left)
		}
	}
}
