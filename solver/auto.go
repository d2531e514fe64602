package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// KForGain returns the smallest k whose support gains at least a share of ψ(m)-C, what all features gain together.
// No support of fewer features reaches it where the bound does not, and of more it does: ψ(k-1) ≤ φ(k) ≤ ψ(k).
func KForGain(p Problem, share float64, s Settings) (int64, error) {
	path, err := newPath(p, nil, s)
	if err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	m := p.features()
	target := share * path.bound(m)
	k := int64(sort.Search(int(m), func(k int) bool { return path.bound(int64(k)+1) >= target })) + 1
	for k < m && path.solve(k).Gain < target {
		k++
	}
	return min(k, m), nil
}

// KAtElbow returns the k that maximises (ψ(k)-C) - (k/m)(ψ(m)-C), where the curve of the bound is farthest above the line
// between its ends. The bound is concave, so that is the last k whose feature gains more than the average one.
func KAtElbow(p Problem, s Settings) (int64, error) {
	path, err := newPath(p, nil, s)
	if err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	m := p.features()
	average := path.bound(m) / float64(m)
	bound := func(k int64) float64 {
		if k == 0 {
			return 0
		}
		return path.bound(k)
	}
	k := sort.Search(int(m), func(k int) bool { return bound(int64(k)+1)-bound(int64(k)) <= average })
	return max(int64(k), 1), nil
}

// KByFDR returns how many features are significant at a false discovery rate by the procedure of Benjamini and Hochberg,
// perhaps none. A feature is tested for the independence of its presence and the class: G = 2z, z the score of the
// Bernoulli model without smoothing, has a χ² distribution with one degree of freedom.
func KByFDR(p Problem, rate float64) (int64, error) {
	p.Smoothing = 0
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("solver: %w", err)
	}
	if p.Model != Bernoulli {
		return 0, fmt.Errorf("solver: a false discovery rate is of the Bernoulli model")
	}
	params := parametersBernoulli(p, nil)
	tested := make([]weighted, len(p.Groups))
	for i, g := range p.Groups {
		tested[i] = weighted{params.Score(g.Positive, g.Negative), g.Size}
	}
	slices.SortFunc(tested, func(a, b weighted) int { return cmp.Compare(b.score, a.score) })
	m := float64(p.features())
	var k, seen int64
	for _, t := range tested {
		seen += t.size
		// G/2 = z, and P(χ² ≥ G) with one degree of freedom is erfc(√(G/2)).
		if math.Erfc(math.Sqrt(t.score)) <= float64(seen)/m*rate {
			k = seen
		}
	}
	return k, nil
}
