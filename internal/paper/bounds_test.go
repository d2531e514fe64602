package paper

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

// ψ(k-4) ≤ ψ(k-1) ≤ φ(k) ≤ ψ(k) ≤ φ(k+1), against brute force: the paper's bounds and those of S2, with
// what S4 makes of them.
func TestBoundsHold(t *testing.T) {
	checked, tight := 0, 0
	eachInstance(t, 61, 900, 12, func(_ *rand.Rand, in instance) {
		best, _ := BruteForce(in.Counts)
		for k := 1; k < len(best); k++ {
			what, b := fmt.Sprintf("%s k=%d", in.name, k), APriori(in.Counts, k)
			slack := 1e-11*b.Relaxed + in.rounding()
			atMost(t, what+": ψ(k-4) ≤ ψ(k-1)", b.FourFewer, b.OneFewer, slack)
			atMost(t, what+": ψ(k-1) ≤ φ(k)", b.OneFewer, best[k], slack)
			atMost(t, what+": φ(k) ≤ ψ(k)", best[k], b.Relaxed, slack)
			atMost(t, what+": (1-1/k) ψ(k) ≤ φ(k)", (1-1/float64(k))*b.Relaxed, best[k], slack)
			if k+1 < len(best) {
				atMost(t, what+": ψ(k) ≤ φ(k+1)", b.Relaxed, best[k+1], slack)
			} else {
				near(t, what+": ψ(m)", b.Relaxed, best[k], slack)
			}
			checked++
			if best[k] >= b.Relaxed-slack {
				tight++
			}
		}
	})
	t.Logf("%d bounds checked, %d of them attained", checked, tight)
}

// ψ(k) itself is not a lower bound.
func TestBoundsCannotBeSharper(t *testing.T) {
	c := Counts{[]float64{7, 11, 4, 17, 14, 2}, []float64{8, 13, 2, 3, 2, 5}}
	best, _ := BruteForce(c)
	atMost(t, "φ(3) and ψ(3)", best[3]+0.3, APriori(c, 3).Relaxed, 0)
}

// S3: the support has k features and gains at least ψ(k-1)-C, and at most as much as the best support and the solver's.
func TestGuaranteedSupportKeepsItsWord(t *testing.T) {
	checked := 0
	check := func(r *rand.Rand, in instance) {
		for _, k := range someKs(r, in.Features()) {
			if k == 0 {
				continue
			}
			what := fmt.Sprintf("%s k=%d", in.name, k)
			support, err := Guaranteed(in.Counts, k)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if len(support) != k {
				t.Errorf("%s: the support %v has %d features", what, support, len(support))
			}
			gain, bound, s := in.Gain(support), Bisect(in.Counts, k-1).Gain, solved(t, in, k)
			slack := 1e-9*s.UpperBound + in.rounding()
			atMost(t, what+": ψ(k-1) ≤ gain", bound, gain, slack)
			atMost(t, what+": gain ≤ ψ(k)", gain, s.UpperBound, slack)
			if s.Certificate == solver.Optimal {
				atMost(t, what+": the solver's ψ(k-1) ≤ its gain", solved(t, in, k-1).UpperBound, s.Gain, slack)
			}
			checked++
		}
	}
	eachInstance(t, 62, 320, 12, check)
	eachInstance(t, 63, 24, 120, check)
	t.Logf("%d supports", checked)
}
