package joint

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// dual is the state of the search for ψ(k)-C = min_α s_k(h(α)) over the simplex of classes.
type dual struct {
	cuts         []*cut
	upper, lower float64 // lower ≤ ψ(k)-C ≤ upper, at every moment
	best         Shares  // where upper was found
	evaluations  int
	status       solver.Status
}

// minimize finds ψ(k)-C for 1 ≤ k < number of features with mass, if at least two classes have mass. Each
// evaluation yields a cut, and the next point is the minimizer of the greatest of the cuts.
func minimize(r *ranking, k int64, start Shares, s solver.Settings) *dual {
	d := &dual{upper: math.Inf(1), best: start}
	reach, moved := 1e-2, false
	model := master{}
	for next := start; ; {
		if d.evaluations == s.MaxEvaluations {
			d.status = solver.Stopped
			return d
		}
		fresh, smooth := d.evaluate(r, k, next, s.Tolerance)
		if smooth {
			d.status = solver.Smooth
			return d
		}
		at, bound := model.minimize(d.cuts)
		d.lower = max(d.lower, min(bound, d.upper))
		if d.upper-d.lower <= s.Tolerance*d.upper {
			d.status = solver.Kink
			return d
		}
		if !fresh {
			if !moved || reach < 1e-200 {
				d.status = solver.Resolution
				return d
			}
			reach *= reach
		}
		next, moved = d.within(at, reach)
		d.drop()
	}
}

// evaluate computes s_k(h) at α and adds the cut found there. It reports whether the cut is a new one, and whether the
// top k at α has its own minimum there, in which case it is an optimal support and ψ(k) = φ(k).
func (d *dual) evaluate(r *ranking, k int64, at Shares, tolerance float64) (fresh, smooth bool) {
	d.evaluations++
	t := r.at(&at, k)
	if t.value < d.upper {
		d.upper, d.best = t.value, at
	}
	c := &cut{at: at, gain: r.gain(t), mass: t.mass, total: numeric.Total(t.mass)}
	known := slices.ContainsFunc(d.cuts, func(o *cut) bool { return o.gain == c.gain && slices.Equal(o.mass, c.mass) })
	if !known {
		d.cuts = append(d.cuts, c)
	}
	if c.gain >= t.value*(1-tolerance) {
		// Another point may have the same bound up to rounding, but here the support is optimal.
		d.upper, d.best, d.lower = t.value, at, c.gain
		return !known, true
	}
	return !known, false
}

// within keeps every share at least at reach times that of the best point so far, and reports whether it moved one. A cut
// does not bound the share of a class without counts in it, and the minimizer would leave that class no share.
func (d *dual) within(at Shares, reach float64) (point Shares, moved bool) {
	alpha := slices.Clone(at.Alpha)
	for c, a := range alpha {
		if least := d.best.Alpha[c] * reach; a < least {
			alpha[c], moved = least, true
		}
	}
	if !moved {
		return at, false
	}
	return sharesOf(alpha), true
}

// drop removes the cut with the least weight if there are many.
func (d *dual) drop() {
	limit := 3*len(d.best.Alpha) + 40
	if len(d.cuts) <= limit {
		return
	}
	order := slices.Clone(d.cuts)
	slices.SortStableFunc(order, func(a, b *cut) int { return cmp.Compare(b.weight, a.weight) })
	least := order[limit]
	d.cuts = slices.DeleteFunc(d.cuts, func(c *cut) bool { return c == least })
}
