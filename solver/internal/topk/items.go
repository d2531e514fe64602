package topk

import (
	"cmp"
	"math"
	"slices"
)

// Items are the changes to the top k that an enumeration of supports tries, in the order of their cost, and a last one of
// infinite cost.
type Items []Item

// Item is a group whose features can be added to the support or removed from it.
type Item struct {
	Group     int
	Cost      float64 // of one feature: the distance of its score from the threshold λ
	Sign      int64   // +1: features are added, -1: they are removed
	available int64
	// in and out are how many features this item and all later ones can add and remove; nextIn and nextOut are the
	// places of the first of them that adds and that removes.
	in, out         int64
	nextIn, nextOut int
}

// Deviation is how many features more than the top k a support takes from a group.
type Deviation struct {
	Group int
	N     int64
}

// ItemsOf lists the changes that cost less than the gap. The top k takes top[i] of the size(i) features of group i.
func ItemsOf(scores []float64, lambda float64, top []int64, gap float64, size func(i int) int64) (list Items) {
	for i, score := range scores {
		cost := math.Abs(score - lambda)
		if cost >= gap {
			continue
		}
		// A group at λ may do both.
		if top[i] > 0 && score >= lambda {
			list = append(list, Item{Group: i, Cost: cost, Sign: -1, available: top[i]})
		}
		if top[i] < size(i) && score <= lambda {
			list = append(list, Item{Group: i, Cost: cost, Sign: +1, available: size(i) - top[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(a.Cost, b.Cost) })
	last := len(list)
	list = append(list, Item{Cost: math.Inf(1), nextIn: last, nextOut: last})
	for q := last - 1; q >= 0; q-- {
		it, after := &list[q], list[q+1]
		it.in, it.out, it.nextIn, it.nextOut = after.in, after.out, after.nextIn, after.nextOut
		if it.Sign > 0 {
			it.in, it.nextIn = it.in+it.available, q
		} else {
			it.out, it.nextOut = it.out+it.available, q
		}
	}
	return list
}

// Next returns the first item from q on that can be used at a balance, which is the number of features added less those
// removed, or the last item if there is none. It skips any number of items at once: with k = 2 and a million features,
// nearly all items can only add.
func (l Items) Next(q int, balance int64) int {
	it := l[q]
	add, remove := it.out > balance, it.in > -balance // another item can restore the balance
	switch {
	case balance > it.out, -balance > it.in, !add && !remove:
		return len(l) - 1
	case !add:
		return it.nextOut
	case !remove:
		return it.nextIn
	}
	return q
}

// Count returns how few and how many features of the group can change at a balance so that the later items can still
// restore it.
func (it Item) Count(balance int64, after Item) (least, most int64) {
	if it.Sign > 0 {
		return max(1, -balance-after.in), min(it.available, after.out-balance)
	}
	return max(1, balance-after.out), min(it.available, after.in+balance)
}
