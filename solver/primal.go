package solver

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// frame measures supports against the dual bound at one α. For every support J of k features
//
//	s_k(h(α)) - D(J) = Σ |t_i - top_i|·|h_i - λ| + h(B⁺, B⁻; α)
//
// where t_i and top_i are how many features of group i belong to J and to the top k: the first term is what J loses to
// the top k, the second what α loses to J's own share. Both are sums of terms that are not negative, so the gap of a
// support is known to full precision however small it is beside the gain.
type frame struct {
	groups      []Group // that are open; all others are certain of their side
	inside      inside
	scores      []float64
	alpha, beta float64
	lambda      float64
	value       float64 // s_k(h(α))
	top         []int64
}

func newFrame(r *ranking, k int64, o odds) *frame {
	t := r.exactly(o, k)
	alpha, beta := o.shares()
	return &frame{r.groups, r.inside, slices.Clone(r.scores), alpha, beta, t.lambda, t.value, r.take(t)}
}

// cost is the loss of moving one feature of group i in or out of the top k.
func (f *frame) cost(i int) float64 { return math.Abs(f.scores[i] - f.lambda) }

// imbalance is d_i = βf⁺_i - αf⁻_i; a support whose imbalances sum to zero has α as its own share.
func (f *frame) imbalance(i int) float64 {
	return f.beta*f.groups[i].Positive - f.alpha*f.groups[i].Negative
}

// support is a set of k features with its measures.
type support struct {
	take               []int64
	loss               float64 // against the top k, the first term of the gap
	positive, negative float64 // B⁺, B⁻
	gap                float64
}

func (f *frame) measure(take []int64) support {
	var loss, positive, negative numeric.Accumulator
	positive.Add(f.inside.positive)
	negative.Add(f.inside.negative)
	for i, n := range take {
		if n != f.top[i] {
			loss.Add(math.Abs(float64(n-f.top[i])) * f.cost(i))
		}
		positive.Add(float64(n) * f.groups[i].Positive)
		negative.Add(float64(n) * f.groups[i].Negative)
	}
	s := support{take: take, loss: loss.Value(), positive: positive.Value(), negative: negative.Value()}
	s.gap = f.gap(s.loss, s.positive, s.negative)
	return s
}

func (f *frame) gap(loss, positive, negative float64) float64 {
	return max(0, loss) + divergence(max(0, positive), max(0, negative), f.alpha, f.beta)
}

// primal finds a support of k features close to the bound that d has found, and reports whether it is proven optimal.
// all is the ranking of all groups.
func primal(all *ranking, d *dual, s Settings) (take []int64, proven bool, nodes int) {
	r := d.around(all)
	f := newFrame(r, d.k, d.best)
	best := f.measure(f.top)
	var ends []support
	for _, c := range []*cut{d.lowCut, d.highCut} {
		if c == nil {
			continue
		}
		end := f.measure(r.take(r.at(c.at, d.k)))
		ends = append(ends, end)
		best = better(best, end)
	}
	if len(ends) == 2 {
		best = better(best, f.walk(ends[0], ends[1]))
	}
	best = f.swap(best)
	best, proven, nodes = f.enumerate(best, s.MaxNodes)
	return r.complete(best.take), proven, nodes
}

// around returns a ranking in which all groups are open that may be on the other side in the supports at the ends of the
// bracket, or in better supports: the loss of a support is at least that of each of its features.
func (d *dual) around(all *ranking) *ranking {
	var gap float64
	for _, c := range []*cut{d.lowCut, d.highCut} {
		if c != nil {
			gap = max(gap, d.upper-c.gain)
		}
	}
	gap += 1e-9 * d.upper // rounding is far less
	if r := d.ranking; gap <= r.slack && (d.low.odds <= d.best && d.best <= d.high.odds || len(r.groups) == len(all.groups)) {
		return r
	}
	all.at(d.best, d.k)
	at := point{d.best, all.scored}
	all.scored = scored{}
	r, _, _ := all.narrow(d.k, at, at, gap)
	all.spare = append(all.spare, at.scores)
	return r
}

func better(a, b support) support {
	if b.gap < a.gap {
		return b
	}
	return a
}

