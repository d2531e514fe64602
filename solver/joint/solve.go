package joint

import (
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Result is the answer to a [Problem].
type Result struct {
	solver.Outcome

	// Alpha are the shares of the classes at which UpperBound was evaluated; [Bound] evaluates it there again. The
	// Bernoulli model has α_c = n_c/n.
	Alpha []float64

	// Parameters gives the score, the θ and the weights of a feature of the support.
	Parameters Parameters
}

// Solve selects Problem.K features for all classes. It returns an error for a problem that has no answer. A limit that
// stops the search early is not an error: see Status and Certificate of [solver.Outcome].
func Solve(p Problem, s solver.Settings) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, fmt.Errorf("joint: %w", err)
	}
	r := solve(p, min(p.K, p.Features()), s, false)
	if err := r.Check(); err != nil {
		return Result{}, fmt.Errorf("joint: %w", err)
	}
	return r, nil
}

// solve selects k features of a valid problem. With boundOnly it searches no support, and the result has an arbitrary one.
func solve(p Problem, k int64, s solver.Settings, boundOnly bool) Result {
	if p.K = k; p.Model == solver.Bernoulli {
		return solveBernoulli(p)
	}
	return solveMultinomial(p, s.WithDefaults(), boundOnly)
}

func solveMultinomial(p Problem, s solver.Settings, boundOnly bool) Result {
	r := newRanking(p)
	masses, present := r.masses(), int64(0)
	for i, g := range r.mass {
		if g > 0 {
			present += p.Size(i)
		}
	}
	start := sharesOf(masses)
	outcome := solver.Outcome{K: p.K, Base: baseMultinomial(r, numeric.Total(masses)), Certificate: solver.Optimal, Status: solver.Closed}
	result := Result{Outcome: outcome, Alpha: start.Alpha}

	switch {
	case p.K == 0:
		result.Take = make([]int64, p.Len())
	case classesWithMass(masses) == 1, p.K >= present:
		// If only one class has mass, every gain is 0, and all features never gain less than some.
		result.Take = r.take(r.at(&start, p.K))
	default:
		d := minimize(r, p.K, start, s)
		result.Status, result.Evaluations = d.status, d.evaluations
		result.UpperBound, result.Alpha = d.upper, d.best.Alpha
		if p.K == 1 || boundOnly {
			// No single feature gains anything, because Σθ_c is the same for all classes (erratum E17). The convention is the
			// feature with the largest score at the shares of all counts. With boundOnly it is a placeholder.
			result.Take = r.take(r.at(&start, 1))
			break
		}
		best, proven, nodes := primal(r, p.K, d, s)
		result.Take, result.Nodes = best.take, nodes
		if !proven {
			result.Certificate = solver.Bounded
		}
	}

	result.Parameters = newParameters(p, r, result.Take)
	result.Gain = result.Parameters.gain(p, result.Take)
	result.UpperBound = max(result.UpperBound, result.Gain)
	result.Gap = result.UpperBound - result.Gain
	return result
}

func classesWithMass(masses []float64) int {
	n := 0
	for _, b := range masses {
		if b > 0 {
			n++
		}
	}
	return n
}

// gain is the sum of the scores of the support.
func (p Parameters) gain(problem Problem, take []int64) float64 {
	score := p.Score
	if p.Model == solver.Bernoulli {
		score = newPresence(p).score
	}
	var gain numeric.Accumulator
	for i, n := range take {
		if n > 0 {
			gain.Add(float64(n) * score(problem.Entries(i)))
		}
	}
	return gain.Value()
}

// baseMultinomial is C = Σ g log(g/S).
func baseMultinomial(r *ranking, mass float64) float64 {
	var base numeric.Accumulator
	for i, g := range r.mass {
		switch size := float64(r.vectors.Size(i)); {
		case g > mass/2:
			// 1 - g/S would lose the mass of the other features.
			base.Add(size * g * math.Log1p(-r.massWithout(i)/mass))
		case g > 0:
			base.Add(size * g * math.Log(g/mass))
		}
	}
	return base.Value()
}

// massWithout is the mass of all vectors but i, which has a single feature.
func (r *ranking) massWithout(i int) float64 {
	var rest numeric.Accumulator
	for j, g := range r.mass {
		if j != i {
			rest.Add(float64(r.vectors.Size(j)) * g)
		}
	}
	return rest.Value()
}
