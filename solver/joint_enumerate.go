package solver

import "slices"

// enumerate looks for a support with a smaller gap among all that could have one, and reports whether it looked at all
// of them. A support deviates from the top k by features taken out and as many put in, and pays |h_i - λ| for each: a
// feature that costs the gap or more keeps its side (reduced-cost fixing), and of the others only sets that cost less
// than the gap together are possible. The gap shrinks as better supports are found.
func (f *jointFrame) enumerate(best jointSupport, maxNodes int) (result jointSupport, complete bool, nodes int) {
	if best.gap <= f.negligible() {
		return best, true, 0
	}
	e := &jointEnumeration{jointFrame: f, gap: best.gap, nodesLeft: maxNodes}
	e.items = itemsOf(f.scores, f.lambda, f.top, best.gap, f.size)
	e.masses = append(e.masses, f.ranking.massOf(f.top))
	complete = e.extend(0, 0, 0)
	nodes = maxNodes - e.nodesLeft
	if e.found == nil {
		return best, complete, nodes
	}
	take := slices.Clone(f.top)
	for _, d := range e.found {
		take[d.group] += d.n
	}
	return betterJoint(best, f.measure(take)), complete, nodes
}

type jointEnumeration struct {
	*jointFrame
	items     items
	gap       float64 // of the best support so far
	nodesLeft int
	path      []deviation // from the top k to the node being looked at
	masses    [][]float64 // B of every node on the path
	found     []deviation // to the best support, if one was found
}

// extend visits the supports that deviate as e.path does and by items[from:]. balance is how many more features were
// put in than taken out. It reports whether it visited them all.
func (e *jointEnumeration) extend(from int, cost float64, balance int64) bool {
	if e.nodesLeft == 0 {
		return false
	}
	e.nodesLeft--
	depth := len(e.path)
	if balance == 0 {
		if gap := e.jointFrame.gap(cost, e.masses[depth]); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, append([]deviation{}, e.path...)
		}
	}
	for q := e.items.next(from, balance); cost+e.items[q].cost < e.gap; q = e.items.next(q+1, balance) {
		it := e.items[q]
		least, most := it.count(balance, e.items[q+1])
		for n := least; n <= most; n++ {
			c := cost + float64(n)*it.cost
			if c >= e.gap {
				break
			}
			e.descend(depth, it.group, n*it.sign)
			ok := e.extend(q+1, c, balance+n*it.sign)
			e.path = e.path[:depth]
			if !ok {
				return false
			}
		}
	}
	return true
}

// descend adds a deviation to the path.
func (e *jointEnumeration) descend(depth, vector int, n int64) {
	e.path = append(e.path, deviation{vector, n})
	if len(e.masses) == depth+1 {
		e.masses = append(e.masses, make([]float64, len(e.masses[0])))
	}
	mass := e.masses[depth+1]
	copy(mass, e.masses[depth])
	e.shift(mass, vector, float64(n))
}
