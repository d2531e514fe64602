package paper

import "math"

// Counts are f⁺ and f⁻, the class counts of m features.
type Counts struct{ Positive, Negative []float64 }

// Features returns m.
func (c Counts) Features() int { return len(c.Positive) }

// Mass returns S = Σ f⁺ + f⁻.
func (c Counts) Mass() float64 {
	positive, negative := c.totals()
	return positive + negative
}

// Base returns C = gᵀlog g - S log S with g = f⁺+f⁻: the log-likelihood with θ⁺ = θ⁻ everywhere, φ(0) and ψ(0).
func (c Counts) Base() float64 {
	base := -xlogx(c.Mass())
	for i := range c.Positive {
		base += xlogx(c.Positive[i] + c.Negative[i])
	}
	return base
}

// Gain returns D(J) = Σ_J h_i(α_J) with α_J = B⁺/(B⁺+B⁻): what the best model with the support J gains over C.
func (c Counts) Gain(support []int) float64 { return BidualGain(c, c.indicator(support)) }

// oneClass reports whether a class has no mass. The proofs assume that none is empty; every gain is 0 then (E16).
func (c Counts) oneClass() bool {
	positive, negative := c.totals()
	return positive == 0 || negative == 0
}

func (c Counts) totals() (positive, negative float64) {
	for i := range c.Positive {
		positive += c.Positive[i]
		negative += c.Negative[i]
	}
	return positive, negative
}

// indicator returns the x in {0,1}^m of a support.
func (c Counts) indicator(support []int) []float64 {
	x := make([]float64, c.Features())
	for _, i := range support {
		x[i] = 1
	}
	return x
}

func xlogx(x float64) float64 { return xlogy(x, x) }

// xlogy is x log y with 0·log 0 = 0.
func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

func dot(x, y []float64) float64 {
	var sum float64
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
