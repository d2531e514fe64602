package solver

import (
	"cmp"
	"math"
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
func (f *frame) negligible() float64 { return 1e-13 * f.value }

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
	// in and out are how many features this item and those after it can put in and take out, and nextIn and nextOut
	// where the first of them stands that can.
	in, out         int64
	nextIn, nextOut int
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
	last := len(e.items)
	e.items = append(e.items, item{cost: math.Inf(1), nextIn: last, nextOut: last})
	for q := last - 1; q >= 0; q-- {
		it, after := &e.items[q], e.items[q+1]
		it.in, it.out, it.nextIn, it.nextOut = after.in, after.out, after.nextIn, after.nextOut
		if it.sign > 0 {
			it.in, it.nextIn = it.in+it.available, q
		} else {
			it.out, it.nextOut = it.out+it.available, q
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
	if balance == 0 {
		if gap := e.frame.gap(cost, positive, negative); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, append([]deviation{}, e.path...)
		}
	}
	for q := e.next(from, balance); cost+e.items[q].cost < e.gap; q = e.next(q+1, balance) {
		it := e.items[q]
		least, most := it.count(balance, e.items[q+1])
		for n := least; n <= most; n++ {
			c, d := cost+float64(n)*it.cost, float64(n*it.sign)
			if c >= e.gap {
				break
			}
			g := e.groups[it.group]
			e.path = append(e.path, deviation{it.group, n * it.sign})
			ok := e.extend(q+1, c, balance+n*it.sign, positive+d*g.Positive, negative+d*g.Negative)
			e.path = e.path[:len(e.path)-1]
			if !ok {
				return false
			}
		}
	}
	return true
}

// next returns the first item from q on of which features may change sides at a given balance, and the one behind the
// last if there is none. It passes over any number of items at once: with k = 2 and a million features, nearly all can
// only be put in.
func (e *enumeration) next(q int, balance int64) int {
	it := e.items[q]
	putIn, takeOut := it.out > balance, it.in > -balance // something is left to make up for it
	switch {
	case balance > it.out, -balance > it.in, !putIn && !takeOut:
		return len(e.items) - 1
	case !putIn:
		return it.nextOut
	case !takeOut:
		return it.nextIn
	}
	return q
}

// count is how many features of the group may change sides at a given balance, so that the items after it can still
// bring the balance to zero.
func (it item) count(balance int64, after item) (least, most int64) {
	if it.sign > 0 {
		return max(1, -balance-after.in), min(it.available, after.out-balance)
	}
	return max(1, balance-after.out), min(it.available, after.in+balance)
}
