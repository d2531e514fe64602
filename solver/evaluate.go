package solver

import "fmt"

// Evaluate returns what a support is worth, without any search: its gain D(J), the base C, and the parameters of its
// best model. take[i] is how many features of p.Groups[i] it has. Problem.K is ignored.
func Evaluate(p Problem, take []int64) (base, gain float64, params Parameters, err error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return 0, 0, params, fmt.Errorf("solver: %w", err)
	}
	if len(take) != len(p.Groups) {
		return 0, 0, params, fmt.Errorf("solver: %d groups, but numbers for %d", len(p.Groups), len(take))
	}
	for i, n := range take {
		if n < 0 || n > p.Groups[i].Size {
			return 0, 0, params, fmt.Errorf("solver: %d features of a group of %d", n, p.Groups[i].Size)
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

// Bound returns s_k(h(α)) for k = Problem.K at the given odds α/(1-α): for every α in (0, 1) it is at least φ(k)-C, the
// gain of the best support, and so one evaluation proves how good a support is. It takes odds because near 1 an α as a
// number says too little. The Bernoulli model has one α only, n₊/n, where the bound is attained.
func Bound(p Problem, at float64) (float64, error) {
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if !(at >= 0) {
		return 0, fmt.Errorf("solver: the odds are %v: they cannot be negative", at)
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
