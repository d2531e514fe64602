package solver

import "cmp"

// ranking evaluates s_k(h(α)) for one set of groups. It keeps its buffers between evaluations.
type ranking struct {
	groups []Group // smoothed
	scores []float64
	order  []weighted
}

type weighted struct {
	score float64
	size  int64
}

func newRanking(groups []Group) *ranking {
	return &ranking{groups: groups, scores: make([]float64, len(groups)), order: make([]weighted, len(groups))}
}

// top is the set of the k features of largest score: all features above lambda, and the first of those at lambda in
// the order of the groups.
type top struct {
	lambda             float64 // h_[k], the k-th largest score
	atLambda           int64   // how many features at lambda belong to the set
	value              float64 // s_k(h), the sum of its scores
	positive, negative float64 // B⁺ and B⁻ of the set
}

// at scores every feature at the given odds and returns the top k, 1 ≤ k ≤ number of features.
func (r *ranking) at(o odds, k int64) top {
	alpha, beta := o.shares()
	for i, g := range r.groups {
		r.scores[i] = divergence(g.Positive, g.Negative, alpha, beta)
	}
	return r.top(k)
}

// top returns the top k by the current scores.
func (r *ranking) top(k int64) top {
	for i, g := range r.groups {
		r.order[i] = weighted{r.scores[i], g.Size}
	}
	lambda := kthLargest(r.order, k)
	above := int64(0)
	for i, g := range r.groups {
		if r.scores[i] > lambda {
			above += g.Size
		}
	}
	t := top{lambda: lambda, atLambda: k - above}
	var value, positive, negative sum
	r.each(t, func(i int, n int64) {
		value.add(float64(n) * r.scores[i])
		positive.add(float64(n) * r.groups[i].Positive)
		negative.add(float64(n) * r.groups[i].Negative)
	})
	t.value, t.positive, t.negative = value.value(), positive.value(), negative.value()
	return t
}

// each calls visit with every group of which the set has n > 0 features, in the order of the groups.
func (r *ranking) each(t top, visit func(i int, n int64)) {
	left := t.atLambda
	for i, g := range r.groups {
		switch s := r.scores[i]; {
		case s > t.lambda:
			visit(i, g.Size)
		case s == t.lambda && left > 0:
			n := min(left, g.Size)
			left -= n
			visit(i, n)
		}
	}
}

// take returns the set as a number of features per group.
func (r *ranking) take(t top) []int64 {
	take := make([]int64, len(r.groups))
	r.each(t, func(i int, n int64) { take[i] = n })
	return take
}

// kthLargest returns the k-th largest score, each counted size times. It reorders items: a quickselect with three-way
// partition, whose pivots come from a fixed sequence so that the work is the same at every run.
func kthLargest(items []weighted, k int64) float64 {
	seed := uint64(len(items))
	for {
		seed = seed*6364136223846793005 + 1442695040888963407
		pivot := items[seed>>33%uint64(len(items))].score
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
func partition(items []weighted, pivot float64) (low, high int, above, equal int64) {
	low, high = 0, len(items)
	for i := 0; i < high; {
		switch cmp.Compare(items[i].score, pivot) {
		case 1:
			above += items[i].size
			items[i], items[low] = items[low], items[i]
			low++
			i++
		case 0:
			equal += items[i].size
			i++
		default:
			high--
			items[i], items[high] = items[high], items[i]
		}
	}
	return low, high, above, equal
}
