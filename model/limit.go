package model

import (
	"errors"
	"math"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// hasLimits reports whether the weights of a model can be computed as limits. With --model=bernoulli and a classifier of
// occurrences, features.parquet has no occurrences.
func hasLimits(row modelio.ModelRow) bool {
	if row.Smoothing > 0 {
		return false
	}
	switch classifierOf(row) {
	case modelio.BernoulliNB:
		return true
	case modelio.MultinomialNB, modelio.ComplementNB:
		return modelio.DefaultClassifier(row.Model) == modelio.MultinomialNB
	}
	return false
}

// limits returns the intercepts and the weights of a naive Bayes model with smoothing 0, where published ones may be infinite
// or NaN, as the limits of those with a smoothing ε that goes to 0. They are computed from the counts:
//
//	mnb, cnb: θ = (f+ε)/(B+kε), with B the counts of the k features; for cnb, those of the other classes
//	bnb:      θ = (f+ε)/(n+2ε), with n documents
//
// As ε → 0, log θ is log(f/B), or -Λ - log B if f is 0, or -log k if B is 0, too; see score. Those of a joint model are not
// relative to a common θ, as published ones are, which is the same for all classes.
func limits(rows []modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score, err error) {
	sides, err := sidesOf(rows, features)
	if err != nil {
		return nil, nil, err
	}
	for side := range sides {
		sides[side].addLogs(classifierOf(rows[0]))
	}
	if len(rows) > 1 {
		for i := range features {
			weights = append(weights, sides[i%len(rows)].logs[i/len(rows)])
		}
		for _, s := range sides {
			intercepts = append(intercepts, s.prior.plus(s.absence))
		}
	} else {
		for i := range features {
			weights = append(weights, sides[0].logs[i].minus(sides[1].logs[i]))
		}
		intercepts = []score{sides[0].prior.minus(sides[1].prior).plus(sides[0].absence.minus(sides[1].absence))}
	}
	for _, list := range [][]score{intercepts, weights} {
		for _, s := range list {
			if math.IsNaN(s.order) || math.IsNaN(s.finite) || math.IsInf(s.finite, 0) {
				return nil, nil, errors.New("its counts are not valid")
			}
		}
	}
	return intercepts, weights, nil
}

// side is a class of a joint model, or one of two sides.
type side struct {
	counts    []float64 // by feature
	documents float64   // for bnb
	prior     score     // log-odds, or the logarithm of a probability
	absence   score     // bnb: the sum of log(1-θ)
	logs      []score   // by feature: log θ, -log θ for cnb, or log(θ/(1-θ)) for bnb
}

func sidesOf(rows []modelio.ModelRow, features []modelio.FeatureRow) (sides []side, err error) {
	classifier := classifierOf(rows[0])
	n, joint := max(2, len(rows)), len(rows) > 1
	sides = make([]side, n)
	for i, f := range features {
		positive, negative := f.CountPositive, f.CountNegative
		if classifier == modelio.BernoulliNB && modelio.DefaultClassifier(rows[0].Model) != classifier {
			if f.DocumentsPositive == nil || f.DocumentsNegative == nil {
				return nil, errors.New("has no numbers of documents, which the classifier bnb needs")
			}
			positive, negative = float64(*f.DocumentsPositive), float64(*f.DocumentsNegative)
		}
		if classifier == modelio.ComplementNB {
			positive, negative = negative, positive
		}
		first := &sides[0]
		if joint {
			first = &sides[i%n]
		} else {
			sides[1].counts = append(sides[1].counts, negative)
		}
		first.counts = append(first.counts, positive)
	}
	for c, row := range rows {
		sides[c].prior = scoreOf(row.Intercept)
		if classifier != modelio.BernoulliNB {
			continue
		}
		if row.DocsPositive == nil || row.DocsNegative == nil {
			return nil, errors.New("has no numbers of documents, which the classifier bnb needs")
		}
		sides[c].documents = float64(*row.DocsPositive)
		all := sides[c].documents + float64(*row.DocsNegative)
		sides[c].prior = scoreOf(math.Log(sides[c].documents / all))
		if !joint {
			sides[1].documents = float64(*row.DocsNegative)
			sides[1].prior = scoreOf(math.Log(sides[1].documents / all))
		}
	}
	return sides, nil
}

// addLogs computes what a feature adds.
func (s *side) addLogs(classifier string) {
	k, whole := float64(len(s.counts)), sum(s.counts)
	for _, f := range s.counts {
		switch classifier {
		case modelio.BernoulliNB:
			absent := logShare(s.documents-f, s.documents, 2)
			s.absence = s.absence.plus(absent)
			s.logs = append(s.logs, logShare(f, s.documents, 2).minus(absent))
		case modelio.ComplementNB:
			s.logs = append(s.logs, logShare(f, whole, k).negative())
		default:
			s.logs = append(s.logs, logShare(f, whole, k))
		}
	}
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

func sum(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