// maxWalk limits the swaps of one walk. The two ends differ by the features that tie at the kink, mostly one or two.
const maxWalk = 2000

// walk goes from one support to the other, one swap at a time, and returns the best support on the way. The balance
// of the supports changes sign between the two ends, so somewhere on the way it is small.
func (f *frame) walk(from, to support) support {
	var out, in []int
	for i, n := range from.take {
		for range min(n-to.take[i], maxWalk+1) {
			out = append(out, i)
		}
		for range min(to.take[i]-n, maxWalk+1) {
			in = append(in, i)
		}
	}
	if len(out) != len(in) || len(out) < 2 || len(out) > maxWalk {
		return from
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(f.imbalance(b), f.imbalance(a)) })
	slices.SortStableFunc(in, func(a, b int) int { return cmp.Compare(f.imbalance(a), f.imbalance(b)) })
	at, bestGap, bestStep := from, from.gap, 0
	for s := range out {
		at = f.exchange(at, out[s], in[s], 1)
		if at.gap < bestGap {
			bestGap, bestStep = at.gap, s+1
		}
	}
	take := slices.Clone(from.take)
	for s := range bestStep {
		take[out[s]]--
		take[in[s]]++
	}
	return f.measure(take)
}

// exchange measures s with n features of group out replaced by n of group in. It does not change take.
func (f *frame) exchange(s support, out, in int, n float64) support {
	g, h := f.groups[out], f.groups[in]
	s.loss += n * (f.scores[out] - f.scores[in])
	s.positive += n * (h.Positive - g.Positive)
	s.negative += n * (h.Negative - g.Negative)
	s.gap = f.gap(s.loss, s.positive, s.negative)
	return s
}

const (
	maxSwaps      = 50  // rounds of the local search
	maxCandidates = 512 // groups on either side that a round tries
)

// swap improves a support by exchanging features of one group for features of another while that lowers the gap. Only
// groups whose cost is below the gap can help.
func (f *frame) swap(best support) support {
	for range maxSwaps {
		if best.gap <= 0 {
			break
		}
		next, ok := f.bestSwap(best)
		if !ok {
			break
		}
		best = next
	}
	return best
}

func (f *frame) bestSwap(s support) (support, bool) {
	ins := f.near(func(i int) bool { return s.take[i] > 0 && f.scores[i]-f.lambda < s.gap })
	outs := f.near(func(i int) bool { return s.take[i] < f.groups[i].Size && f.lambda-f.scores[i] < s.gap })
	d0 := f.beta*s.positive - f.alpha*s.negative
	curvature := (s.positive + s.negative) * f.alpha * f.beta
	found, least := move{}, s.gap*(1-1e-12)
	for _, i := range ins {
		for _, j := range outs {
			if i == j {
				continue
			}
			limit := float64(min(s.take[i], f.groups[j].Size-s.take[j]))
			for _, n := range [2]float64{1, f.bestCount(i, j, d0, curvature, limit)} {
				if s.loss+n*(f.scores[i]-f.scores[j]) >= least {
					continue
				}
				if gap := f.exchange(s, i, j, n).gap; gap < least {
					found, least = move{i, j, int64(n)}, gap
				}
			}
		}
	}
	if found.n == 0 {
		return s, false
	}
	take := slices.Clone(s.take)
	take[found.out] -= found.n
	take[found.in] += found.n
	next := f.measure(take)
	return next, next.gap < s.gap
}

type move struct {
	out, in int
	n       int64
}

// bestCount is how many features to move from group i to group j by the quadratic model of the gap, within [1, limit].
func (f *frame) bestCount(i, j int, d0, curvature, limit float64) float64 {
	dd := f.imbalance(j) - f.imbalance(i)
	c := max(0, f.scores[i]-f.scores[j])
	n := math.Round(-d0/dd - c*curvature/(dd*dd))
	if !(n >= 1) {
		return 1
	}
	return min(n, limit)
}

// near returns up to maxCandidates groups that satisfy want, those nearest to λ first.
func (f *frame) near(want func(i int) bool) []int {
	var found []int
	for i := range f.groups {
		if want(i) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(f.cost(a), f.cost(b)) })
	return found[:min(len(found), maxCandidates)]
}
