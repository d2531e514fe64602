package solver

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// CompareGroups orders groups by f⁺ + f⁻, then by f⁺, both descending.
func CompareGroups(a, b Group) int {
	return cmp.Or(cmp.Compare(b.Positive+b.Negative, a.Positive+a.Negative), cmp.Compare(b.Positive, a.Positive), cmp.Compare(b.Negative, a.Negative))
}

// GroupFeatures groups features with equal counts, in the order of [CompareGroups]. It returns an error for a count that is
// not [InRange].
func GroupFeatures(positive, negative []float64) ([]Group, error) {
	if len(positive) != len(negative) {
		return nil, fmt.Errorf("solver: there are %d counts of the positive class, but %d of the negative", len(positive), len(negative))
	}
	t := newGroupTable()
	for i, a := range positive {
		if !t.add(Group{a, negative[i], 1}) {
			return nil, fmt.Errorf("solver: feature %d has the counts %v and %v: %w", i, a, negative[i], errRange)
		}
	}
	return t.groups(), nil
}

// GroupOf returns the index of the group with the given counts, or -1. groups must be sorted as GroupFeatures returns them.
func GroupOf(groups []Group, positive, negative float64) int {
	i, ok := slices.BinarySearchFunc(groups, Group{Positive: positive, Negative: negative}, CompareGroups)
	if !ok {
		return -1
	}
	return i
}

// groupTable groups features by their counts. Most features of text are rare: an array holds pairs of small integers, a hash
// table all others.
type groupTable struct {
	small []int64 // sizes, at Positive·smallSide + Negative
	slots []Group // a hash table with linear probing; empty where Size is 0
	used  int
	shift int // 64 - log₂ len(slots)
}

const smallSide = 128

func newGroupTable() *groupTable {
	return &groupTable{small: make([]int64, smallSide*smallSide), slots: make([]Group, 1<<10), shift: 64 - 10}
}

// add adds features. It reports whether their counts are in range.
func (t *groupTable) add(g Group) bool {
	// Numbers that are not finite small integers fail the comparison.
	x, y := int(g.Positive), int(g.Negative)
	if uint(x) < smallSide && uint(y) < smallSide && float64(x) == g.Positive && float64(y) == g.Negative {
		t.small[x*smallSide+y] += g.Size
		return true
	}
	if !InRange(g.Positive) || !InRange(g.Negative) {
		return false
	}
	t.insert(Group{g.Positive + 0, g.Negative + 0, g.Size}) // -0 is 0
	if t.used > len(t.slots)/2 {
		t.grow()
	}
	return true
}

func (t *groupTable) insert(g Group) {
	high, low := bits.Mul64(math.Float64bits(g.Positive)^0x243f6a8885a308d3, math.Float64bits(g.Negative)^0x13198a2e03707344)
	for i := (high ^ low) * 0x9e3779b97f4a7c15 >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		switch s := &t.slots[i]; {
		case s.Size == 0:
			*s = g
			t.used++
			return
		case s.Positive == g.Positive && s.Negative == g.Negative:
			s.Size += g.Size
			return
		}
	}
}

func (t *groupTable) grow() {
	before := t.slots
	t.slots, t.used, t.shift = make([]Group, 2*len(before)), 0, t.shift-1
	for _, g := range before {
		if g.Size > 0 {
			t.insert(g)
		}
	}
}

// groups returns the groups in the order of CompareGroups.
func (t *groupTable) groups() (groups []Group) {
	for i, n := range t.small {
		if n > 0 {
			groups = append(groups, Group{float64(i / smallSide), float64(i % smallSide), n})
		}
	}
	for _, g := range t.slots {
		if g.Size > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, CompareGroups)
	return groups
}
