package solver

import "github.com/sparsenb/sparsenb/solver/internal/topk"

// Ties returns how many features of a support could be exchanged for a feature that is left out without a change of what
// they were selected by, and how many features left out could replace one of them. A support chosen by rank, by the
// Bernoulli model or a [Method], has ties where features left out have the statistic of the last feature selected. A
// support of maximum likelihood has ties where it takes only some of the features with equal counts.
func (p Problem) Ties(take []int64) (selected, leftOut int64) {
	size := func(i int) int64 { return p.Groups[i].Size }
	if p.Model != Bernoulli && p.Statistic() == nil {
		return topk.CountTies(take, size)
	}
	s := Selector{Model: p.Model, Smoothing: p.Smoothing, DocumentsPositive: p.DocumentsPositive, DocumentsNegative: p.DocumentsNegative, Statistic: p.Statistic()}
	return topk.RankTies(take, size, func(i int) float64 { return s.score(p.Groups[i].Positive, p.Groups[i].Negative) })
}
