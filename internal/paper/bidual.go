package paper

// BidualObjective is the objective of the bidual program (D), a log-likelihood that is concave in x. The program maximizes
// it over 0 ≤ x ≤ 1, Σx ≤ k; its optimum is ψ(k), and at x in {0,1}^m it is C + D(J):
//
//	(1-x)ᵀ(g∘log g) + xᵀ(f⁺∘log f⁺ + f⁻∘log f⁻) - S log S
//	  + (xᵀg) log(xᵀg) - (xᵀf⁺) log(xᵀf⁺) - (xᵀf⁻) log(xᵀf⁻)
//
// As printed there is - xᵀg too, in (D) and in the line "reduces to" before it (E4): the derivation loses the term
// α(p⁺+p⁻) = xᵀg, which cancels it. With it x = 0 is optimal whatever the counts, as no x gains above xᵀg log 2.
func BidualObjective(c Counts, x []float64) float64 {
	objective := -xlogx(c.Mass())
	var positive, negative float64
	for i := range x {
		a, b := c.Positive[i], c.Negative[i]
		objective += (1-x[i])*xlogx(a+b) + x[i]*(xlogx(a)+xlogx(b))
		positive += x[i] * a
		negative += x[i] * b
	}
	return objective + xlogx(positive+negative) - xlogx(positive) - xlogx(negative)
}

// BidualGain is BidualObjective less C in the form min_α Σ x_i h_i(α), which S0 gives it: the minimum lies at
// α_x = xᵀf⁺/xᵀg, and nothing of the size of C cancels. No class has to have mass where x > 0 (E16).
func BidualGain(c Counts, x []float64) float64 {
	positive, negative := dot(x, c.Positive), dot(x, c.Negative)
	if positive == 0 || negative == 0 {
		return 0
	}
	return dot(x, Scores(c, positive/(positive+negative)))
}

// Bidual returns a solution x of (D) from the solution of the dual: the mixture of the two supports that tie at α* whose
// share is α*. It is optimal because Σ x_i h_i(α*) = s_k(h(α*)) and α* is the minimizer of Σ x_i h_i(α).
func Bidual(c Counts, k int) []float64 {
	d := Bisect(c, k)
	x, high := c.indicator(d.Low), c.indicator(d.High)
	above := max(0, -slopeAt(c, d.Low, d.Alpha))
	below := max(0, slopeAt(c, d.High, d.Alpha))
	if above+below == 0 {
		return x // both have the share α* itself
	}
	for i := range x {
		x[i] = (x[i]*below + high[i]*above) / (above + below)
	}
	return x
}
