package solver

import "math"

// Ties returns how many features of a support could each be exchanged for one that is left out, by what they were selected
// for, and how many are left out that could take their place. A support by rank, that of the Bernoulli model or of a
// [Method], ties where the last of its statistics is also that of features left out. The support of most likelihood ties
// where it has some features only of those with the same counts.
func (p Problem) Ties(take []int64) (selected, leftOut int64) {
	size := func(i int) int64 { return p.Groups[i].Size }
	if p.Model != Bernoulli && p.Statistic() == nil {
		return tiesOfCounts(take, size)
	}
	s := Selector{Model: p.Model, Smoothing: p.Smoothing, DocumentsPositive: p.DocumentsPositive, DocumentsNegative: p.DocumentsNegative, Statistic: p.Statistic()}
	return tiesOfRank(take, size, func(i int) float64 { return s.score(p.Groups[i].Positive, p.Groups[i].Negative) })
}

// Ties is [Problem.Ties] for all classes.
func (p JointProblem) Ties(take []int64) (selected, leftOut int64) {
	size := func(i int) int64 { return p.size[i] }
	if p.Model != Bernoulli {
		return tiesOfCounts(take, size)
	}
	presence := newJointPresence(newJointParameters(p, newJointRanking(p), nil))
	return tiesOfRank(take, size, func(i int) float64 { return presence.score(p.entries(i)) })
}

func tiesOfCounts(take []int64, size func(i int) int64) (selected, leftOut int64) {
	for i, n := range take {
		if 0 < n && n < size(i) {
			selected += n
			leftOut += size(i) - n
		}
	}
	return selected, leftOut
}

func tiesOfRank(take []int64, size func(i int) int64, statistic func(i int) float64) (selected, leftOut int64) {
	statistics, last := make([]float64, len(take)), math.Inf(1)
	for i, n := range take {
		statistics[i] = statistic(i)
		if n > 0 {
			last = min(last, statistics[i])
		}
	}
	for i, n := range take {
		// Other processors round otherwise, and are to find the same ties.
		if math.Abs(statistics[i]-last) <= 1e-12*last {
			selected += n
			leftOut += size(i) - n
		}
	}
	if selected == 0 || leftOut == 0 {
		return 0, 0
	}
	return selected, leftOut
}
