package solver

import (
	"fmt"
	"math"
)

// JointResult is a support for all classes and what is known of it.
type JointResult struct {
	// K is the number of features selected: JointProblem.K, or all features if there are fewer.
	K int64

	// Take[i] is how many features of vector i the support has; they sum to K.
	Take []int64

	// Base is C₀ = φ(0), the log-likelihood with no feature selected.
	Base float64

	// UpperBound is ψ(k)-C₀, Gain the value D(J) of the support, and Gap their difference, never negative.
	UpperBound, Gain, Gap float64

	Certificate Certificate
	Status      Status

	// Alpha are the shares at which UpperBound was evaluated: [JointBound] finds it there again. The Bernoulli model
	// scores at n_c/n.
	Alpha []float64

	// Evaluations counts the evaluations of s_k(h(α)), Nodes the steps of the enumeration.
	Evaluations, Nodes int

	// Parameters gives the score, the θ and the weights of a feature of the support.
	Parameters JointParameters
}

// Joint selects one set of JointProblem.K features for all classes. With f_ic the counts of feature i, g_i = Σ_c f_ic,
// S = Σ_i g_i, and for a support J the masses B_c = Σ_J f_ic, |B| = Σ_c B_c, features outside J have θ_i = g_i/S in all
// classes, and the best model with support J gains
//
//	D(J) = Σ_{i∈J,c} f_ic log(f_ic|B| / (g_i B_c)) = min_α Σ_J h_i(α),   h_i(α) = g_i·KL(f_i/g_i ‖ α)
//
// with α in the simplex of classes. So φ(k) - C₀ = max_J D(J) is bounded by ψ(k) - C₀ = min_α s_k(h(α)), which is
// convex. At its minimiser no more than C features need be split, and rounding them up adds C-1 at most, so that
// ψ(k-C+1) ≤ φ(k) ≤ ψ(k). For two classes this is the problem of [Solve], and these are the bounds of docs/method.md;
// for more it is not in the paper.
//
// It returns an error for a problem that has no answer; a limit that ended the search early is not an error but shows
// in [JointResult.Status] and [JointResult.Certificate].
func Joint(p JointProblem, s Settings) (JointResult, error) {
	if err := p.Validate(); err != nil {
		return JointResult{}, fmt.Errorf("solver: %w", err)
	}
	p.K = min(p.K, p.Features())
	var r JointResult
	if p.Model == Bernoulli {
		r = solveJointBernoulli(p)
	} else {
		r = solveJointMultinomial(p, s.withDefaults())
	}
	if err := r.check(); err != nil {
		return JointResult{}, fmt.Errorf("solver: %w", err)
	}
	return r, nil
}

// check holds a result against what any result is. Rounding may not turn into a certificate.
func (r JointResult) check() error {
	var size int64
	for _, n := range r.Take {
		size += n
	}
	if size != r.K || !(r.Gain >= 0 && r.Gain <= r.UpperBound && r.UpperBound <= math.MaxFloat64) {
		return fmt.Errorf("these counts are beyond what double precision can tell apart (a support of %d for k = %d, gain %v, bound %v)", size, r.K, r.Gain, r.UpperBound)
	}
	return nil
}

func solveJointMultinomial(p JointProblem, s Settings) JointResult {
	r := newJointRanking(p)
	masses, present := r.massOf(p.size), int64(0)
	for i, g := range r.mass {
		if g > 0 {
			present += p.size[i]
		}
	}
	start := sharesOf(masses)
	result := JointResult{K: p.K, Base: baseJoint(r, total(masses)), Alpha: start.Alpha, Certificate: Optimal, Status: Closed}

	switch {
	case p.K == 0:
		result.Take = make([]int64, p.Len())
	case classesWithMass(masses) == 1, p.K >= present:
		// With mass in one class only every gain is 0, and more features than there are never gain less.
		result.Take = r.take(r.at(&start, p.K))
	default:
		d := minimiseJoint(r, p.K, start, s)
		result.Status, result.Evaluations = d.status, d.evaluations
		result.UpperBound, result.Alpha = d.upper, d.best.Alpha
		if p.K == 1 || s.boundOnly {
			// One feature gains nothing, whichever it is: Σθ_c is the same for all classes (erratum E17). It is the one
			// that would gain most if the others kept the shares of all counts.
			result.Take = r.take(r.at(&start, 1))
			break
		}
		best, proven, nodes := jointPrimal(r, p.K, d, s)
		result.Take, result.Nodes = best.take, nodes
		if !proven {
			result.Certificate = Bounded
		}
	}

	result.Parameters = newJointParameters(p, r, result.Take)
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
func (p JointParameters) gain(problem JointProblem, take []int64) float64 {
	score := p.Score
	if p.Model == Bernoulli {
		score = newJointPresence(p).score
	}
	var gain sum
	for i, n := range take {
		if n > 0 {
			gain.add(float64(n) * score(problem.entries(i)))
		}
	}
	return gain.value()
}

// baseJoint is C₀ = Σ g log(g/S).
func baseJoint(r *jointRanking, mass float64) float64 {
	var base sum
	for i, g := range r.mass {
		switch size := float64(r.vectors.size[i]); {
		case g > mass/2:
			// A feature with nearly all of the mass: what the others have, and not 1 - g/S, which loses it.
			base.add(size * g * math.Log1p(-r.massWithout(i)/mass))
		case g > 0:
			base.add(size * g * math.Log(g/mass))
		}
	}
	return base.value()
}

// massWithout is the mass of all vectors but one, of which there is a single feature.
func (r *jointRanking) massWithout(i int) float64 {
	var rest sum
	for j, g := range r.mass {
		if j != i {
			rest.add(float64(r.vectors.size[j]) * g)
		}
	}
	return rest.value()
}
