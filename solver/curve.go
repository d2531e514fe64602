package solver

import (
	"errors"
	"fmt"
	"sort"

	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Curve is the gain as a function of k, from which rules such as [Curve.ForGain] choose k.
type Curve struct {
	Features int64                 // m, the largest k
	Bound    func(k int64) float64 // ψ(k)-C
	Gain     func(k int64) float64 // of the support that the search finds
}

// Curve returns the curve of the problem.
func (p Problem) Curve(s Settings) (Curve, error) {
	path, err := newPath(p, nil, s)
	if err != nil {
		return Curve{}, fmt.Errorf("solver: %w", err)
	}
	return Curve{p.features(), path.bound, func(k int64) float64 { return path.solve(k).Gain }}, nil
}

// ForGain returns the smallest k whose support gains at least the given share, between 0 and 1, of ψ(m)-C, the gain of all
// features. It searches from the smallest k whose bound reaches that gain, and a few more features always suffice.
func (c Curve) ForGain(share float64) int64 {
	target := share * c.Bound(c.Features)
	k := int64(sort.Search(int(c.Features), func(k int) bool { return c.Bound(int64(k)+1) >= target })) + 1
	for k < c.Features && c.Gain(k) < target {
		k++
	}
	return min(k, c.Features)
}

// Knee returns the k that maximizes (ψ(k)-C) - (k/m)(ψ(m)-C): there the curve of the bound is farthest above the line
// between its ends. As the bound is concave, it is the last k whose feature gains more than the average feature.
func (c Curve) Knee() int64 {
	average := c.Bound(c.Features) / float64(c.Features)
	bound := func(k int64) float64 {
		if k == 0 {
			return 0
		}
		return c.Bound(k)
	}
	k := sort.Search(int(c.Features), func(k int) bool { return bound(int64(k)+1)-bound(int64(k)) <= average })
	return max(int64(k), 1)
}

// ErrNotBernoulli is the error of a significance test on counts that are not document counts.
var ErrNotBernoulli = errors.New("a false discovery rate needs the Bernoulli model")

// SignificantFeatures returns how many features are significant at a false discovery rate between 0 and 1, by the
// procedure of Benjamini and Hochberg (1995). It may be 0. The test of a feature is the G-test for independence of its
// presence and the class: G = 2z, with z the score of the Bernoulli model without smoothing, has a χ² distribution with
// one degree of freedom. It returns [ErrNotBernoulli] for another model.
func SignificantFeatures(p Problem, rate float64) (int64, error) {
	p.Smoothing = 0
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if p.Model != Bernoulli {
		return 0, fmt.Errorf("solver: %w", ErrNotBernoulli)
	}
	params := parametersBernoulli(p, nil)
	groups := make([]topk.Scored, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = topk.Scored{Score: params.Score(g.Positive, g.Negative), Size: g.Size}
	}
	return topk.Significant(groups, 1, rate), nil
}
