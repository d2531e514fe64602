package model

import (
	"errors"
	"math"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// limits returns the intercepts and the weights of a naive Bayes model with smoothing 0, where published ones may be infinite
// or NaN, as the limits of those with a smoothing that goes to 0. They are computed from the counts:
//
//	multinomial: θ = (f+ε)/(B+kε), with B the counts of the k features
//	bernoulli:   θ = (f+ε)/(n+2ε), with n documents
//
// As ε → 0, log θ is log(f/B), or -Λ - log B if f is 0, or -log k if B is 0, too.
func limits(rows []modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score, err error) {
	switch {
	case rows[0].Model != bernoulli && len(rows) == 1:
		intercepts, weights = multinomialLimits(rows[0], features)
	case rows[0].Model != bernoulli:
		intercepts, weights = jointMultinomialLimits(rows, features)
	default:
		for _, row := range rows {
			if row.DocsPositive == nil || row.DocsNegative == nil {
				return nil, nil, errors.New("a Bernoulli model needs the numbers of documents")
			}
		}
		if len(rows) == 1 {
			intercepts, weights = bernoulliLimits(rows[0], features)
		} else {
			intercepts, weights = jointBernoulliLimits(rows, features)
		}
	}
	for _, list := range [][]score{intercepts, weights} {
		for _, s := range list {
			if math.IsNaN(s.order) || math.IsNaN(s.finite) || math.IsInf(s.finite, 0) {
				return nil, nil, errors.New("the counts are not valid")
			}
		}
	}
	return intercepts, weights, nil
}

// logShare is the limit of log((part+ε)/(whole+nε)), where the n parts add up to the whole.
func logShare(part, whole, n float64) score {
	switch {
	case whole == 0:
		return score{0, -math.Log(n)}
	case part == 0:
		return score{-1, -math.Log(whole)}
	}
	return score{0, math.Log(part / whole)}
}

func multinomialLimits(row modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score) {
	var positive, negative float64
	for _, f := range features {
		positive, negative = positive+f.CountPositive, negative+f.CountNegative
	}
	k := float64(len(features))
	for _, f := range features {
		weights = append(weights, logShare(f.CountPositive, positive, k).minus(logShare(f.CountNegative, negative, k)))
	}
	return []score{scoreOf(row.Intercept)}, weights
}

// jointMultinomialLimits subtracts the same from the weights of a feature in all classes as the published weights do.
func jointMultinomialLimits(rows []modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score) {
	support := make([]float64, len(rows))
	for i, f := range features {
		support[i%len(rows)] += f.CountPositive
	}
	k, total := float64(len(features)/len(rows)), sum(support)
	for i, f := range features {
		w := logShare(f.CountPositive, support[i%len(rows)], k)
		if g := f.CountPositive + f.CountNegative; g > 0 {
			w.finite -= math.Log(g / total)
		}
		weights = append(weights, w)
	}
	for _, row := range rows {
		intercepts = append(intercepts, scoreOf(row.Intercept))
	}
	return intercepts, weights
}

// logPresence is the limit of the logarithms of θ and 1-θ.
func logPresence(documents, all float64) (present, absent score) {
	return logShare(documents, all, 2), logShare(all-documents, all, 2)
}

func bernoulliLimits(row modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score) {
	positive, negative := float64(*row.DocsPositive), float64(*row.DocsNegative)
	intercept := scoreOf(math.Log(positive)).minus(scoreOf(math.Log(negative)))
	for _, f := range features {
		present, absent := logPresence(f.CountPositive, positive)
		presentNegative, absentNegative := logPresence(f.CountNegative, negative)
		absence := absent.minus(absentNegative)
		intercept = intercept.plus(absence)
		weights = append(weights, present.minus(presentNegative).minus(absence))
	}
	return []score{intercept}, weights
}

// jointBernoulliLimits subtracts the same as the published weights do.
func jointBernoulliLimits(rows []modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score) {
	documents := make([]float64, len(rows))
	for c, row := range rows {
		documents[c] = float64(*row.DocsPositive)
	}
	n := sum(documents)
	for _, d := range documents {
		intercepts = append(intercepts, scoreOf(math.Log(d)).minus(score{0, math.Log(n)}))
	}
	for i, f := range features {
		c := i % len(rows)
		present, absent := logPresence(f.CountPositive, documents[c])
		if g := f.CountPositive + f.CountNegative; g > 0 && g < n {
			present.finite, absent.finite = present.finite-math.Log(g/n), absent.finite-math.Log((n-g)/n)
		}
		intercepts[c] = intercepts[c].plus(absent)
		weights = append(weights, present.minus(absent))
	}
	return intercepts, weights
}

func sum(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
