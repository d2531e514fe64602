package solver

import "github.com/sparsenb/sparsenb/solver/internal/numeric"

// bernoulli solves the Bernoulli model: it takes the k largest scores z_i = w_i - v_i = h(f⁺, f⁻; n₊/n) +
// h(n₊-f⁺, n₋-f⁻; n₊/n), n times the mutual information of a feature's presence and the class (Theorem 1 of the paper;
// errata E1, E2 and fact S6).
type bernoulli struct {
	problem Problem
	ranking *ranking
	base    float64
	odds    odds // n₊/n₋
}

func newBernoulli(p Problem) *bernoulli {
	groups := smoothed(p)
	params := parametersBernoulli(p, nil)
	np, nn := params.smoothedDocuments()
	b := &bernoulli{p, newRanking(groups, Settings{}), baseBernoulli(p, groups), odds(np / nn)}
	b.ranking.scores = b.ranking.buffer()
	for i, g := range p.Groups {
		b.ranking.scores[i] = params.Score(g.Positive, g.Negative)
	}
	return b
}

func (b *bernoulli) bound(k int64) float64 { return b.ranking.top(k).value }

func (b *bernoulli) solve(k int64) Result {
	alpha, _ := b.odds.shares()
	r := Result{Outcome: Outcome{K: k, Base: b.base, Take: make([]int64, len(b.ranking.all)), Certificate: Optimal, Status: Closed}, Alpha: alpha, Odds: float64(b.odds)}
	if k > 0 {
		t := b.ranking.top(k)
		r.Take, r.Gain, r.UpperBound = b.ranking.take(t), t.value, t.value
	}
	r.Parameters = parametersBernoulli(b.problem, r.Take)
	return r
}

// baseBernoulli is 1ᵀv, the log-likelihood of all features with θ⁺ = θ⁻.
func baseBernoulli(p Problem, groups []Group) float64 {
	n := p.DocumentsPositive + p.DocumentsNegative + 4*p.Smoothing
	var base numeric.Accumulator
	for _, g := range groups {
		f := g.Positive + g.Negative
		base.Add(float64(g.Size) * (numeric.XLogY(f, f/n) + numeric.XLogY(n-f, (n-f)/n)))
	}
	return base.Value()
}
