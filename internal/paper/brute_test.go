package paper

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSolverFindsTheBestSupport(t *testing.T) {
	eachInstance(t, 21, 800, 12, func(_ *rand.Rand, in instance) {
		gains, supports := BruteForce(in.Counts)
		for k, gain := range gains {
			what := fmt.Sprintf("%s k=%d", in.name, k)
			near(t, what+": the solver's gain", solved(t, in, k).Gain, gain, 1e-11*gain+in.rounding())
			near(t, what+": gain of the support", in.Gain(supports[k]), gain, 1e-11*gain+in.rounding())
			if len(supports[k]) != k {
				t.Errorf("%s: the support is %v", what, supports[k])
			}
		}
	})
}

// E17: a single feature gains nothing, while the bound is above C unless all have the same share.
func TestASingleFeatureGainsNothing(t *testing.T) {
	c := Counts{[]float64{3, 1, 4, 1}, []float64{1, 5, 2, 1}}
	gains, _ := BruteForce(c)
	near(t, "φ(1)-C", gains[1], 0, 0)
	near(t, "gain of the feature", c.Gain([]int{0}), 0, 1e-15)
	atMost(t, "0.1 and ψ(1)-C", 0.1, Bisect(c, 1).Gain, 0)
}
