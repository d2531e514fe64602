package joint

import (
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Evaluate evaluates a support without a search. It returns the base C, the gain D(J), both in nats, and the parameters of
// the best model. take[i] is how many features of vector i the support has. Problem.K is ignored.
func Evaluate(p Problem, take []int64) (base, gain float64, params Parameters, err error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return 0, 0, params, fmt.Errorf("joint: %w", err)
	}
	if len(take) != p.Len() {
		return 0, 0, params, fmt.Errorf("joint: take has %[2]d entries for %[1]d vectors", p.Len(), len(take))
	}
	for i, n := range take {
		if n < 0 || n > p.Size(i) {
			return 0, 0, params, fmt.Errorf("joint: take has %d features of a vector of %d", n, p.Size(i))
		}
	}
	r := newRanking(p)
	params = newParameters(p, r, take)
	if p.Model == solver.Bernoulli {
		return baseBernoulli(r, params.Mass), params.gain(p, take), params, nil
	}
	return baseMultinomial(r, params.Mass), params.gain(p, take), params, nil
}

// Bound returns s_k(h(α)) in nats for k = Problem.K, at the given shares of the classes. For every α in the simplex it is
// at least φ(k)-C, the gain of the best support, so one evaluation bounds the gap of any support. It is infinite if a class
// with mass has no share. The Bernoulli model has only α_c = n_c/n, where the bound is attained, and ignores alpha.
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

// validateShares allows rounding errors, which change a bound only in second order.
func validateShares(alpha []float64, classes int) error {
	if len(alpha) != classes {
		return fmt.Errorf("there are %d shares for %d classes", len(alpha), classes)
	}
	for c, a := range alpha {
		if !(a >= 0) {
			return fmt.Errorf("the share of class %d is %v: it must not be negative", c, a)
		}
	}
	if s := numeric.Total(alpha); !(math.Abs(s-1) <= 1e-9) {
		return fmt.Errorf("the shares sum to %v instead of 1", s)
	}
	return nil
}
