package paper

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sparsenb/sparsenb/internal/golden"
)

func TestBisectionFindsTheSolversBound(t *testing.T) {
	compared := 0
	check := func(r *rand.Rand, in instance) {
		for _, k := range someKs(r, in.Features()) {
			d, s := Bisect(in.Counts, k), solved(t, in, k)
			near(t, fmt.Sprintf("%s k=%d: ψ-C", in.name, k), d.Gain, s.UpperBound, 1e-10*s.UpperBound+in.rounding())
			compared++
		}
		near(t, in.name+": C", in.Base(), solved(t, in, 0).Base, 1e-12*in.Mass()*10)
	}
	eachInstance(t, 1, 480, 12, check)
	eachInstance(t, 2, 32, 500, check)
	t.Logf("%d bounds compared", compared)
}

func TestBisectionFindsTheGoldenBounds(t *testing.T) {
	instances, err := golden.Load("../../testdata/golden", "mnb_small")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range instances {
		c := Counts{in.PositiveCounts, in.NegativeCounts}
		for i := range c.Positive {
			c.Positive[i] += float64(in.Smoothing)
			c.Negative[i] += float64(in.Smoothing)
		}
		for _, want := range in.Results {
			d, k := Bisect(c, int(want.K)), want.K
			near(t, fmt.Sprintf("%s k=%d: ψ-C", in.ID, k), d.Gain, float64(want.PsiGain), 1e-10*float64(want.PsiGain)+1e-14*c.Mass())
			if want.AlphaUnique {
				near(t, fmt.Sprintf("%s k=%d: α*", in.ID, k), d.Alpha, float64(want.Alpha), 1e-9)
			}
		}
	}
}

// The search finds the minimum of s_k(h(α)), and the supports at its ends are a top k each.
func TestBisectionFindsAMinimum(t *testing.T) {
	eachInstance(t, 3, 800, 40, func(r *rand.Rand, in instance) {
		if in.oneClass() {
			return
		}
		k := 1 + r.IntN(in.Features())
		d := Bisect(in.Counts, k)
		for range 20 {
			h := Scores(in.Counts, r.Float64())
			atMost(t, in.name+": ψ-C", d.Gain, sumOf(h, topK(h, k)), in.rounding())
		}
		atMost(t, in.name+": the slope of the low end", slopeAt(in.Counts, d.Low, d.Alpha), 0, in.rounding())
		atMost(t, in.name+": the slope of the high end", 0, slopeAt(in.Counts, d.High, d.Alpha), in.rounding())
		h := Scores(in.Counts, d.Alpha)
		near(t, in.name+": the low end", sumOf(h, d.Low), d.Gain, 1e-12*d.Gain+in.rounding())
		near(t, in.name+": the high end", sumOf(h, d.High), d.Gain, 1e-12*d.Gain+in.rounding())
	})
}

// E10: the θ of the dual formula, f±/(S α*), may exceed 1, and is then not a probability.
func TestThetaIsNotReadOffTheDual(t *testing.T) {
	c := Counts{[]float64{100, 1e-3}, []float64{1e-3, 1}}
	d := Bisect(c, 1)
	near(t, "f⁺/(S α*)", c.Positive[0]/(c.Mass()*d.Alpha), 1.0243, 5e-5)
	near(t, "ψ(1)", c.Base()+d.Gain, -2.22421, 5e-6)
	for _, theta := range Primal(c, []int{0}).Positive {
		atMost(t, "θ⁺ in closed form", theta, 1, 0)
	}
}
