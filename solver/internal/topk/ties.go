package topk

import "math"

// CountTies counts the ties of a support chosen by likelihood: where it takes only some features of a group, each of them
// could be exchanged for one that is left out.
func CountTies(take []int64, size func(i int) int64) (selected, leftOut int64) {
	for i, n := range take {
		if 0 < n && n < size(i) {
			selected += n
			leftOut += size(i) - n
		}
	}
	return selected, leftOut
}

// RankTies counts the ties of a support chosen by rank: the features with the statistic of the last selected one.
func RankTies(take []int64, size func(i int) int64, statistic func(i int) float64) (selected, leftOut int64) {
	statistics, last := make([]float64, len(take)), math.Inf(1)
	for i, n := range take {
		statistics[i] = statistic(i)
		if n > 0 {
			last = min(last, statistics[i])
		}
	}
	for i, n := range take {
		// The tolerance makes processors that round differently find the same ties.
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
