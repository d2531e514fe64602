package solver

import (
	"math"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// exactDivergence is h(a, b; α) with α given by its odds.
func exactDivergence(a, b float64, o odds) float64 {
	n := solvertest.Zero
	total, odds := n().Add(solvertest.Exact(a), solvertest.Exact(b)), n().Add(solvertest.Exact(float64(o)), solvertest.Exact(1))
	// p/α = a/(a+b)·(1+o)/o and (1-p)/(1-α) = b/(a+b)·(1+o)
	first := n().Quo(n().Mul(solvertest.Exact(a), odds), n().Mul(total, solvertest.Exact(float64(o))))
	second := n().Quo(n().Mul(solvertest.Exact(b), odds), total)
	h, _ := n().Add(n().Mul(solvertest.Exact(a), solvertest.ExactLog(first)), n().Mul(solvertest.Exact(b), solvertest.ExactLog(second))).Float64()
	return h
}

func TestDivergenceIsPreciseAtAnyOdds(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(6)
	for i := range solvertest.Count(400) {
		draw := func(width float64) float64 { return math.Exp(width * (rng.Float64() - 0.5)) }
		a, b, o := draw(60), draw(60), odds(draw(400))
		if i%4 == 0 { // almost in balance
			o = odds(a / b * (1 + 1e-6*rng.Float64()))
		}
		if i%10 == 0 {
			a, b = 2, 1
		}
		alpha, beta := o.shares()
		got, want := divergence(a, b, alpha, beta), exactDivergence(a, b, o)
		// The shares are rounded, which moves h by up to |βa-αb| of an ulp.
		solvertest.Near(t, "h", got, want, 2e-15*want+3e-16*math.Abs(beta*a-alpha*b))
		if t.Failed() {
			t.Fatalf("a=%v b=%v odds=%v", a, b, o)
		}
	}
}
