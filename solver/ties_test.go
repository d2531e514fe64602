package solver

import (
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// One feature gains nothing, and any is the best. It is the one with the largest h at the share of all counts, for
// whichever number of features beside it the problem is solved.
func TestOneFeatureIsTheLargestAtTheShareOfAllCounts(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(33)
	for range solvertest.Count(300) {
		m := 1 + rng.IntN(40)
		kind, positive, negative := solvertest.Instance(rng, m)
		p := Problem{Smoothing: float64(rng.IntN(2))}
		p.Groups, _ = GroupFeatures(positive, negative)
		if a, b := p.masses(); a == 0 || b == 0 {
			continue
		}
		a, b := p.masses()
		alpha, beta := odds(a / b).shares()
		score := func(i int) float64 {
			return divergence(p.Groups[i].Positive+p.Smoothing, p.Groups[i].Negative+p.Smoothing, alpha, beta)
		}
		want := 0
		for i := range p.Groups {
			if score(i) > score(want) {
				want = i
			}
		}
		for r, err := range Path(p, []int64{1, 2, 5}, Settings{}) {
			if err != nil {
				t.Fatal(err)
			}
			if r.K > 1 {
				break
			}
			if r.Take[want] != 1 || r.Gain != 0 || r.Certificate != Optimal {
				t.Fatalf("%s %+v: took %v with a gain of %v, %s; want one of group %d", kind, p.Groups, r.Take, r.Gain, r.Certificate, want)
			}
		}
	}
}

// In what order others rank is not known to Ties: it is held against every exchange of two features.
func TestTies(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(35)
	found := 0
	for range solvertest.Count(400) {
		m := 2 + rng.IntN(12)
		var positive, negative []float64
		for range m {
			positive, negative = append(positive, float64(rng.IntN(3))), append(negative, float64(rng.IntN(3)))
		}
		p := Problem{Smoothing: 1, DocumentsPositive: 5, DocumentsNegative: 5, K: 1 + int64(rng.IntN(m))}
		p.Groups, _ = GroupFeatures(positive, negative)
		p.Model, p.Method = []Model{Multinomial, Bernoulli}[rng.IntN(2)], Methods[rng.IntN(len(Methods))]
		r, err := Solve(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		ranked := p.Statistic() != nil || p.Model == Bernoulli
		selector := r.Selector(p)
		var selected, left int64
		for i, g := range p.Groups {
			in, out := false, false
			for j, o := range p.Groups {
				same := i == j
				if ranked {
					a, b := selector.score(g.Positive, g.Negative), selector.score(o.Positive, o.Negative)
					same = a == b || a-b < 1e-12*a && b-a < 1e-12*a
				}
				in, out = in || same && r.Take[j] > 0, out || same && r.Take[j] < o.Size
			}
			if in && out {
				selected += r.Take[i]
				left += g.Size - r.Take[i]
			}
		}
		gotSelected, gotLeft := p.Ties(r.Take)
		if gotSelected != selected || gotLeft != left {
			t.Fatalf("%v by %s, k=%d of %+v, took %v: %d tie with %d, want %d with %d", p.Model, p.Method, p.K, p.Groups, r.Take, gotSelected, gotLeft, selected, left)
		}
		if left > 0 {
			found++
		}
	}
	if found < solvertest.Count(50) {
		t.Errorf("%d ties only", found)
	}
}
