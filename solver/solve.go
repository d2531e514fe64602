package solver

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Solve selects Problem.K features. It returns an error for a problem that has no answer. A limit that stops the search
// early is not an error: see Status and Certificate of [Outcome].
func Solve(p Problem, s Settings) (Result, error) {
	path, err := newPath(p, []int64{p.K}, s)
	if err != nil {
		return Result{}, fmt.Errorf("solver: %w", err)
	}
	return checked(path.solve(min(p.K, p.features())))
}

// Path solves the problem for every k of ks, in ascending order; Problem.K is ignored. It computes once what does not
// depend on k, and starts each search where the previous one ended. A path ends with the first error.
func Path(p Problem, ks []int64, s Settings) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ks := slices.Sorted(slices.Values(ks))
		path, err := newPath(p, ks, s)
		if err != nil {
			yield(Result{}, fmt.Errorf("solver: %w", err))
			return
		}
		m := p.features()
		for _, k := range ks {
			r, err := checked(path.solve(min(k, m)))
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Bounds returns ψ(k)-C in nats for every k of ks, in their order; it is 0 for a k below 1. It takes at most a third of the
// time of [Path], because it searches no support.
func Bounds(p Problem, ks []int64, s Settings) ([]float64, error) {
	path, err := newPath(p, nil, s)
	if err != nil {
		return nil, fmt.Errorf("solver: %w", err)
	}
	m := p.features()
	bounds := map[int64]float64{}
	for _, k := range slices.Sorted(slices.Values(ks)) {
		if k > 0 {
			bounds[k] = path.bound(min(k, m))
		}
	}
	list := make([]float64, len(ks))
	for i, k := range ks {
		list[i] = bounds[k]
	}
	return list, nil
}

// path solves a problem for several k, fastest in ascending order.
type path interface {
	solve(k int64) Result
	bound(k int64) float64
}

func newPath(p Problem, ks []int64, s Settings) (path, error) {
	p.K = 0
	if len(ks) > 0 {
		p.K = slices.Min(ks)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	ranks := p.Statistic()
	s.boundOnly = ranks != nil
	var exact path
	if p.Model == Bernoulli {
		exact = newBernoulli(p)
	} else {
		exact = newMultinomial(p, s)
	}
	if ranks != nil {
		return newHeuristic(p, exact, *ranks), nil
	}
	return exact, nil
}

func checked(r Result) (Result, error) {
	if err := r.Check(); err != nil {
		return Result{}, fmt.Errorf("solver: %w", err)
	}
	if math.IsNaN(r.Odds) {
		return Result{}, fmt.Errorf("solver: these counts exceed double precision (k = %d, α is not a number)", r.K)
	}
	return r, nil
}

// smoothed returns the groups with smoothing added to their counts.
func smoothed(p Problem) []Group {
	groups := make([]Group, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = Group{g.Positive + p.Smoothing, g.Negative + p.Smoothing, g.Size}
	}
	return groups
}
