package joint

import (
	"math"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// The bound of the model is the greatest of its cuts at the point returned, and so both are exact.
func TestModelHasNoGap(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(24)
	for q := range solvertest.Count(400) {
		classes, n := 2+rng.IntN(20), 1+rng.IntN(40)
		var cuts []*cut
		for range n {
			c := &cut{mass: make([]float64, classes)}
			for range 1 + rng.IntN(3) {
				c.mass[rng.IntN(classes)] = float64(1 + rng.IntN(12))
			}
			switch {
			case q%3 == 0 && len(cuts) > 0: // nearly the same as another
				copy(c.mass, cuts[rng.IntN(len(cuts))].mass)
				c.gain = 1e-9 * rng.Float64()
			case q%3 == 1:
				c.gain = 10 * rng.Float64()
			}
			c.total = numeric.Total(c.mass)
			cuts = append(cuts, c)
		}
		var m master
		at, bound := m.minimize(cuts)
		high, weight := 0.0, 0.0
		for _, c := range cuts {
			high = max(high, c.value(&at))
			weight += c.weight
		}
		solvertest.Near(t, "the greatest cut at the minimizer", high, bound, 1e-12*bound+1e-14)
		solvertest.Near(t, "the sum of the weights", weight, 1, 1e-12)
		if t.Failed() {
			t.Fatalf("%d cuts of %d classes", n, classes)
		}
	}
}

// k = 1 and a feature of n_c occurrences for every class: where all cuts meet, Σ exp(-t/n_c) = 1.
func TestModelOfOneFeatureAClass(t *testing.T) {
	t.Parallel()
	var cuts []*cut
	for c := range 30 {
		mass := make([]float64, 30)
		mass[c] = float64(1 + c%12)
		cuts = append(cuts, &cut{mass: mass, total: mass[c]})
	}
	var m master
	at, bound := m.minimize(cuts)
	var sum float64
	for c := range 30 {
		sum += math.Exp(-bound / cuts[c].total)
		solvertest.Near(t, "a share", at.Alpha[c], math.Exp(-bound/cuts[c].total), 1e-12)
	}
	solvertest.Near(t, "the sum of the shares", sum, 1, 1e-12)
}
