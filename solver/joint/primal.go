package joint

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// frame measures supports against the dual bound at one α. For every support J of k features
//
//	s_k(h(α)) - D(J) = Σ |t_i - top_i|·|h_i - λ| + |B|·KL(B/|B| ‖ α)
//
// where t_i and top_i are how many features of vector i belong to J and to the top k: the first term is what J loses to
// the top k, the second what α loses to J's own shares. Both are sums of terms that are not negative, so the gap of a
// support is known to full precision however small it is beside the gain.
type frame struct {
	ranking *ranking
	scores  []float64
	at      Shares
	lambda  float64
	k       int64
	value   float64 // s_k(h(α))
	top     []int64
}

func newFrame(r *ranking, k int64, at Shares) *frame {
	r.scoreAll(&at)
	t := r.top(k)
	return &frame{r, slices.Clone(r.scores), at, t.lambda, k, t.value, r.take(t)}
}

// cost is the loss of moving one feature of vector i in or out of the top k.
func (f *frame) cost(i int) float64 { return math.Abs(f.scores[i] - f.lambda) }

// size is how many features vector i has.
func (f *frame) size(i int) int64 { return f.ranking.vectors.Size(i) }

// support is a set of k features with its measures.
type support struct {
	take []int64
	loss float64   // against the top k, the first term of the gap
	mass []float64 // B by class
	gap  float64
}

func (f *frame) measure(take []int64) support {
	var loss numeric.Accumulator
	for i, n := range take {
		if n != f.top[i] {
			loss.Add(math.Abs(float64(n-f.top[i])) * f.cost(i))
		}
	}
	s := support{take: take, loss: loss.Value(), mass: f.ranking.massOf(take)}
	s.gap = f.gap(s.loss, s.mass)
	return s
}

func (f *frame) gap(loss float64, mass []float64) float64 {
	return max(0, loss) + f.at.divergenceOf(mass)
}

// negligible is the gap below which only rounding remains.
func (f *frame) negligible() float64 { return 1e-13 * f.value }

// primal finds a support of k features close to the bound of d, and reports whether it is proven optimal.
func primal(r *ranking, k int64, d *dual, s solver.Settings) (best support, proven bool, nodes int) {
	f := newFrame(r, k, d.best)
	best = f.measure(f.top)
	mix := make([]float64, len(f.top))
	for _, c := range d.cuts {
		if c.weight < 1e-9 {
			continue
		}
		take := r.take(r.at(&c.at, k))
		for i, n := range take {
			mix[i] += c.weight * float64(n)
		}
		best = better(best, f.measure(take))
	}
	if take, ok := f.round(mix); ok {
		best = better(best, f.measure(take))
	}
	if best.gap > f.negligible() {
		best = f.swap(best)
	}
	return f.enumerate(best, s.MaxNodes)
}

func better(a, b support) support {
	if b.gap < a.gap {
		return b
	}
	return a
}

// round rounds the mixture of supports at the end of the dual search, whose balance is that of α, to k features. It takes the
// integer parts; in the order of their counts it then takes the vectors at which the sum of the fractional parts passes an
// integer, so that the support has as many of every kind as the mixture.
func (f *frame) round(mix []float64) (take []int64, ok bool) {
	take = make([]int64, len(mix))
	var parts []int
	left := f.k
	for i, x := range mix {
		whole := math.Floor(x + 1e-6)
		take[i] = int64(whole)
		left -= take[i]
		if mix[i] = x - whole; mix[i] > 1e-6 {
			parts = append(parts, i)
		}
	}
	slices.SortStableFunc(parts, func(i, j int) int {
		a, m := f.ranking.vectors.Entries(i)
		b, n := f.ranking.vectors.Entries(j)
		return cmp.Or(slices.Compare(a, b), slices.Compare(m, n))
	})
	var passed float64
	for q, i := range parts {
		passed += mix[i]
		if remaining := int64(len(parts) - q); left > 0 && (passed >= 0.5 || left == remaining) {
			take[i]++
			left--
			passed--
		}
	}
	return take, left == 0
}
