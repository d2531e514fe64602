// Package topk has what both searches do with features that are ranked by a score: the k-th largest score, the thresholds
// and the ties of a selection, tests of significance, and the changes that an enumeration of supports tries.
package topk

import (
	"cmp"
	"math"
)

// Scored is the score of a group of features, and how many features the group has.
type Scored struct {
	Score float64
	Size  int64
}

// KthLargest returns the k-th largest score, where each score counts Size times. It reorders items. It is a quickselect
// with three-way partition and a fixed sequence of pivots, so every run does the same work.
func KthLargest(items []Scored, k int64) float64 {
	seed := uint64(len(items))
	for {
		seed = seed*6364136223846793005 + 1442695040888963407
		pivot := items[seed>>33%uint64(len(items))].Score
		low, high, above, equal := partition(items, pivot)
		switch {
		case k <= above:
			items = items[:low]
		case k <= above+equal:
			return pivot
		default:
			k -= above + equal
			items = items[high:]
		}
	}
}

// partition reorders items into those above the pivot, items[:low], those equal to it, items[low:high], and those
// below it. above and equal are the sizes of the first two.
func partition(items []Scored, pivot float64) (low, high int, above, equal int64) {
	low, high = 0, len(items)
	for i := 0; i < high; {
		switch cmp.Compare(items[i].Score, pivot) {
		case 1:
			above += items[i].Size
			items[i], items[low] = items[low], items[i]
			low++
			i++
		case 0:
			equal += items[i].Size
			i++
		default:
			high--
			items[i], items[high] = items[high], items[i]
		}
	}
	return low, high, above, equal
}

// Thresholds returns the scores low and high of a support that takes take[i] features of group i: groups above high are
// selected completely, groups below low not at all. resolution is the rounding error of a score. The margins are far wider
// than rounding, so every machine decides alike.
func Thresholds(take []int64, resolution float64, group func(i int) (score float64, size int64)) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i, n := range take {
		score, size := group(i)
		if n < size {
			high = max(high, score)
		}
		if n > 0 {
			low = min(low, score)
		}
	}
	if math.IsInf(high, -1) { // everything is selected
		high = low
	}
	low, high = min(low, high), max(low, high)
	margin := func(score float64) float64 { return 1e-9*math.Abs(score) + 1e-12 + resolution }
	return low - margin(low), high + margin(high)
}
