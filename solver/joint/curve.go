package joint

import (
	"fmt"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Bounds returns ψ(k)-C for every k of ks, in their order; it is 0 for a k below 1.
func Bounds(p Problem, ks []int64, s solver.Settings) ([]float64, error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("joint: %w", err)
	}
	bounds := make([]float64, len(ks))
	for i, k := range ks {
		bounds[i] = solve(p, max(0, min(k, p.Features())), s, true).UpperBound
	}
	return bounds, nil
}

// Curve returns the curve of the problem.
func (p Problem) Curve(s solver.Settings) (solver.Curve, error) {
	if err := p.Validate(); err != nil {
		return solver.Curve{}, fmt.Errorf("joint: %w", err)
	}
	return solver.Curve{
		Features: p.Features(),
		Bound:    func(k int64) float64 { return solve(p, k, s, true).UpperBound },
		Gain:     func(k int64) float64 { return solve(p, k, s, false).Gain },
	}, nil
}

// SignificantFeatures is [solver.SignificantFeatures] for C classes: G has C-1 degrees of freedom.
func SignificantFeatures(p Problem, rate float64) (int64, error) {
	p.Smoothing = 0
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("joint: %w", err)
	}
	if p.Model != solver.Bernoulli {
		return 0, fmt.Errorf("joint: %w", solver.ErrNotBernoulli)
	}
	presence := newPresence(newParameters(p, newRanking(p), nil))
	groups := make([]topk.Scored, p.Len())
	for i := range groups {
		groups[i] = topk.Scored{Score: presence.score(p.Entries(i)), Size: p.Size(i)}
	}
	return topk.Significant(groups, p.Classes()-1, rate), nil
}
