package paper

// BernoulliScores returns w - v of Theorem 1, the one on the sparse Bernoulli problem: what a feature gains when its θ⁺
// and θ⁻ may differ, given in how many of n± documents it occurs,
//
//	v  = g∘log(g/n) + (n-g)∘log(1-g/n),  n = n₊+n₋
//	w± = f±∘log(f±/n±) + (n±-f±)∘log(1-f±/n±),  w = w⁺ + w⁻
//
// Both displays of w± print f⁺ inside the logarithms (E2). The theorem needs n₊ and n₋ above zero (E16).
func BernoulliScores(c Counts, positive, negative float64) []float64 {
	z := make([]float64, c.Features())
	for i := range z {
		a, b := c.Positive[i], c.Negative[i]
		w := binomial(a, positive) + binomial(b, negative)
		v := binomial(a+b, positive+negative)
		z[i] = w - v
	}
	return z
}

// binomial is f log(f/n) + (n-f) log(1-f/n), the greatest log-likelihood of f documents of n.
func binomial(f, n float64) float64 { return xlogy(f, f/n) + xlogy(n-f, (n-f)/n) }

// Bernoulli is Theorem 1: θ± = f±/n± on the k largest of w - v, and θ⁺ = θ⁻ = g/n on the others. The statement prints
// θ⁺ = θ⁻ on the top k (E1), and the proof ends in the same exchange by another way (E1b).
func Bernoulli(c Counts, positive, negative float64, k int) Point {
	p := Point{topK(BernoulliScores(c, positive, negative), k), make([]float64, c.Features()), make([]float64, c.Features())}
	for i := range c.Positive {
		pooled := (c.Positive[i] + c.Negative[i]) / (positive + negative)
		p.Positive[i], p.Negative[i] = pooled, pooled
	}
	for _, i := range p.Support {
		p.Positive[i], p.Negative[i] = c.Positive[i]/positive, c.Negative[i]/negative
	}
	return p
}

// BernoulliLogLikelihood is the objective of the sparse Bernoulli problem (SBNB).
func BernoulliLogLikelihood(c Counts, positive, negative float64, p Point) float64 {
	var sum float64
	for i := range c.Positive {
		sum += xlogy(c.Positive[i], p.Positive[i]) + xlogy(positive-c.Positive[i], 1-p.Positive[i])
		sum += xlogy(c.Negative[i], p.Negative[i]) + xlogy(negative-c.Negative[i], 1-p.Negative[i])
	}
	return sum
}
