package solver

import (
	"cmp"
	"slices"
)

// enumerate looks for a support with a smaller gap among all that could have one, and reports whether it looked at all
// of them. A support deviates from the top k by features taken out and as many put in, and pays |h_i - λ| for each: a
// feature that costs the gap or more keeps its side (reduced-cost fixing), and of the others only sets that cost less
// than the gap together are possible. The gap shrinks as better supports are found.
func (f *frame) enumerate(best support, maxNodes int) (result support, complete bool, nodes int) {
	if best.gap <= f.negligible() {
		return best, true, 0
	}
	e := &enumeration{frame: f, gap: best.gap, nodesLeft: maxNodes}
	e.collect()
	start := f.measure(f.top)
	complete = e.extend(0, 0, 0, start.positive, start.negative)
	nodes = maxNodes - e.nodesLeft
	if e.found == nil {
		return best, complete, nodes
	}
	take := slices.Clone(f.top)
	for _, d := range e.found {
		take[d.group] += d.n
	}
	return better(best, f.measure(take)), complete, nodes
}

// negligible is a gap that is rounding.
func (f *frame) negligible() float64 {
	var value sum
	for i, n := range f.top {
		value.add(float64(n) * f.scores[i])
	}
	return 1e-13 * value.value()
}

type enumeration struct {
	*frame
	items     []item
	gap       float64 // of the best support so far
	nodesLeft int
	path      []deviation // from the top k to the node being looked at
	found     []deviation // to the best support, if one was found
}

// item is a group of which features may change sides.
type item struct {
	group     int
	cost      float64
	sign      int64 // +1: features are put in, -1: they are taken out
	available int64
	// inLater and outLater are how many features the later items can put in and take out.
	inLater, outLater int64
}

// least and most bound how many features of the group may change sides at a given balance, so that later items can
// still bring the balance to zero.
func (it item) least(balance int64) int64 {
	if it.sign > 0 {
		return max(1, -balance-it.inLater)
	}
	return max(1, balance-it.outLater)
}

func (it item) most(balance int64) int64 {
	if it.sign > 0 {
		return min(it.available, it.outLater-balance)
	}
	return min(it.available, it.inLater+balance)
}

type deviation struct {
	group int
	n     int64
}

func (e *enumeration) collect() {
	for i, g := range e.groups {
		if e.cost(i) >= e.gap {
			continue
		}
		// The group at λ may stand on both sides.
		if e.top[i] > 0 && e.scores[i] >= e.lambda {
			e.items = append(e.items, item{group: i, cost: e.cost(i), sign: -1, available: e.top[i]})
		}
		if e.top[i] < g.Size && e.scores[i] <= e.lambda {
			e.items = append(e.items, item{group: i, cost: e.cost(i), sign: +1, available: g.Size - e.top[i]})
		}
	}
	slices.SortStableFunc(e.items, func(a, b item) int { return cmp.Compare(a.cost, b.cost) })
	var in, out int64
	for q := len(e.items) - 1; q >= 0; q-- {
		e.items[q].inLater, e.items[q].outLater = in, out
		if e.items[q].sign > 0 {
			in += e.items[q].available
		} else {
			out += e.items[q].available
		}
	}
}

// extend visits the supports that deviate as e.path does and by items[from:]. balance is how many more features were
// put in than taken out. It reports whether it visited them all.
func (e *enumeration) extend(from int, cost float64, balance int64, positive, negative float64) bool {
	if e.nodesLeft == 0 {
		return false
	}
	e.nodesLeft--
	if balance == 0 && len(e.path) > 0 {
		if gap := e.frame.gap(cost, positive, negative); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, slices.Clone(e.path)
		}
	}
	for q := from; q < len(e.items); q++ {
		it := e.items[q]
		if cost+it.cost >= e.gap {
			break
		}
		for n := it.least(balance); n <= it.most(balance); n++ {
			c, b, d := cost+float64(n)*it.cost, balance+n*it.sign, float64(n*it.sign)
			if c >= e.gap {
				break
			}
			g := e.groups[it.group]
			e.path = append(e.path, deviation{it.group, n * it.sign})
			ok := e.extend(q+1, c, b, positive+d*g.Positive, negative+d*g.Negative)
			e.path = e.path[:len(e.path)-1]
			if !ok {
				return false
			}
		}
	}
	return true
}
