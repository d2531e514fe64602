package solver

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Solve selects Problem.K features. It returns an error for a problem that has no answer; a limit that ended the search
// early is not an error but shows in [Result.Status] and [Result.Certificate].
func Solve(p Problem, s Settings) (Result, error) {
	for r, err := range Path(p, []int64{p.K}, s) {
		return r, err
	}
	panic("solver: a path of one k has no result")
}

// Path solves the problem for every k of ks, in ascending order; Problem.K is ignored. What does not depend on k is
// computed once, and each search starts where the one before has ended. A path ends with the first error.
func Path(p Problem, ks []int64, s Settings) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ks := slices.Sorted(slices.Values(ks))
		if len(ks) > 0 {
			p.K = ks[0]
		}
		if err := p.Validate(); err != nil {
			yield(Result{}, fmt.Errorf("solver: %w", err))
			return
		}
		solve := pathMultinomial(p, s.withDefaults())
		if p.Model == Bernoulli {
			solve = pathBernoulli(p)
		}
		m := p.features()
		for _, k := range ks {
			r := solve(min(k, m))
			if err := r.check(); err != nil {
				yield(Result{}, fmt.Errorf("solver: %w", err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// check holds a result against what any result is. Rounding may not turn into a certificate.
func (r Result) check() error {
	var size int64
	for _, n := range r.Take {
		size += n
	}
	if size != r.K || !(r.Gain >= 0 && r.Gain <= r.UpperBound && r.UpperBound <= math.MaxFloat64) || math.IsNaN(r.Odds) {
		return fmt.Errorf("these counts are beyond what double precision can tell apart (a support of %d for k = %d, gain %v, bound %v)", size, r.K, r.Gain, r.UpperBound)
	}
	return nil
}

// pathMultinomial returns what solves the problem for one k after the other.
func pathMultinomial(p Problem, s Settings) func(k int64) Result {
	groups := smoothed(p)
	var positive, negative sum
	var present int64 // features with mass
	for _, g := range groups {
		positive.add(float64(g.Size) * g.Positive)
		negative.add(float64(g.Size) * g.Negative)
		if g.Positive+g.Negative > 0 {
			present += g.Size
		}
	}
	share := odds(positive.value() / negative.value()) // of the positive class in all counts
	base := baseMultinomial(groups)
	all := newRanking(groups, s)
	start := share
	return func(k int64) Result {
		r := Result{K: k, Base: base, Odds: float64(share), Certificate: Optimal, Status: Closed}
		switch {
		case k == 0:
			r.Take = make([]int64, len(groups))
		case positive.value() == 0 || negative.value() == 0, k >= present:
			// With mass in one class only every gain is 0, and more features than there are never gain less.
			r.Take = all.take(all.at(share, k))
		default:
			d := minimise(all, k, start, s)
			start = d.best
			r.Status, r.Evaluations, r.Passes = d.status, d.evaluations, d.passes
			r.UpperBound, r.Odds = d.upper, float64(d.best)
			if k == 1 {
				// One feature gains nothing, whichever it is: 1ᵀθ⁺ = 1ᵀθ⁻ leaves it no room (erratum E17).
				r.Take = all.take(all.at(d.best, 1))
				break
			}
			var proven bool
			r.Take, proven, r.Nodes = primal(all, d, s)
			if !proven {
				r.Certificate = Bounded
			}
		}
		r.Alpha, _ = odds(r.Odds).shares()
		r.Parameters = parametersMultinomial(p, groups, r.Take)
		r.Gain = r.Parameters.gain(p.Groups, r.Take)
		r.UpperBound = max(r.UpperBound, r.Gain)
		r.Gap = r.UpperBound - r.Gain
		return r
	}
}

// smoothed returns the groups with smoothing added to their counts.
func smoothed(p Problem) []Group {
	groups := make([]Group, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = Group{g.Positive + p.Smoothing, g.Negative + p.Smoothing, g.Size}
	}
	return groups
}

// baseMultinomial is C = Σ g log g - S log S with g = f⁺+f⁻ and S = Σ g: the paper's φ(0).
func baseMultinomial(groups []Group) float64 {
	var mass sum
	for _, g := range groups {
		mass.add(float64(g.Size) * (g.Positive + g.Negative))
	}
	// Σ g log(g/S) has no difference of large numbers. A feature with nearly all of the mass needs S to more than
	// double precision: its g is huge and its logarithm tiny.
	total := mass.value()
	var base sum
	for _, g := range groups {
		t := g.Positive + g.Negative
		if t == 0 {
			continue
		}
		log := math.Log(t / total)
		if t > total/2 {
			log = math.Log1p((t - mass.total - mass.carry) / total)
		}
		base.add(float64(g.Size) * t * log)
	}
	return base.value()
}

// pathBernoulli returns what takes the k largest scores z_i = w_i - v_i = h(f⁺, f⁻; n₊/n) + h(n₊-f⁺, n₋-f⁻; n₊/n), n times
// the mutual information of a feature's presence and the class (Theorem 1 of the paper; errata E1, E2 and fact S6).
func pathBernoulli(p Problem) func(k int64) Result {
	groups := smoothed(p)
	base := baseBernoulli(p, groups)
	params := parametersBernoulli(p, nil)
	all := newRanking(groups, Settings{})
	all.scores = all.buffer()
	for i, g := range p.Groups {
		all.scores[i] = params.Score(g.Positive, g.Negative)
	}
	np, nn := params.smoothedDocuments()
	o := odds(np / nn)
	alpha, _ := o.shares()
	return func(k int64) Result {
		r := Result{K: k, Base: base, Take: make([]int64, len(groups)), Certificate: Optimal, Status: Closed, Alpha: alpha, Odds: float64(o)}
		if k > 0 {
			t := all.top(k)
			r.Take, r.Gain, r.UpperBound = all.take(t), t.value, t.value
		}
		r.Parameters = parametersBernoulli(p, r.Take)
		return r
	}
}

// baseBernoulli is 1ᵀv, the log-likelihood of all features with θ⁺ = θ⁻.
func baseBernoulli(p Problem, groups []Group) float64 {
	n := p.DocumentsPositive + p.DocumentsNegative + 4*p.Smoothing
	var base sum
	for _, g := range groups {
		f := g.Positive + g.Negative
		base.add(float64(g.Size) * (xlogy(f, f/n) + xlogy(n-f, (n-f)/n)))
	}
	return base.value()
}

// xlogy is x log y with 0·log 0 = 0.
func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}
