package solver

import (
	"math"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// ranking evaluates s_k(h(α)) for the groups of a problem. Once the minimizer is known to lie in a bracket, most features
// belong to the top k throughout the bracket, or do not; narrow keeps the others, which are called open.
type ranking struct {
	all    []Group // of the problem, smoothed
	groups []Group // those that are open
	index  []int32 // their places in all; nil if all are open
	inside inside
	slack  float64 // by how much at least the scores of the others are away from λ

	scored       // the scores of groups at the last evaluation
	kept   point // the last evaluation of all groups
	passes int   // how often all groups were scored
	order  []topk.Scored
	spare  [][]float64 // buffers for scores

	screenFrom int // how many groups are worth a screen
}

// scored are scores of groups. A score below the floor is only a lower bound, but the true score is below the floor, too.
type scored struct {
	scores []float64
	floor  float64
}

// inside are the features that belong to every remaining top k. For any α the sum of their scores is D(J) + h(B⁺, B⁻; α).
type inside struct {
	index              []int32 // of their groups, which are in as a whole
	size               int64
	gain               float64 // D(J)
	positive, negative float64 // B⁺, B⁻
}

func newRanking(groups []Group, s Settings) *ranking {
	return &ranking{all: groups, groups: groups, slack: inf, screenFrom: s.screenFrom}
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
	open := k - r.inside.size
	if !r.recall(o) {
		r.score(alpha, beta, r.screen(alpha, beta, open))
	}
	if r.floor > 0 && r.atLeast(r.floor) < open {
		r.score(alpha, beta, 0)
	}
	r.keep(o)
	return r.withInside(r.top(open), alpha, beta)
}

// keep stores the scores of all groups, with which the search for another k starts.
func (r *ranking) keep(o odds) {
	if r.index == nil {
		r.kept.odds, r.kept.floor = o, r.floor
		r.kept.scores = append(r.kept.scores[:0], r.scores...)
	}
}

// recall restores the stored scores if they were computed at these odds.
func (r *ranking) recall(o odds) bool {
	if r.kept.scores == nil || r.kept.odds != o {
		return false
	}
	if r.scores == nil {
		r.scores = r.buffer()
	}
	r.floor = r.kept.floor
	copy(r.scores, r.kept.scores)
	return true
}

// exactly is at, with the scores of all groups.
func (r *ranking) exactly(o odds, k int64) top {
	alpha, beta := o.shares()
	r.score(alpha, beta, 0)
	return r.withInside(r.top(k-r.inside.size), alpha, beta)
}

func (r *ranking) withInside(t top, alpha, beta float64) top {
	if in := r.inside; in.size > 0 {
		t.value += in.gain + divergence(in.positive, in.negative, alpha, beta)
		t.positive += in.positive
		t.negative += in.negative
	}
	return t
}

// score computes the scores, except those that are certainly below the floor. The test needs no logarithm: the
// Kullback-Leibler divergence is at most Pearson's, h ≤ d²/(αβg) with d = βf⁺ - αf⁻.
func (r *ranking) score(alpha, beta, floor float64) {
	if r.scores == nil {
		r.scores = r.buffer()
	}
	r.floor = floor
	if r.index == nil {
		r.passes++
	}
	least := floor * alpha * beta * 0.999
	for i, g := range r.groups {
		a, b := beta*g.Positive, alpha*g.Negative
		d := math.Abs(a-b) + 0x1p-50*(a+b) // exceeds the rounding error
		if d*d < least*(g.Positive+g.Negative) {
			r.scores[i] = 0
			continue
		}
		r.scores[i] = divergence(g.Positive, g.Negative, alpha, beta)
	}
}

func (r *ranking) buffer() []float64 {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return make([]float64, len(r.groups))
}

// atLeast returns how many features have the score or more.
func (r *ranking) atLeast(score float64) (n int64) {
	for i, s := range r.scores {
		if s >= score {
			n += r.groups[i].Size
		}
	}
	return n
}

// screen estimates a score that about 2k features reach from a sample of 2,000 groups. It returns 0 if a screen would not
// save time.
func (r *ranking) screen(alpha, beta float64, k int64) float64 {
	const samples, fewest = 2048, 16
	if len(r.groups) < r.screenFrom {
		return 0
	}
	stride := max(1, len(r.groups)/samples)
	r.order = r.order[:0]
	for i := 0; i < len(r.groups); i += stride {
		g := r.groups[i]
		r.order = append(r.order, topk.Scored{Score: divergence(g.Positive, g.Negative, alpha, beta), Size: g.Size})
	}
	var size int64
	for _, w := range r.order {
		size += w.Size
	}
	want := max(2*k/int64(stride), fewest)
	if want > size/4 {
		return 0
	}
	return topk.KthLargest(r.order, want)
}

// top returns the top k of the open groups by the current scores.
func (r *ranking) top(k int64) top {
	r.order = r.order[:0]
	for i, s := range r.scores {
		if s >= r.floor {
			r.order = append(r.order, topk.Scored{Score: s, Size: r.groups[i].Size})
		}
	}
	lambda := topk.KthLargest(r.order, k)
	above := int64(0)
	for i, s := range r.scores {
		if s > lambda {
			above += r.groups[i].Size
		}
	}
	t := top{lambda: lambda, atLambda: k - above}
	var value, positive, negative numeric.Accumulator
	r.each(t, func(i int, n int64) {
		value.Add(float64(n) * r.scores[i])
		positive.Add(float64(n) * r.groups[i].Positive)
		negative.Add(float64(n) * r.groups[i].Negative)
	})
	t.value, t.positive, t.negative = value.Value(), positive.Value(), negative.Value()
	return t
}

// each calls visit with every open group with n > 0 features in the set, in the order of the groups.
func (r *ranking) each(t top, visit func(i int, n int64)) {
	left := t.atLambda
	for i, s := range r.scores {
		switch {
		case s > t.lambda:
			visit(i, r.groups[i].Size)
		case s == t.lambda && left > 0:
			n := min(left, r.groups[i].Size)
			left -= n
			visit(i, n)
		}
	}
}

// take returns the set as a number of features per open group.
func (r *ranking) take(t top) []int64 {
	take := make([]int64, len(r.groups))
	r.each(t, func(i int, n int64) { take[i] = n })
	return take
}

// complete returns a set of open features, together with those inside, as a number of features per group of the problem.
func (r *ranking) complete(take []int64) []int64 {
	if r.index == nil {
		return take
	}
	complete := make([]int64, len(r.all))
	for _, i := range r.inside.index {
		complete[i] = r.all[i].Size
	}
	for i, n := range take {
		complete[r.index[i]] = n
	}
	return complete
}
