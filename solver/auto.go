package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Curve is what can be gained with k of m features: Bound is ψ(k)-C, Gain the value of the support that is found.
type Curve struct {
	Features    int64 // m
	Bound, Gain func(k int64) float64
}

// Curve returns that of the problem.
func (p Problem) Curve(s Settings) (Curve, error) {
	path, err := newPath(p, nil, s)
	if err != nil {
		return Curve{}, fmt.Errorf("solver: %w", err)
	}
	return Curve{p.features(), path.bound, func(k int64) float64 { return path.solve(k).Gain }}, nil
}

// ForGain returns the smallest k whose support gains at least a share of ψ(m)-C, what all features gain together. No
// support of fewer features reaches it than of those whose bound does, and few more always do.
func (c Curve) ForGain(share float64) int64 {
	target := share * c.Bound(c.Features)
	k := int64(sort.Search(int(c.Features), func(k int) bool { return c.Bound(int64(k)+1) >= target })) + 1
	for k < c.Features && c.Gain(k) < target {
		k++
	}
	return min(k, c.Features)
}

// Knee returns the k that maximises (ψ(k)-C) - (k/m)(ψ(m)-C), where the curve of the bound is farthest above the line
// between its ends. The bound is concave, so that is the last k whose feature gains more than the average one.
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

// SignificantFeatures returns how many features are significant at a false discovery rate by the procedure of Benjamini
// and Hochberg, perhaps none. A feature is tested for the independence of its presence and the class: G = 2z, z the score
// of the Bernoulli model without smoothing, has a χ² distribution with one degree of freedom.
func SignificantFeatures(p Problem, rate float64) (int64, error) {
	p.Smoothing = 0
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if p.Model != Bernoulli {
		return 0, errNotBernoulli
	}
	params := parametersBernoulli(p, nil)
	tested := make([]weighted, len(p.Groups))
	for i, g := range p.Groups {
		tested[i] = weighted{params.Score(g.Positive, g.Negative), g.Size}
	}
	return significant(tested, 1, rate), nil
}

// JointSignificantFeatures is [SignificantFeatures] for C classes: G has C-1 degrees of freedom.
func JointSignificantFeatures(p JointProblem, rate float64) (int64, error) {
	p.Smoothing = 0
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if p.Model != Bernoulli {
		return 0, errNotBernoulli
	}
	presence := newJointPresence(newJointParameters(p, newJointRanking(p), nil))
	tested := make([]weighted, p.Len())
	for i := range tested {
		tested[i] = weighted{presence.score(p.entries(i)), p.size[i]}
	}
	return significant(tested, p.Classes()-1, rate), nil
}

var errNotBernoulli = fmt.Errorf("solver: a false discovery rate is of the Bernoulli model")

// significant returns the largest k for which the k-th smallest P(χ² ≥ 2·score) is at most rate·k/m.
func significant(tested []weighted, freedom int, rate float64) (k int64) {
	slices.SortFunc(tested, func(a, b weighted) int { return cmp.Compare(b.score, a.score) })
	var m, seen int64
	for _, t := range tested {
		m += t.size
	}
	for _, t := range tested {
		seen += t.size
		if chiSquareTail(t.score, freedom) <= float64(seen)/float64(m)*rate {
			k = seen
		}
	}
	return k
}

// chiSquareTail is P(χ² ≥ 2z).
func chiSquareTail(z float64, freedom int) float64 {
	if freedom == 0 { // one class tells nothing
		return 1
	}
	if freedom == 1 {
		return math.Erfc(math.Sqrt(z)) // to full relative precision
	}
	return mathext.GammaIncRegComp(float64(freedom)/2, z)
}
