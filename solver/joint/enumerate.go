package joint

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
	e.items = topk.ItemsOf(f.scores, f.lambda, f.top, best.gap, f.size)
	e.masses = append(e.masses, f.ranking.massOf(f.top))
	complete = e.extend(0, 0, 0)
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

type enumeration struct {
	*frame
	items     topk.Items
	gap       float64 // of the best support so far
	nodesLeft int
	path      []topk.Deviation // from the top k to the node being looked at
	masses    [][]float64      // B of every node on the path
	found     []topk.Deviation // to the best support, if one was found
}

// extend visits the supports that deviate by e.path and by items[from:]. balance is the number of features added less those
// removed. It reports whether it visited all of them.
func (e *enumeration) extend(from int, cost float64, balance int64) bool {
	if e.nodesLeft == 0 {
		return false
	}
	e.nodesLeft--
	depth := len(e.path)
	if balance == 0 {
		if gap := e.frame.gap(cost, e.masses[depth]); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, append([]topk.Deviation{}, e.path...)
		}
	}
	for q := e.items.Next(from, balance); cost+e.items[q].Cost < e.gap; q = e.items.Next(q+1, balance) {
		it := e.items[q]
		least, most := it.Count(balance, e.items[q+1])
		for n := least; n <= most; n++ {
			c := cost + float64(n)*it.Cost
			if c >= e.gap {
				break
			}
			e.descend(depth, it.Group, n*it.Sign)
			ok := e.extend(q+1, c, balance+n*it.Sign)
			e.path = e.path[:depth]
			if !ok {
				return false
			}
		}
	}
	return true
}

// descend adds a deviation to the path.
func (e *enumeration) descend(depth, vector int, n int64) {
	e.path = append(e.path, topk.Deviation{Group: vector, N: n})
	if len(e.masses) == depth+1 {
		e.masses = append(e.masses, make([]float64, len(e.masses[0])))
	}
	mass := e.masses[depth+1]
	copy(mass, e.masses[depth])
	e.shift(mass, vector, float64(n))
}
