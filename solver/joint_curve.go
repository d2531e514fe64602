package solver

import "fmt"

// JointBounds returns ψ(k)-C₀ for every k of ks, as [Bounds] does for two classes.
func JointBounds(p JointProblem, ks []int64, s Settings) ([]float64, error) {
	p.K = 0
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("solver: %w", err)
	}
	bounds := make([]float64, len(ks))
	for i, k := range ks {
		bounds[i] = jointBound(p, max(0, min(k, p.Features())), s)
	}
	return bounds, nil
}

// jointBound is ψ(k)-C₀ of a valid problem.
func jointBound(p JointProblem, k int64, s Settings) float64 {
	p.K = k
	if p.Model == Bernoulli {
		return solveJointBernoulli(p).UpperBound
	}
	s = s.withDefaults()
	s.boundOnly = true
	return solveJointMultinomial(p, s).UpperBound
}

// Curve returns that of the problem.
func (p JointProblem) Curve(s Settings) (Curve, error) {
	if err := p.Validate(); err != nil {
		return Curve{}, fmt.Errorf("solver: %w", err)
	}
	gain := func(k int64) float64 {
		p.K = k
		if p.Model == Bernoulli {
			return solveJointBernoulli(p).Gain
		}
		return solveJointMultinomial(p, s.withDefaults()).Gain
	}
	return Curve{p.Features(), func(k int64) float64 { return jointBound(p, k, s) }, gain}, nil
}
