package paper

import "math/bits"

// BruteForce returns φ(k) - C and a support that attains it for every k from 0 to m, by looking at all 2^m supports.
// φ(1) = φ(0) always: with Σθ⁺ = Σθ⁻ a single feature cannot differ (E17).
func BruteForce(c Counts) (gains []float64, supports [][]int) {
	m := c.Features()
	gains, supports = make([]float64, m+1), make([][]int, m+1)
	best := make([]uint, m+1)
	for k := range best {
		best[k] = 1<<k - 1
	}
	for set := range uint(1) << m {
		k := bits.OnesCount(set)
		if gain := gainOf(c, set); gain > gains[k] {
			gains[k], best[k] = gain, set
		}
	}
	for k, set := range best {
		supports[k] = members(set)
	}
	return gains, supports
}

// gainOf is D(J) from the definition of the log-likelihood: over J, f⁺ log(f⁺/B⁺) + f⁻ log(f⁻/B⁻) - g log(g/B).
func gainOf(c Counts, set uint) float64 {
	if bits.OnesCount(set) < 2 {
		return 0
	}
	var positive, negative float64
	for s := set; s != 0; s &= s - 1 {
		i := bits.TrailingZeros(s)
		positive += c.Positive[i]
		negative += c.Negative[i]
	}
	var gain float64
	for s := set; s != 0; s &= s - 1 {
		i := bits.TrailingZeros(s)
		a, b := c.Positive[i], c.Negative[i]
		gain += xlogy(a, a/positive) + xlogy(b, b/negative) - xlogy(a+b, (a+b)/(positive+negative))
	}
	return gain
}

func members(set uint) []int {
	support := []int{}
	for s := set; s != 0; s &= s - 1 {
		support = append(support, bits.TrailingZeros(s))
	}
	return support
}
