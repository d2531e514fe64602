package model

import (
	"cmp"
	"math"
)

// score is order·Λ + finite with Λ → ∞: the limit of a log-odds or a log-probability as the smoothing goes to 0, where Λ is
// the negative logarithm of the smoothing. With smoothing, order is 0. It is infinite for a class without documents, whatever
// the smoothing.
type score struct{ order, finite float64 }

// scoreOf returns the score of a number that is not NaN.
func scoreOf(x float64) score {
	if math.IsInf(x, 0) {
		return score{x, 0}
	}
	return score{0, x}
}

func (s score) plus(o score) score { return score{s.order + o.order, s.finite + o.finite} }

func (s score) minus(o score) score { return s.plus(o.negative()) }

func (s score) negative() score { return score{-s.order, -s.finite} }

func (s score) times(x float64) score { return score{s.order * x, s.finite * x} }

func (s score) compare(o score) int {
	return cmp.Or(cmp.Compare(s.order, o.order), cmp.Compare(s.finite, o.finite))
}

// float returns the limit, which may be infinite.
func (s score) float() float64 {
	if s.order != 0 {
		return math.Copysign(math.Inf(1), s.order)
	}
	return s.finite
}

// logSigmoid returns the logarithm of the probability of the class with these log-odds.
func (s score) logSigmoid() score {
	switch {
	case s.order > 0:
		return score{}
	case s.order < 0:
		return s
	}
	return score{0, logSigmoid(s.finite)}
}

// logSigmoid is log(1/(1+exp(-x))).
func logSigmoid(x float64) float64 {
	if x < 0 {
		return x - math.Log1p(math.Exp(x))
	}
	return -math.Log1p(math.Exp(-x))
}

// sigmoid returns the probability of the class with these log-odds.
func (s score) sigmoid() float64 {
	switch {
	case s.order > 0:
		return 1
	case s.order < 0:
		return 0
	case s.finite < 0:
		e := math.Exp(s.finite)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-s.finite))
}

// highest returns the first of the highest scores.
func highest(scores []score) int {
	best := 0
	for c, s := range scores {
		if s.compare(scores[best]) > 0 {
			best = c
		}
	}
	return best
}

// normalize sets logs to the logarithms of exp(scores), divided by their sum. As Λ → ∞, the scores of the highest order have
// all of the sum.
func normalize(logs []float64, scores []score) {
	top := scores[highest(scores)]
	sum := 0.0
	for _, s := range scores {
		if s.order == top.order {
			sum += math.Exp(s.finite - top.finite)
		}
	}
	log := math.Log(sum)
	for c, s := range scores {
		logs[c] = math.Inf(-1)
		if s.order == top.order {
			logs[c] = s.finite - top.finite - log
		}
	}
}
