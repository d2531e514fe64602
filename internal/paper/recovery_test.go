package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The closed form is a point of (SMNB) with the log-likelihood C + D(J), the maximum for its support.
func TestPrimalIsTheBestPointOfItsSupport(t *testing.T) {
	eachInstance(t, 11, 800, 12, func(r *rand.Rand, in instance) {
		support := randomSupport(r, in.Features(), r.IntN(in.Features()+1))
		p := Primal(in.Counts, support)
		what := fmt.Sprintf("%s J=%v", in.name, support)
		checkFeasible(t, what, p)
		value := LogLikelihood(in.Counts, p)
		near(t, what+": log-likelihood", value, in.Base()+in.Gain(support), 10*in.rounding())
		for range 10 {
			atMost(t, what+": another point", LogLikelihood(in.Counts, perturbed(r, in, p)), value, 10*in.rounding())
		}
	})
}

func checkFeasible(t *testing.T, what string, p Point) {
	t.Helper()
	near(t, what+": Σθ⁺", sum(p.Positive), 1, 1e-12)
	near(t, what+": Σθ⁻", sum(p.Negative), 1, 1e-12)
	for i := range p.Positive {
		if p.Positive[i] != p.Negative[i] && !slices.Contains(p.Support, i) {
			t.Errorf("%s: θ⁺ and θ⁻ of feature %d differ outside the support", what, i)
		}
	}
}

// perturbed returns another feasible point with the same support: every θ is changed by up to a half, then those
// outside J and those of either class in J are scaled to sums that fit together.
func perturbed(r *rand.Rand, in instance, p Point) Point {
	x := in.indicator(p.Support)
	q := Point{p.Support, slices.Clone(p.Positive), slices.Clone(p.Negative)}
	var outside, positive, negative float64
	for i := range q.Positive {
		q.Positive[i] *= 0.5 + r.Float64()
		q.Negative[i] *= 0.5 + r.Float64()
		if x[i] == 0 {
			q.Negative[i] = q.Positive[i]
			outside += q.Positive[i]
		} else {
			positive += q.Positive[i]
			negative += q.Negative[i]
		}
	}
	total := outside + positive
	for i := range q.Positive {
		q.Positive[i] /= total
		if x[i] == 0 {
			q.Negative[i] /= total
		} else if negative > 0 {
			q.Negative[i] *= positive / total / negative
		}
	}
	return q
}

func sum(v []float64) float64 {
	var total float64
	for _, x := range v {
		total += x
	}
	return total
}

// Algorithm 1 is never better than the best support or the solver, and sometimes worse (S5).
func TestRecoveryIsFeasibleButNotTheBest(t *testing.T) {
	recovered, worse := 0, 0
	eachInstance(t, 12, 480, 12, func(_ *rand.Rand, in instance) {
		best, _ := BruteForce(in.Counts)
		for k := range best {
			what := fmt.Sprintf("%s k=%d", in.name, k)
			p := Recover(in.Counts, k)
			checkFeasible(t, what, p)
			if len(p.Support) != k {
				t.Errorf("%s: the support %v has %d features", what, p.Support, len(p.Support))
			}
			gain := LogLikelihood(in.Counts, p) - in.Base()
			atMost(t, what+": gain", gain, best[k], 1e-12*best[k]+10*in.rounding())
			atMost(t, what+": gain beside the solver's", gain, solved(t, in, k).Gain, 1e-12*best[k]+10*in.rounding())
			recovered++
			if gain < best[k]*(1-1e-9)-10*in.rounding() {
				worse++
			}
		}
	})
	t.Logf("%d of %d supports were not the best", worse, recovered)
	if worse == 0 {
		t.Error("every support was the best: then fact S5 is not one")
	}
}

// E3: with the factor that Algorithm 1 prints θ⁺ does not sum to 1.
func TestPrintedThetaIsNoDistribution(t *testing.T) {
	c := Counts{[]float64{3, 1, 4, 1}, []float64{1, 5, 2, 1}}
	support := []int{0, 1}
	p := Primal(c, support)
	printed := slices.Clone(p.Positive)
	x := c.indicator(support)
	mass := dot(x, c.Positive) + dot(x, c.Negative)
	outside := c.Mass() - mass
	s := outside / (outside + mass)
	for _, i := range support {
		printed[i] = (1 - s) / (dot(x, c.Positive) * (outside + mass)) * c.Positive[i]
	}
	near(t, "Σθ⁺ as printed", sum(printed), 0.4753, 5e-5)
	near(t, "Σθ⁺", sum(p.Positive), 1, 1e-15)
	near(t, "log-likelihood", LogLikelihood(c, p), -21.8166974, 5e-8)
}

// S5, two examples: one of two tied supports loses the whole gain; or neither is the best.
func TestTopKAtAlphaIsNotSafe(t *testing.T) {
	for _, in := range []struct {
		counts                  Counts
		k                       int
		worse, better, phi, psi float64
	}{
		{Counts{[]float64{2, 3, 8, 1}, []float64{2, 2, 2, 1}}, 2, 0, 0.599161, 0.599161, math.NaN()},
		{Counts{[]float64{7, 11, 4, 17, 14, 2}, []float64{8, 13, 2, 3, 2, 5}}, 3, 4.6506, 5.2864, 5.6173, 5.9377},
	} {
		d := Bisect(in.counts, in.k)
		low, high := in.counts.Gain(d.Low), in.counts.Gain(d.High)
		best, _ := BruteForce(in.counts)
		near(t, "the worse end", min(low, high), in.worse, 5e-5)
		near(t, "the better end", max(low, high), in.better, 5e-5)
		near(t, "φ-C", best[in.k], in.phi, 5e-5)
		if !math.IsNaN(in.psi) {
			near(t, "ψ-C", d.Gain, in.psi, 5e-5)
		}
	}
}
