package solver

import (
	"math"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

var inf = math.Inf(1)

// point is a stored evaluation.
type point struct {
	odds
	scored
}

// narrow returns the ranking of the groups that stay open if the minimizer lies between two points, and the two points with
// the scores of these groups. A score is a convex function of α with its minimum at the feature's own share. So within the
// bracket it is at most the larger of its values at the ends, and at least the smaller one unless the feature's own share
// lies in the bracket. The k-th largest of these bounds are bounds of λ; features farther than slack from them keep their
// side.
func (r *ranking) narrow(k int64, low, high point, slack float64) (*ranking, point, point) {
	floor := max(low.floor, high.floor)
	lower, upper := r.lowerBounds(low, high), func(i int) float64 { return max(low.scores[i], high.scores[i], floor) }
	open := k - r.inside.size
	least, most := r.kth(open, lower, 0), r.kth(open, upper, floor)
	// Fewer than k features must be inside, and at least k not outside, even if the bounds are rounded.
	least, most = least*(1-1e-12)-slack, most*(1+1e-12)+slack
	n := &ranking{all: r.all, inside: r.inside, slack: min(r.slack, slack), screenFrom: r.screenFrom, index: []int32{}}
	var stays []int32
	var size int64
	value, positive, negative := r.startInside(low.odds)
	for i, g := range r.groups {
		switch {
		case upper(i) < least:
		case lower(i) > most:
			n.inside.index = append(n.inside.index, r.place(i))
			size += g.Size
			value.Add(float64(g.Size) * low.scores[i])
			positive.Add(float64(g.Size) * g.Positive)
			negative.Add(float64(g.Size) * g.Negative)
		default:
			stays = append(stays, int32(i))
		}
	}
	if len(stays)*4 > len(r.groups)*3 { // not worth the copy
		return r, low, high
	}
	n.inside.setSums(r.inside.size+size, value, positive, negative, low.odds)
	n.open(r, stays)
	return n, low.keep(stays), high.keep(stays)
}

// lowerBounds returns the lower bounds of the scores over the bracket.
func (r *ranking) lowerBounds(low, high point) func(i int) float64 {
	return func(i int) float64 {
		g := r.groups[i]
		switch {
		case g.Positive <= float64(low.odds)*g.Negative && low.scores[i] >= low.floor:
			return low.scores[i]
		case g.Positive >= float64(high.odds)*g.Negative && high.scores[i] >= high.floor:
			return high.scores[i]
		}
		return 0
	}
}

// kth returns the k-th largest value of the groups; no value is below the floor.
func (r *ranking) kth(k int64, value func(i int) float64, floor float64) float64 {
	r.order = r.order[:0]
	var size int64
	for i, g := range r.groups {
		if v := value(i); v > floor {
			r.order = append(r.order, topk.Scored{Score: v, Size: g.Size})
			size += g.Size
		}
	}
	if size < k {
		return floor
	}
	return topk.KthLargest(r.order, k)
}

// place is the index of an open group in the problem.
func (r *ranking) place(i int) int32 {
	if r.index == nil {
		return int32(i)
	}
	return r.index[i]
}

func (r *ranking) open(from *ranking, stays []int32) {
	r.groups = make([]Group, len(stays))
	for i, at := range stays {
		r.groups[i] = from.groups[at]
		r.index = append(r.index, from.place(int(at)))
	}
}

func (p point) keep(stays []int32) point {
	scores := make([]float64, len(stays))
	for i, at := range stays {
		scores[i] = p.scores[at]
	}
	p.scores = scores
	return p
}

// startInside returns the sums over the features inside: of their scores at o, and of their counts.
func (r *ranking) startInside(o odds) (value, positive, negative numeric.Accumulator) {
	if in := r.inside; in.size > 0 {
		alpha, beta := o.shares()
		value.Add(in.gain)
		value.Add(divergence(in.positive, in.negative, alpha, beta))
		positive.Add(in.positive)
		negative.Add(in.negative)
	}
	return value, positive, negative
}

// setSums sets the sums over the features inside, whose scores were computed at o.
func (in *inside) setSums(size int64, value, positive, negative numeric.Accumulator, o odds) {
	alpha, beta := o.shares()
	in.size, in.positive, in.negative = size, positive.Value(), negative.Value()
	if size > 0 {
		in.gain = value.Value() - divergence(in.positive, in.negative, alpha, beta)
	}
}
