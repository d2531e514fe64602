package solver

import (
	"fmt"
	"math"
)

// Solve selects Problem.K features. It returns an error for a problem that has no answer; a limit that ended the search
// early is not an error but shows in [Result.Status] and [Result.Certificate].
func Solve(p Problem, s Settings) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, fmt.Errorf("solver: %w", err)
	}
	p.K = min(p.K, p.features())
	s = s.withDefaults()
	solve := solveMultinomial
	if p.Model == Bernoulli {
		solve = solveBernoulli
	}
	r := solve(p, s)
	if err := r.check(); err != nil {
		return Result{}, fmt.Errorf("solver: %w", err)
	}
	return r, nil
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

// Path solves the problem for every k of ks, in their order; Problem.K is ignored.
func Path(p Problem, ks []int64, s Settings) ([]Result, error) {
	results := make([]Result, len(ks))
	for i, k := range ks {
		p.K = k
		r, err := Solve(p, s)
		if err != nil {
			return nil, err
		}
		results[i] = r
	}
	return results, nil
}

func solveMultinomial(p Problem, s Settings) Result {
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
	r := newRanking(groups)
	start := odds(positive.value() / negative.value())
	result := Result{K: p.K, Base: baseMultinomial(groups), Odds: float64(start), Certificate: Optimal, Status: Closed}
	result.Alpha, _ = start.shares()

	switch {
	case p.K == 0:
		result.Take = make([]int64, len(groups))
	case positive.value() == 0 || negative.value() == 0, p.K >= present:
		// With mass in one class only every gain is 0, and more features than there are never gain less.
		result.Take = r.take(r.at(start, p.K))
	default:
		d := minimise(r, p.K, start, s)
		result.Status, result.Evaluations = d.status, d.evaluations
		result.UpperBound, result.Odds = d.upper, float64(d.best)
		result.Alpha, _ = d.best.shares()
		if p.K == 1 {
			// One feature gains nothing, whichever it is: 1ᵀθ⁺ = 1ᵀθ⁻ leaves it no room (erratum E17).
			result.Take = r.take(r.at(d.best, 1))
			break
		}
		best, proven, nodes := primal(r, p.K, d, s)
		result.Take, result.Nodes = best.take, nodes
		if !proven {
			result.Certificate = Bounded
		}
	}

	result.Parameters = parametersMultinomial(p, groups, result.Take)
	result.Gain = result.Parameters.gain(p.Groups, result.Take)
	result.UpperBound = max(result.UpperBound, result.Gain)
	result.Gap = result.UpperBound - result.Gain
	return result
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

// solveBernoulli takes the k largest scores z_i = w_i - v_i = h(f⁺, f⁻; n₊/n) + h(n₊-f⁺, n₋-f⁻; n₊/n), n times the
// mutual information of a feature's presence and the class (Theorem 1 of the paper; errata E1, E2 and fact S6).
func solveBernoulli(p Problem, _ Settings) Result {
	groups := smoothed(p)
	params := parametersBernoulli(p, nil)
	r := newRanking(groups)
	for i, g := range p.Groups {
		r.scores[i] = params.Score(g.Positive, g.Negative)
	}
	np, nn := params.smoothedDocuments()
	o := odds(np / nn)
	alpha, _ := o.shares()
	result := Result{K: p.K, Base: baseBernoulli(p, groups), Take: make([]int64, len(groups)), Certificate: Optimal, Status: Closed,
		Alpha: alpha, Odds: float64(o)}
	if p.K > 0 {
		t := r.top(p.K)
		result.Take, result.Gain, result.UpperBound = r.take(t), t.value, t.value
	}
	result.Parameters = parametersBernoulli(p, result.Take)
	return result
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
