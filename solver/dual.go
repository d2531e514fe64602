package solver

import "math"

// cut is a support J seen as a lower bound of the dual function: for every α,
//
//	H_J(α) = D(J) + h(B⁺, B⁻; α) ≤ s_k(h(α)),
//
// with equality where J is a top k. Its own minimum D(J) lies at the odds B⁺/B⁻.
type cut struct {
	at                 odds    // where J is the top k; the support itself is found again by ranking there
	gain               float64 // D(J)
	positive, negative float64 // B⁺, B⁻
}

func (c *cut) value(o odds) float64 {
	alpha, beta := o.shares()
	return c.gain + divergence(c.positive, c.negative, alpha, beta)
}

func (c *cut) minimiser() odds { return odds(c.positive / c.negative) }

// dual is the state of the search for ψ(k)-C = min_α s_k(h(α)). The minimiser lies in (low, high); lowCut and highCut
// are the cuts found at its two ends, the first falling and the second rising there.
type dual struct {
	low, high       odds
	lowCut, highCut *cut
	upper, lower    float64 // lower ≤ ψ(k)-C ≤ upper, at every moment
	best            odds    // where upper was found
	evaluations     int
	status          Status
}

// minimise finds ψ(k)-C for 1 ≤ k < number of features, when both classes have mass. Each evaluation yields a cut; the
// next point is where the model made of the two cuts nearest to the minimiser has its own minimum. That point depends
// on the pair of cuts alone and no pair comes twice, so the search is finite; it needs 3 to 30 evaluations.
func minimise(r *ranking, k int64, start odds, s Settings) *dual {
	d := &dual{high: odds(math.Inf(1)), upper: math.Inf(1), best: start}
	for next := start; ; {
		if d.evaluations == s.MaxEvaluations {
			d.status = Stopped
			return d
		}
		if d.evaluate(r, k, next, s.Tolerance) {
			d.status = Smooth
			return d
		}
		var bound float64
		next, bound = d.model()
		d.lower = max(d.lower, min(bound, d.upper))
		if d.upper-d.lower <= s.Tolerance*d.upper {
			d.status = Kink
			return d
		}
		if !(d.low < next && next < d.high) {
			next = d.middle()
		}
		if !(d.low < next && next < d.high) {
			d.status = Resolution
			return d
		}
	}
}

// evaluate computes s_k(h) at o and narrows the bracket. It reports whether the top k at o has its own minimum there,
// in which case it is an optimal support and ψ(k) = φ(k).
func (d *dual) evaluate(r *ranking, k int64, o odds, tolerance float64) (smooth bool) {
	d.evaluations++
	t := r.at(o, k)
	if t.value < d.upper {
		d.upper, d.best = t.value, o
	}
	alpha, beta := o.shares()
	c := &cut{at: o, gain: t.value - divergence(t.positive, t.negative, alpha, beta), positive: t.positive, negative: t.negative}
	if c.gain >= t.value*(1-tolerance) {
		d.lower = max(d.lower, c.gain)
		d.lowCut, d.highCut = c, c
		d.polish(r, k, c)
		return true
	}
	if beta*t.positive-alpha*t.negative > 0 {
		d.low, d.lowCut = o, c
	} else {
		d.high, d.highCut = o, c
	}
	return false
}

// polish moves the best point to the cut's own minimiser: s_k(h) is so flat there that its value fixes α only to the
// square root of the tolerance.
func (d *dual) polish(r *ranking, k int64, c *cut) {
	o := c.minimiser()
	if o == c.at || !(c.positive > 0 && c.negative > 0) {
		return
	}
	d.evaluations++
	if t := r.at(o, k); t.value <= d.upper {
		d.upper, d.best = t.value, o
	}
}

// model returns the minimiser of the greater of the two cuts, and its value there: a lower bound of ψ(k)-C.
func (d *dual) model() (odds, float64) {
	a, b := d.lowCut, d.highCut
	switch {
	case b == nil:
		return a.minimiser(), a.gain
	case a == nil:
		return b.minimiser(), b.gain
	}
	ma, mb := a.minimiser(), b.minimiser()
	if ma < d.high && b.value(ma) <= a.gain {
		return ma, a.gain
	}
	if mb > d.low && a.value(mb) <= b.gain {
		return mb, b.gain
	}
	// The cuts cross between mb and ma, where a falls and b rises.
	x, y := max(d.low, mb), min(d.high, ma)
	for {
		z := (x + y) / 2
		if y > 2*x {
			z = odds(math.Sqrt(float64(x)) * math.Sqrt(float64(y)))
		}
		if !(x < z && z < y) {
			break
		}
		if a.value(z) > b.value(z) {
			x = z
		} else {
			y = z
		}
	}
	bound := max(a.gain, b.gain, min(a.value(y), b.value(x)))
	return (x + y) / 2, bound
}

// middle returns a point within the bracket for when rounding puts the model's minimiser outside.
func (d *dual) middle() odds {
	switch {
	case d.low > 0 && !math.IsInf(float64(d.high), 1):
		return odds(math.Sqrt(float64(d.low)) * math.Sqrt(float64(d.high)))
	case d.low > 0:
		return 2 * d.low
	}
	return d.high / 2
}
