package paper

// Post is the linear program that follows the bidual in the paper, its proposition (post): among the y in [0,1]^m with
//
//	f⁺ᵀy = f⁺ᵀx,  f⁻ᵀy = f⁻ᵀx,  vᵀy = vᵀx,  1ᵀy = 1ᵀx,    v = f⁺∘log f⁺ + f⁻∘log f⁻ - g∘log g
//
// it returns a vertex that minimizes costᵀy. All of them have the objective of x. With four equations at most four
// coordinates are neither 0 nor 1 ("at most n-4" in the remark after it is a slip, E8); n is the number of features, m
// here, not that of samples (E9). If x solves (D) it is at most three: on the features that tie at α* the row v is a
// combination of the others.
func Post(c Counts, x, cost []float64) ([]float64, error) {
	v, ones := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		a, b := c.Positive[i], c.Negative[i]
		if a+b > 0 {
			v[i] = xlogy(a, a/(a+b)) + xlogy(b, b/(a+b))
		}
		ones[i] = 1
	}
	return vertex([][]float64{ones, c.Positive, c.Negative, v}, x, cost)
}

// PostAtShare is Post with the two equations that S2 needs, for an x that solves (D) and has the share α: Σy = Σx and
// Σ y_i(f⁺_i - αg_i) = Σ x_i(f⁺_i - αg_i). On the features that tie at α* all such y are optimal, whatever mass they
// have. At most two coordinates are fractional; as their sum is whole, none or two that add up to 1.
func PostAtShare(c Counts, alpha float64, x, cost []float64) ([]float64, error) {
	balance, ones := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		balance[i] = (1-alpha)*c.Positive[i] - alpha*c.Negative[i]
		ones[i] = 1
	}
	return vertex([][]float64{ones, balance}, x, cost)
}

// RoundUp returns the support {i: x_i > 0}: the features whose θ± may differ in the proposition (nonbinary). Its proof
// prints θ⁺ = θ⁻ where z_i = 0, but z = 1-x multiplies g log θ in the program, so that it is where z_i = 1 (E5). The
// support is feasible for Σx plus what rounding adds, not for k (E7).
func RoundUp(x []float64) []int {
	support := []int{}
	for i, v := range x {
		if v > 0 {
			support = append(support, i)
		}
	}
	return support
}

// Fractional returns the features with 0 < x_i < 1.
func Fractional(x []float64) []int {
	var fractional []int
	for i, v := range x {
		if v > 0 && v < 1 {
			fractional = append(fractional, i)
		}
	}
	return fractional
}
