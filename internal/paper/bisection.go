package paper

// Dual is the minimum of the one-dimensional dual.
type Dual struct {
	Gain  float64 // ψ(k) - C
	Alpha float64 // α*

	// Low and High are the top k at the two ends of the last bracket, one rounding apart: where they differ, α* is a
	// kink of s_k(h(α)) at which both tie. The share B⁺/B of Low is at least α*, that of High at most.
	Low, High []int
}

// Bisect computes ψ(k) - C = min_α s_k(h(α)), the problem (USMNB) of Theorem 2, by bisection over α in (0, 1), as the
// paper proposes. The sum over the top k of the derivatives (αB - B⁺)/(α(1-α)) is a subgradient; its sign shows the
// side of the minimum. That this is the Lagrangian dual needs q* = f⁺/μ⁺ ≤ 1, which can fail (E10); it bounds φ(k) all
// the same.
func Bisect(c Counts, k int) Dual {
	positive, negative := c.totals()
	if k == 0 || c.oneClass() {
		first := topK(make([]float64, c.Features()), k)
		return Dual{Alpha: positive / (positive + negative), Low: first, High: first}
	}
	low, high := 0.0, 1.0
	for {
		middle := (low + high) / 2
		if middle == low || middle == high {
			break
		}
		switch slope := slopeAt(c, topK(Scores(c, middle), k), middle); {
		case slope < 0:
			low = middle
		case slope > 0:
			high = middle
		default:
			low, high = middle, middle
		}
	}
	atLow := Scores(c, low)
	d := Dual{Alpha: low, Low: topK(atLow, k), High: topK(Scores(c, high), k)}
	d.Gain = sumOf(atLow, d.Low)
	return d
}

// slopeAt has the sign of the derivative of Σ_J h_i at α.
func slopeAt(c Counts, support []int, alpha float64) float64 {
	var slope float64
	for _, i := range support {
		slope += alpha*c.Negative[i] - (1-alpha)*c.Positive[i]
	}
	return slope
}
