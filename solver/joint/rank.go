package joint

import (
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// ranking evaluates s_k(h(α)) for the vectors of one problem. It keeps its buffers between evaluations.
//
// Except for c_i, which does not depend on α, h is linear in the logarithms of the shares:
//
//	h_i(α) = c_i - Σ_c f_ic log α_c,   c_i = Σ_c f_ic log(f_ic/g_i)
//
// An evaluation computes this difference for all vectors, with a bound of its rounding error, and the divergence itself for
// those that can belong to the top k.
type ranking struct {
	vectors   *solver.Vectors
	classes   int
	smoothing float64
	mass      []float64 // g_i, smoothed
	constant  []float64 // c_i
	scores    []float64 // h_i, to full precision wherever it is not far below the k-th largest
	order     []topk.Scored
}

func newRanking(p Problem) *ranking {
	n := p.Len()
	r := &ranking{
		vectors:   p.Vectors,
		classes:   p.Classes(),
		smoothing: p.Smoothing,
		mass:      make([]float64, n),
		constant:  make([]float64, n),
		scores:    make([]float64, n),
		order:     make([]topk.Scored, 0, n),
	}
	for i := range n {
		classes, counts := r.vectors.Entries(i)
		g := smoothedMass(counts, r.smoothing, r.classes)
		r.mass[i] = g
		if g == 0 {
			continue
		}
		c := float64(r.classes-len(classes)) * numeric.XLogY(r.smoothing, r.smoothing/g)
		for _, n := range counts {
			f := n + r.smoothing
			c += f * math.Log(f/g)
		}
		r.constant[i] = c
	}
	return r
}

// top is the set of the k features of largest score: all features above lambda, and the first of those at lambda
// in the order of the vectors.
type top struct {
	lambda   float64   // h_[k], the k-th largest score
	atLambda int64     // how many features at lambda belong to the set
	value    float64   // s_k(h), the sum of its scores
	mass     []float64 // B by class
}

// score computes the score of every vector that can belong to the top k, and estimates the scores of the others.
func (r *ranking) score(at *Shares, k int64) {
	common := 0.0
	if r.smoothing > 0 {
		common = r.smoothing * at.Logs
	}
	most := math.Log(float64(r.classes))
	for _, l := range at.Log {
		if !math.IsInf(l, -1) { // not a class without mass
			most = max(most, -l)
		}
	}
	// Each of at most C+4 sums has the rounding error of terms up to g·most.
	unit := float64(r.classes+4) * 0x1p-51 * most
	r.order = r.order[:0]
	for i := range r.scores {
		classes, counts := r.vectors.Entries(i)
		dot := common
		for j, c := range classes {
			dot += counts[j] * at.Log[c]
		}
		r.scores[i] = r.constant[i] - dot
		r.order = append(r.order, topk.Scored{Score: r.scores[i] - unit*r.mass[i], Size: r.vectors.Size(i)})
	}
	low := topk.KthLargest(r.order, k)
	for i, h := range r.scores {
		if h+unit*r.mass[i] >= low {
			classes, counts := r.vectors.Entries(i)
			r.scores[i] = at.divergence(classes, counts, r.mass[i], r.smoothing)
		} else {
			r.scores[i] = max(0, min(h, low))
		}
	}
}

// scoreAll computes the scores of all vectors to full precision.
func (r *ranking) scoreAll(at *Shares) {
	for i, g := range r.mass {
		classes, counts := r.vectors.Entries(i)
		r.scores[i] = at.divergence(classes, counts, g, r.smoothing)
	}
}

// at scores the features at α and returns the top k, 1 ≤ k ≤ number of features.
func (r *ranking) at(at *Shares, k int64) top {
	r.score(at, k)
	return r.top(k)
}

// top returns the top k by the current scores.
func (r *ranking) top(k int64) top {
	r.order = r.order[:0]
	for i, h := range r.scores {
		r.order = append(r.order, topk.Scored{Score: h, Size: r.vectors.Size(i)})
	}
	lambda := topk.KthLargest(r.order, k)
	above := int64(0)
	for i, h := range r.scores {
		if h > lambda {
			above += r.vectors.Size(i)
		}
	}
	t := top{lambda: lambda, atLambda: k - above}
	var value numeric.Accumulator
	mass := make([]numeric.Accumulator, r.classes)
	r.each(t, func(i int, n int64) {
		value.Add(float64(n) * r.scores[i])
		r.addTo(mass, i, n)
	})
	t.value, t.mass = value.Value(), r.finish(mass, k)
	return t
}

// addTo adds the counts of n features of vector i, without smoothing.
func (r *ranking) addTo(mass []numeric.Accumulator, i int, n int64) {
	classes, counts := r.vectors.Entries(i)
	for j, c := range classes {
		mass[c].Add(float64(n) * counts[j])
	}
}

// finish adds the smoothing of k features to their counts.
func (r *ranking) finish(mass []numeric.Accumulator, k int64) []float64 {
	total := make([]float64, len(mass))
	for c := range mass {
		mass[c].Add(float64(k) * r.smoothing)
		total[c] = mass[c].Value()
	}
	return total
}

// massOf returns B by class, smoothed, of take[i] features of every vector i.
func (r *ranking) massOf(take []int64) []float64 {
	mass := make([]numeric.Accumulator, r.classes)
	var k int64
	for i, n := range take {
		if n > 0 {
			k += n
			r.addTo(mass, i, n)
		}
	}
	return r.finish(mass, k)
}

// masses returns the mass of every class, smoothed.
func (r *ranking) masses() []float64 {
	all := make([]int64, r.vectors.Len())
	for i := range all {
		all[i] = r.vectors.Size(i)
	}
	return r.massOf(all)
}

// each calls visit with every vector with n > 0 features in the set, in the order of the vectors.
func (r *ranking) each(t top, visit func(i int, n int64)) {
	left := t.atLambda
	for i, h := range r.scores {
		switch {
		case h > t.lambda:
			visit(i, r.vectors.Size(i))
		case h == t.lambda && left > 0:
			n := min(left, r.vectors.Size(i))
			left -= n
			visit(i, n)
		}
	}
}

// take returns the set as a number of features per vector.
func (r *ranking) take(t top) []int64 {
	take := make([]int64, len(r.scores))
	r.each(t, func(i int, n int64) { take[i] = n })
	return take
}

// gain is D(J) of the set, the sum of its scores at its own share α_J.
func (r *ranking) gain(t top) float64 {
	own := sharesOf(t.mass)
	var gain numeric.Accumulator
	r.each(t, func(i int, n int64) {
		classes, counts := r.vectors.Entries(i)
		gain.Add(float64(n) * own.divergence(classes, counts, r.mass[i], r.smoothing))
	})
	return gain.Value()
}
