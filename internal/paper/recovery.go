package paper

// Point is a feasible point of the primal problem (SMNB): θ⁺ and θ⁻ are distributions over the features that differ on
// the support only.
type Point struct {
	Support            []int
	Positive, Negative []float64 // θ⁺, θ⁻
}

// Recover is Algorithm 1: α* from the dual, the support of the k largest h_i(α*), θ± in closed form. As printed its
// output has an extra factor (E3) and its h a typo (E6). Its point is feasible, but may be bad: where α* is a
// kink, rounding picks one of the supports that tie, and it may have none of the gain of the other (S5).
func Recover(c Counts, k int) Point {
	d := Bisect(c, k)
	if k == 0 || c.oneClass() {
		return Primal(c, d.Low)
	}
	return Primal(c, topK(Scores(c, d.Alpha), k))
}

// Primal returns the point of Theorem 2 that maximizes the likelihood with the support J = Iᶜ:
//
//	θ±_i = (B⁺+B⁻)/B± · f±_i/S on J,  θ⁺_i = θ⁻_i = g_i/S on I
//
// Algorithm 1 and the display that ends the proof of the primalisation print (1-s)/(B±(A+B)) · f±_i on J, where A is the
// mass of I and s = A/(A+B); the factor 1/(A+B) is wrong (E3). A class without mass on J leaves 0/0; θ± = g/S serves
// there as well as any (E16).
func Primal(c Counts, support []int) Point {
	mass := c.Mass()
	p := Point{support, make([]float64, c.Features()), make([]float64, c.Features())}
	for i := range c.Positive {
		pooled := (c.Positive[i] + c.Negative[i]) / mass
		p.Positive[i], p.Negative[i] = pooled, pooled
	}
	x := c.indicator(support)
	positive, negative := dot(x, c.Positive), dot(x, c.Negative)
	if positive == 0 || negative == 0 {
		return p
	}
	for _, i := range support {
		p.Positive[i] = (positive + negative) / positive * c.Positive[i] / mass
		p.Negative[i] = (positive + negative) / negative * c.Negative[i] / mass
	}
	return p
}

// LogLikelihood returns f⁺ᵀlog θ⁺ + f⁻ᵀlog θ⁻, the objective of (SMNB).
func LogLikelihood(c Counts, p Point) float64 {
	var sum float64
	for i := range c.Positive {
		sum += xlogy(c.Positive[i], p.Positive[i]) + xlogy(c.Negative[i], p.Negative[i])
	}
	return sum
}
