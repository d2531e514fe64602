package joint

import (
	"cmp"
	"slices"
)

const (
	maxSwaps = 400 // of the local search, which usually makes a few
	maxNear  = 128 // vectors that it moves features of
)

// swap improves a support by exchanging a feature of one vector for a feature of another, the best such swap first,
// while that lowers the gap. Only vectors whose cost is below the gap can help.
func (f *frame) swap(best support) support {
	near := f.near(best.gap)
	for range maxSwaps {
		from, to, ok := f.bestSwap(best, near)
		if !ok {
			break
		}
		take := slices.Clone(best.take)
		take[from]--
		take[to]++
		next := f.measure(take)
		if next.gap >= best.gap {
			break
		}
		best = next
	}
	return best
}

// near returns the vectors whose features cost less than the gap to move, those nearest to λ first.
func (f *frame) near(gap float64) []int {
	var items []int
	for i := range f.scores {
		if f.cost(i) < gap {
			items = append(items, i)
		}
	}
	slices.SortStableFunc(items, func(a, b int) int { return cmp.Compare(f.cost(a), f.cost(b)) })
	return items[:min(len(items), maxNear)]
}

// bestSwap returns the vectors from which to remove a feature and to add one.
func (f *frame) bestSwap(s support, near []int) (from, to int, ok bool) {
	least := s.gap * (1 - 1e-12)
	without, with := make([]float64, len(s.mass)), make([]float64, len(s.mass))
	for _, i := range near {
		if s.take[i] == 0 {
			continue
		}
		copy(without, s.mass)
		f.shift(without, i, -1)
		for _, j := range near {
			loss := s.loss + f.scores[i] - f.scores[j]
			if i == j || s.take[j] == f.size(j) || loss >= least {
				continue
			}
			copy(with, without)
			f.shift(with, j, +1)
			if gap := f.gap(loss, with); gap < least {
				from, to, least, ok = i, j, gap, true
			}
		}
	}
	return from, to, ok
}

// shift adds the counts of n features of vector i to a mass. It leaves out smoothing, which is the same for all sets of k features.
func (f *frame) shift(mass []float64, i int, n float64) {
	classes, counts := f.ranking.vectors.Entries(i)
	for j, c := range classes {
		mass[c] = max(0, mass[c]+n*counts[j]) // below zero by rounding only
	}
}
