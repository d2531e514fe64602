package solver

import (
	"math"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Parameters determine, with the counts of a feature, its score, θ and weight in the model of a support. The methods take
// counts before smoothing.
type Parameters struct {
	Model     Model
	Smoothing float64

	// SupportPositive and SupportNegative are B⁺ and B⁻, the smoothed counts of all selected features, and Mass is
	// S, those of all features in both classes. They belong to the multinomial model.
	SupportPositive, SupportNegative, Mass float64

	// DocumentsPositive and DocumentsNegative are n₊ and n₋, not smoothed; 0 if unknown.
	DocumentsPositive, DocumentsNegative float64

	// Intercept is the log-odds of a document without any selected feature: log(n₊/n₋), or 0 if documents are not
	// known. The Bernoulli model adds Σ log((1-θ⁺)/(1-θ⁻)) over the selected features.
	Intercept float64
}

// parametersOf returns the parameters of a support. groups are those of the problem, smoothed.
func parametersOf(p Problem, groups []Group, take []int64) Parameters {
	if p.Model == Bernoulli {
		return parametersBernoulli(p, take)
	}
	return parametersMultinomial(p, groups, take)
}

func parametersMultinomial(p Problem, groups []Group, take []int64) Parameters {
	var positive, negative, mass numeric.Accumulator
	for i, g := range groups {
		positive.Add(float64(take[i]) * g.Positive)
		negative.Add(float64(take[i]) * g.Negative)
		mass.Add(float64(g.Size) * (g.Positive + g.Negative))
	}
	params := Parameters{
		Smoothing:         p.Smoothing,
		SupportPositive:   positive.Value(),
		SupportNegative:   negative.Value(),
		Mass:              mass.Value(),
		DocumentsPositive: p.DocumentsPositive,
		DocumentsNegative: p.DocumentsNegative,
	}
	if p.DocumentsPositive > 0 && p.DocumentsNegative > 0 {
		params.Intercept = math.Log(p.DocumentsPositive / p.DocumentsNegative)
	}
	return params
}

// parametersBernoulli returns the parameters of a support; if take is nil, without the intercept.
func parametersBernoulli(p Problem, take []int64) Parameters {
	params := Parameters{
		Model:             Bernoulli,
		Smoothing:         p.Smoothing,
		DocumentsPositive: p.DocumentsPositive,
		DocumentsNegative: p.DocumentsNegative,
	}
	if take == nil {
		return params
	}
	params.Intercept = math.Log(p.DocumentsPositive / p.DocumentsNegative)
	for i, n := range take {
		if n > 0 {
			params.Intercept += float64(n) * params.absence(p.Groups[i].Positive, p.Groups[i].Negative)
		}
	}
	return params
}

// Resolution is the gain in nats below which rounding decides.
func (p Parameters) Resolution() float64 {
	if p.Model == Bernoulli {
		positive, negative := p.smoothedDocuments()
		return numeric.Resolution(positive + negative)
	}
	return numeric.Resolution(p.Mass)
}

// gain is D(J), the sum of the scores of the support. The groups are not smoothed.
func (p Parameters) gain(groups []Group, take []int64) float64 {
	var gain numeric.Accumulator
	for i, n := range take {
		if n > 0 {
			gain.Add(float64(n) * p.Score(groups[i].Positive, groups[i].Negative))
		}
	}
	return gain.Value()
}

// degenerate reports whether a class has no mass in the support. The likelihood does not determine its θ then; θ is the
// pooled value g/S, and the gain is 0 (erratum E16).
func (p Parameters) degenerate() bool { return p.SupportPositive == 0 || p.SupportNegative == 0 }

func (p Parameters) smoothedDocuments() (positive, negative float64) {
	return p.DocumentsPositive + 2*p.Smoothing, p.DocumentsNegative + 2*p.Smoothing
}

// Score is the contribution of a feature to the gain, in nats: h(α_J) for the multinomial model, z for the Bernoulli model.
func (p Parameters) Score(positive, negative float64) float64 {
	a, b := positive+p.Smoothing, negative+p.Smoothing
	if p.Model == Bernoulli {
		np, nn := p.smoothedDocuments()
		alpha, beta := odds(np / nn).shares()
		return divergence(a, b, alpha, beta) + divergence(np-a, nn-b, alpha, beta)
	}
	// A single selected feature gains exactly nothing (erratum E17).
	if p.degenerate() || a == p.SupportPositive && b == p.SupportNegative {
		return 0
	}
	alpha, beta := odds(p.SupportPositive / p.SupportNegative).shares()
	return divergence(a, b, alpha, beta)
}

// Theta returns θ⁺ and θ⁻ of a selected feature: θ± = (B/B±)(f±/S) for the multinomial model (the paper's primal
// solution, erratum E3), θ± = f±/n± for the Bernoulli model (erratum E1).
func (p Parameters) Theta(positive, negative float64) (thetaPositive, thetaNegative float64) {
	a, b := positive+p.Smoothing, negative+p.Smoothing
	if p.Model == Bernoulli {
		np, nn := p.smoothedDocuments()
		return a / np, b / nn
	}
	if p.degenerate() {
		return (a + b) / p.Mass, (a + b) / p.Mass
	}
	total := p.SupportPositive + p.SupportNegative
	return total / p.SupportPositive * a / p.Mass, total / p.SupportNegative * b / p.Mass
}

// Weight is what one occurrence (Bernoulli: the presence) of a selected feature adds to the log-odds of the positive
// class. It is infinite if a count is 0 and there is no smoothing.
func (p Parameters) Weight(positive, negative float64) float64 {
	a, b := positive+p.Smoothing, negative+p.Smoothing
	if p.Model == Bernoulli {
		tp, tn := p.Theta(positive, negative)
		if tp == tn {
			return 0
		}
		return math.Log(tp) - math.Log1p(-tp) - math.Log(tn) + math.Log1p(-tn)
	}
	if p.degenerate() || a == 0 && b == 0 {
		return 0
	}
	return math.Log(a/p.SupportPositive) - math.Log(b/p.SupportNegative)
}

// absence is what the absence of a selected feature adds to the log-odds in the Bernoulli model.
func (p Parameters) absence(positive, negative float64) float64 {
	tp, tn := p.Theta(positive, negative)
	if tp == tn {
		return 0
	}
	return math.Log1p(-tp) - math.Log1p(-tn)
}
