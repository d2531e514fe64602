package solver

import (
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// enumerate searches all supports that could have a smaller gap, and reports whether the search completed. A support
// differs from the top k by features removed and as many added, and each costs |h_i - λ|. A feature that costs at least the
// gap keeps its side (reduced-cost fixing), and a set of changes must cost less than the gap. The gap shrinks as better
// supports are found.
func (f *frame) enumerate(best support, maxNodes int) (result support, complete bool, nodes int) {
	if best.gap <= f.negligible() {
		return best, true, 0
	}
	e := &enumeration{frame: f, gap: best.gap, nodesLeft: maxNodes}
	e.items = topk.ItemsOf(f.scores, f.lambda, f.top, best.gap, func(i int) int64 { return f.groups[i].Size })
	start := f.measure(f.top)
	complete = e.extend(0, 0, 0, start.positive, start.negative)
	nodes = maxNodes - e.nodesLeft
	if e.found == nil {
		return best, complete, nodes
	}
	take := slices.Clone(f.top)
	for _, d := range e.found {
		take[d.Group] += d.N
	}
	return better(best, f.measure(take)), complete, nodes
}

// negligible is the gap below which only rounding remains.
func (f *frame) negligible() float64 { return 1e-13 * f.value }

type enumeration struct {
	*frame
	items     topk.Items
	gap       float64 // of the best support so far
	nodesLeft int
	path      []topk.Deviation // from the top k to the node being looked at
	found     []topk.Deviation // to the best support, if one was found
}

// extend visits the supports that deviate by e.path and by items[from:]. balance is the number of features added less those
// removed. It reports whether it visited all of them.
func (e *enumeration) extend(from int, cost float64, balance int64, positive, negative float64) bool {
	if e.nodesLeft == 0 {
		return false
	}
	e.nodesLeft--
	if balance == 0 {
		if gap := e.frame.gap(cost, positive, negative); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, append([]topk.Deviation{}, e.path...)
		}
	}
	for q := e.items.Next(from, balance); cost+e.items[q].Cost < e.gap; q = e.items.Next(q+1, balance) {
		it := e.items[q]
		least, most := it.Count(balance, e.items[q+1])
		for n := least; n <= most; n++ {
			c, d := cost+float64(n)*it.Cost, float64(n*it.Sign)
			if c >= e.gap {
				break
			}
			g := e.groups[it.Group]
			e.path = append(e.path, topk.Deviation{Group: it.Group, N: n * it.Sign})
			ok := e.extend(q+1, c, balance+n*it.Sign, positive+d*g.Positive, negative+d*g.Negative)
			e.path = e.path[:len(e.path)-1]
			if !ok {
				return false
			}
		}
	}
	return true
}
