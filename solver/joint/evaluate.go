package joint

import (
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Evaluate returns what a support is worth, without any search: its gain D(J), the base C₀, and the parameters of
// its best model. take[i] is how many features of vector i it has. Problem.K is ignored.
func Evaluate(p Problem, take []int64) (base, gain float64, params Parameters, err error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return 0, 0, params, fmt.Errorf("joint: %w", err)
	}
	if len(take) != p.Len() {
		return 0, 0, params, fmt.Errorf("joint: %d vectors, but numbers for %d", p.Len(), len(take))
	}
	for i, n := range take {
		if n < 0 || n > p.Size(i) {
			return 0, 0, params, fmt.Errorf("joint: %d features of a vector of %d", n, p.Size(i))
		}
	}
	r := newRanking(p)
	params = newParameters(p, r, take)
	if p.Model == solver.Bernoulli {
		return baseBernoulli(r, params.Mass), params.gain(p, take), params, nil
	}
	return baseMultinomial(r, params.Mass), params.gain(p, take), params, nil
}

// Bound returns s_k(h(α)) for k = Problem.K at the given shares: for every α in the simplex it is at least
// φ(k)-C₀, the gain of the best support, and so one evaluation proves how good a support is. It is infinite where a
// class with mass has no share. The Bernoulli model has one α only, n_c/n, where the bound is attained.
func Bound(p Problem, alpha []float64) (float64, error) {
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("joint: %w", err)
	}
	k := min(p.K, p.Features())
	if k == 0 {
		return 0, nil
	}
	if p.Model == solver.Bernoulli {
		return solveBernoulli(p).UpperBound, nil
	}
	if err := validateShares(alpha, p.Classes()); err != nil {
		return 0, fmt.Errorf("joint: %w", err)
	}
	r := newRanking(p)
	for c, b := range r.masses() {
		if b > 0 && alpha[c] == 0 {
			return math.Inf(1), nil
		}
	}
	at := sharesOf(alpha)
	return r.at(&at, k).value, nil
}

// validateShares allows for rounding as much as does not change a bound: its effect is of second order.
func validateShares(alpha []float64, classes int) error {
	if len(alpha) != classes {
		return fmt.Errorf("%d shares for %d classes", len(alpha), classes)
	}
	for c, a := range alpha {
		if !(a >= 0) {
			return fmt.Errorf("the share of class %d is %v: it cannot be negative", c, a)
		}
	}
	if s := numeric.Total(alpha); !(math.Abs(s-1) <= 1e-9) {
		return fmt.Errorf("the shares sum to %v, not 1", s)
	}
	return nil
}
