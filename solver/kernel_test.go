package solver

import (
	"math"
	"math/big"
	"testing"
)

const precision = 600 // bits

func exact(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// exactLog is log x: x = m·2ᵉ, and log m by the series of the area tangent.
func exactLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(precision)
	e := x.MantExp(m)
	series := func(m *big.Float) *big.Float {
		n := func() *big.Float { return new(big.Float).SetPrec(precision) }
		z := n().Quo(n().Sub(m, exact(1)), n().Add(m, exact(1)))
		square, power, total := n().Mul(z, z), n().Set(z), n()
		for i := 1; i < 2*precision; i += 2 {
			total.Add(total, n().Quo(power, exact(float64(i))))
			power.Mul(power, square)
		}
		return total.Mul(total, exact(2))
	}
	log2 := series(exact(2))
	return new(big.Float).SetPrec(precision).Add(series(m), log2.Mul(log2, exact(float64(e))))
}

// exactDivergence is h(a, b; α) with α given by its odds.
func exactDivergence(a, b float64, o odds) float64 {
	n := func() *big.Float { return new(big.Float).SetPrec(precision) }
	total, odds := n().Add(exact(a), exact(b)), n().Add(exact(float64(o)), exact(1))
	// p/α = a/(a+b)·(1+o)/o and (1-p)/(1-α) = b/(a+b)·(1+o)
	first := n().Quo(n().Mul(exact(a), odds), n().Mul(total, exact(float64(o))))
	second := n().Quo(n().Mul(exact(b), odds), total)
	h, _ := n().Add(n().Mul(exact(a), exactLog(first)), n().Mul(exact(b), exactLog(second))).Float64()
	return h
}

func TestDivergenceIsPreciseAtAnyOdds(t *testing.T) {
	rng := random(6)
	for i := range 400 {
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
		near(t, "h", got, want, 2e-15*want+3e-16*math.Abs(beta*a-alpha*b))
		if t.Failed() {
			t.Fatalf("a=%v b=%v odds=%v", a, b, o)
		}
	}
}
