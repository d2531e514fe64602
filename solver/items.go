package solver

import (
	"cmp"
	"math"
	"slices"
)

// items are the groups of which features may change sides, the cheapest first, and a last one that costs too much. They
// are what the enumeration of supports goes through, for two classes or many.
type items []item

// item is a group of which features may change sides.
type item struct {
	group     int
	cost      float64
	sign      int64 // +1: features are put in, -1: they are taken out
	available int64
	// in and out are how many features this item and those after it can put in and take out, and nextIn and nextOut
	// where the first of them stands that can.
	in, out         int64
	nextIn, nextOut int
}

// deviation is how many features more of a group a support has than the top k.
type deviation struct {
	group int
	n     int64
}

// itemsOf lists what a support may change that costs less than the gap. Of group i the top k has top[i] features out of
// size(i).
func itemsOf(scores []float64, lambda float64, top []int64, gap float64, size func(i int) int64) (list items) {
	for i, score := range scores {
		cost := math.Abs(score - lambda)
		if cost >= gap {
			continue
		}
		// The group at λ may stand on both sides.
		if top[i] > 0 && score >= lambda {
			list = append(list, item{group: i, cost: cost, sign: -1, available: top[i]})
		}
		if top[i] < size(i) && score <= lambda {
			list = append(list, item{group: i, cost: cost, sign: +1, available: size(i) - top[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.cost, b.cost) })
	last := len(list)
	list = append(list, item{cost: math.Inf(1), nextIn: last, nextOut: last})
	for q := last - 1; q >= 0; q-- {
		it, after := &list[q], list[q+1]
		it.in, it.out, it.nextIn, it.nextOut = after.in, after.out, after.nextIn, after.nextOut
		if it.sign > 0 {
			it.in, it.nextIn = it.in+it.available, q
		} else {
			it.out, it.nextOut = it.out+it.available, q
		}
	}
	return list
}

// next returns the first item from q on of which features may change sides at a given balance, and the one behind the
// last if there is none. It passes over any number of items at once: with k = 2 and a million features, nearly all can
// only be put in.
func (l items) next(q int, balance int64) int {
	it := l[q]
	putIn, takeOut := it.out > balance, it.in > -balance // something is left to make up for it
	switch {
	case balance > it.out, -balance > it.in, !putIn && !takeOut:
		return len(l) - 1
	case !putIn:
		return it.nextOut
	case !takeOut:
		return it.nextIn
	}
	return q
}

// count is how many features of the group may change sides at a given balance, so that the items after it can still
// bring the balance to zero.
func (it item) count(balance int64, after item) (least, most int64) {
	if it.sign > 0 {
		return max(1, -balance-after.in), min(it.available, after.out-balance)
	}
	return max(1, balance-after.out), min(it.available, after.in+balance)
}
