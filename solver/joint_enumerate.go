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
func (f *jointFrame) enumerate(best jointSupport, maxNodes int) (result jointSupport, complete bool, nodes int) {
	if best.gap <= f.negligible() {
		return best, true, 0
	}
	e := &jointEnumeration{jointFrame: f, gap: best.gap, nodesLeft: maxNodes}
	e.collect()
	e.masses = append(e.masses, f.ranking.massOf(f.top))
	complete = e.extend(0, 0, 0)
	nodes = maxNodes - e.nodesLeft
	if e.found == nil {
		return best, complete, nodes
	}
	take := slices.Clone(f.top)
	for _, d := range e.found {
		take[d.vector] += d.n
	}
	return betterJoint(best, f.measure(take)), complete, nodes
}

type jointEnumeration struct {
	*jointFrame
	items     []jointItem
	gap       float64 // of the best support so far
	nodesLeft int
	path      []jointDeviation // from the top k to the node being looked at
	masses    [][]float64      // B of every node on the path
	found     []jointDeviation // to the best support, if one was found
}

// jointItem is a vector of which features may change sides.
type jointItem struct {
	vector    int
	cost      float64
	sign      int64 // +1: features are put in, -1: they are taken out
	available int64
	// in and out are how many features this item and those after it can put in and take out, and nextIn and nextOut
	// where the first of them stands that can.
	in, out         int64
	nextIn, nextOut int
}

type jointDeviation struct {
	vector int
	n      int64
}

func (e *jointEnumeration) collect() {
	for i := range e.scores {
		if e.cost(i) >= e.gap {
			continue
		}
		// The vector at λ may stand on both sides.
		if e.top[i] > 0 && e.scores[i] >= e.lambda {
			e.items = append(e.items, jointItem{vector: i, cost: e.cost(i), sign: -1, available: e.top[i]})
		}
		if e.top[i] < e.size(i) && e.scores[i] <= e.lambda {
			e.items = append(e.items, jointItem{vector: i, cost: e.cost(i), sign: +1, available: e.size(i) - e.top[i]})
		}
	}
	slices.SortStableFunc(e.items, func(a, b jointItem) int { return cmp.Compare(a.cost, b.cost) })
	last := len(e.items)
	e.items = append(e.items, jointItem{cost: math.Inf(1), nextIn: last, nextOut: last})
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
func (e *jointEnumeration) extend(from int, cost float64, balance int64) bool {
	if e.nodesLeft == 0 {
		return false
	}
	e.nodesLeft--
	depth := len(e.path)
	if balance == 0 {
		if gap := e.jointFrame.gap(cost, e.masses[depth]); gap < e.gap*(1-1e-12) {
			e.gap, e.found = gap, append([]jointDeviation{}, e.path...)
		}
	}
	for q := e.next(from, balance); cost+e.items[q].cost < e.gap; q = e.next(q+1, balance) {
		it := e.items[q]
		least, most := it.count(balance, e.items[q+1])
		for n := least; n <= most; n++ {
			c := cost + float64(n)*it.cost
			if c >= e.gap {
				break
			}
			e.descend(depth, it.vector, n*it.sign)
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
	e.path = append(e.path, jointDeviation{vector, n})
	if len(e.masses) == depth+1 {
		e.masses = append(e.masses, make([]float64, len(e.masses[0])))
	}
	mass := e.masses[depth+1]
	copy(mass, e.masses[depth])
	e.shift(mass, vector, float64(n))
}

// next returns the first item from q on of which features may change sides at a given balance, and the one behind the
// last if there is none. It passes over any number of items at once: with k = 2 and a million features, nearly all can
// only be put in.
func (e *jointEnumeration) next(q int, balance int64) int {
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

// count is how many features of the vector may change sides at a given balance, so that the items after it can still
// bring the balance to zero.
func (it jointItem) count(balance int64, after jointItem) (least, most int64) {
	if it.sign > 0 {
		return max(1, -balance-after.in), min(it.available, after.out-balance)
	}
	return max(1, balance-after.out), min(it.available, after.in+balance)
}
