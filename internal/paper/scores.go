package paper

import (
	"cmp"
	"slices"
)

// Scores returns h(α) of Theorem 2, the one on the sparse multinomial problem,
//
//	h = f⁺∘log f⁺ + f⁻∘log f⁻ - g∘log g - f⁺ log α - f⁻ log(1-α)
//
// in the form of S0: h_i = f⁺ log(p_i/α) + f⁻ log((1-p_i)/(1-α)) = g_i KL(p_i‖α), which shows that h ≥ 0. Line 3 of
// Algorithm 1 prints the last term as "f^has -" (E6).
func Scores(c Counts, alpha float64) []float64 {
	h := make([]float64, c.Features())
	for i := range h {
		a, b := c.Positive[i], c.Negative[i]
		h[i] = xlogy(a, a/(a+b)/alpha) + xlogy(b, b/(a+b)/(1-alpha))
	}
	return h
}

// topK returns the k features of largest score, the first of those that tie.
func topK(scores []float64, k int) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	support := order[:k]
	slices.Sort(support)
	return support
}

// sumOf returns Σ_J h_i, which is s_k(h) if J is a top k.
func sumOf(scores []float64, support []int) float64 {
	var sum float64
	for _, i := range support {
		sum += scores[i]
	}
	return sum
}
