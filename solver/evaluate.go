package solver

import "fmt"

// Evaluate evaluates a support without a search. It returns the base C, the gain D(J), both in nats, and the parameters of
// the best model. take[i] is how many features of p.Groups[i] the support has. Problem.K is ignored.
func Evaluate(p Problem, take []int64) (base, gain float64, params Parameters, err error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return 0, 0, params, fmt.Errorf("solver: %w", err)
	}
	if len(take) != len(p.Groups) {
		return 0, 0, params, fmt.Errorf("solver: take has %[2]d entries for %[1]d groups", len(p.Groups), len(take))
	}
	for i, n := range take {
		if n < 0 || n > p.Groups[i].Size {
			return 0, 0, params, fmt.Errorf("solver: take has %d features of a group of %d", n, p.Groups[i].Size)
		}
	}
	groups := smoothed(p)
	params = parametersOf(p, groups, take)
	if p.Model == Bernoulli {
		base = baseBernoulli(p, groups)
	} else {
		base = baseMultinomial(groups)
	}
	return base, params.gain(p.Groups, take), params, nil
}

// Bound returns s_k(h(α)) in nats for k = Problem.K, at the odds α/(1-α). For every α in (0, 1) it is at least φ(k)-C, the
// gain of the best support, so one evaluation bounds the gap of any support. It takes odds because α itself loses precision
// near 1. The Bernoulli model has only α = n₊/n, where the bound is attained, and ignores the odds.
func Bound(p Problem, at float64) (float64, error) {
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if !(at >= 0) {
		return 0, fmt.Errorf("solver: the odds are %v, but must not be negative", at)
	}
	k := min(p.K, p.features())
	if k == 0 {
		return 0, nil
	}
	if p.Model == Bernoulli {
		return newBernoulli(p).bound(k), nil
	}
	r := newRanking(smoothed(p), Settings{}.WithDefaults())
	return r.at(odds(at), k).value, nil
}
