package paper

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// At a support the bidual is the log-likelihood of its best point, and everywhere it equals the form of S0.
func TestBidualObjectiveIsTheGainOverC(t *testing.T) {
	eachInstance(t, 41, 800, 40, func(r *rand.Rand, in instance) {
		x := make([]float64, in.Features())
		for i := range x {
			x[i] = r.Float64()
		}
		near(t, in.name+": objective", BidualObjective(in.Counts, x), in.Base()+BidualGain(in.Counts, x), 10*in.rounding())
		support := randomSupport(r, in.Features(), r.IntN(in.Features()+1))
		value := LogLikelihood(in.Counts, Primal(in.Counts, support))
		near(t, in.name+": objective at a support", BidualObjective(in.Counts, in.indicator(support)), value, 10*in.rounding())
	})
}

// The x from the dual is feasible and has the objective of the dual: strong duality proves both optimal.
func TestBidualMeetsTheDual(t *testing.T) {
	compared, mixed := 0, 0
	check := func(r *rand.Rand, in instance) {
		for _, k := range someKs(r, in.Features()) {
			what := fmt.Sprintf("%s k=%d", in.name, k)
			x := Bidual(in.Counts, k)
			checkBox(t, what, x, k)
			bound := solved(t, in, k).UpperBound
			near(t, what+": bidual", BidualGain(in.Counts, x), bound, 1e-10*bound+in.rounding())
			for range 5 {
				atMost(t, what+": another x", BidualGain(in.Counts, randomBidualPoint(r, in.Features(), k)), bound, 1e-10*bound+in.rounding())
			}
			compared++
			if len(Fractional(x)) > 0 {
				mixed++
			}
		}
	}
	eachInstance(t, 42, 320, 12, check)
	eachInstance(t, 43, 12, 500, check)
	t.Logf("%d solutions of the bidual, %d of them with fractional features", compared, mixed)
}

func checkBox(t *testing.T, what string, x []float64, k int) {
	t.Helper()
	near(t, what+": Σx", sum(x), float64(k), 1e-9*float64(k))
	for i, v := range x {
		if !(v >= 0 && v <= 1) {
			t.Errorf("%s: x_%d is %v", what, i, v)
		}
	}
}

// randomBidualPoint is a mixture of supports.
func randomBidualPoint(r *rand.Rand, m, k int) []float64 {
	x := make([]float64, m)
	for range 3 {
		for _, i := range randomSupport(r, m, k) {
			x[i] += 1.0 / 3
		}
	}
	for i := range x {
		x[i] = min(x[i], 1)
	}
	return x
}

// Solved without its dual, as a linear program with cuts, the bidual has the same optimum.
func TestBidualByCutsMeetsTheSolver(t *testing.T) {
	compared := 0
	eachInstance(t, 44, 160, 8, func(r *rand.Rand, in instance) {
		for _, k := range []int{1 + r.IntN(in.Features()), 1 + r.IntN(in.Features())} {
			what := fmt.Sprintf("%s k=%d", in.name, k)
			b, err := BidualByCuts(in.Counts, k, 1e-8)
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			bound := solved(t, in, k).UpperBound
			slack := 1e-12*bound + in.rounding()
			near(t, what+": bidual", b.Gain, bound, 2e-8*bound+in.rounding())
			atMost(t, what+": the x", BidualGain(in.Counts, b.X), bound, slack)
			atMost(t, what+": the cuts", bound, b.Upper, slack)
			compared++
		}
	})
	t.Logf("%d optima compared", compared)
}

// E4: with - xᵀg in its objective the optimum of (D) is C, at x = 0, which is not an upper bound of φ(k). The numbers are of
// one instance; all instances show that no x has a larger objective than x = 0.
func TestPrintedBidualIsNoBound(t *testing.T) {
	c := Counts{[]float64{24, 3, 6, 7, 6, 24, 26, 17}, []float64{2, 3, 10, 13, 19, 14, 8, 5}}
	best, _ := BruteForce(c)
	correct, err := BidualByCuts(c, 3, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "φ(3)", c.Base()+best[3], -356.51, 5e-3)
	near(t, "ψ(3)", c.Base()+Bisect(c, 3).Gain, -355.836425, 5e-7)
	near(t, "optimum of (D)", c.Base()+correct.Gain, -355.836425, 5e-7)
	near(t, "optimum of (D) as printed", BidualObjective(c, make([]float64, 8)), -371.88, 5e-3)
	eachInstance(t, 45, 800, 40, func(r *rand.Rand, in instance) {
		x := randomBidualPoint(r, in.Features(), r.IntN(in.Features()+1))
		printed := BidualObjective(in.Counts, x) - dot(x, in.Positive) - dot(x, in.Negative)
		atMost(t, in.name+": objective as printed", printed, in.Base(), 10*in.rounding())
	})
}
