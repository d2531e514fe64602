package solver

import (
	"cmp"
	"fmt"
	"slices"
)

// CompareGroups orders groups: the more frequent features first, f⁺ + f⁻, and of those with the same sum the ones with
// the larger f⁺.
func CompareGroups(a, b Group) int {
	return cmp.Or(cmp.Compare(b.Positive+b.Negative, a.Positive+a.Negative), cmp.Compare(b.Positive, a.Positive), cmp.Compare(b.Negative, a.Negative))
}

// GroupFeatures collects features into groups of equal counts, in the order of [CompareGroups], and returns for every
// feature the index of its group.
func GroupFeatures(positive, negative []float64) (groups []Group, index []int, err error) {
	if len(positive) != len(negative) {
		return nil, nil, fmt.Errorf("solver: %d counts of the positive class and %d of the negative", len(positive), len(negative))
	}
	order := make([]int, len(positive))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return CompareGroups(Group{Positive: positive[i], Negative: negative[i]}, Group{Positive: positive[j], Negative: negative[j]})
	})
	index = make([]int, len(positive))
	for at, i := range order {
		if at == 0 || positive[i] != positive[order[at-1]] || negative[i] != negative[order[at-1]] {
			groups = append(groups, Group{Positive: positive[i], Negative: negative[i]})
		}
		groups[len(groups)-1].Size++
		index[i] = len(groups) - 1
	}
	return groups, index, nil
}
