package solver

import "math"

// cut is a support J seen as a lower bound of the dual function: for every α,
//
//	H_J(α) = D(J) + h(B⁺, B⁻; α) ≤ s_k(h(α)),
//
// with equality where J is a top k. Its own minimum D(J) lies at the odds B⁺/B⁻.
type cut struct {
	at                 odds    // where J is the top k; ranking there finds the support again
	gain               float64 // D(J)
	positive, negative float64 // B⁺, B⁻
}

func (c *cut) value(o odds) float64 {
	alpha, beta := o.shares()
	return c.gain + divergence(c.positive, c.negative, alpha, beta)
}

func (c *cut) minimizer() odds { return odds(c.positive / c.negative) }

// dual is the state of the search for ψ(k)-C = min_α s_k(h(α)). The minimizer lies between low and high; lowCut and
// highCut are the cuts found there, the first falling and the second rising.
type dual struct {
	ranking         *ranking // narrowed to what is open between low and high
	k               int64
	low, high       point
	lowCut, highCut *cut
	upper, lower    float64 // lower ≤ ψ(k)-C ≤ upper, at every moment
	best            odds    // where upper was found
	evaluations     int
	status          Status
}

// openShare is the distance from λ, relative to λ, within which features stay open although the search for ψ does not need
// them: the best support may have them on the other side.
const openShare = 0.02

// minimize finds ψ(k)-C for 1 ≤ k < number of features, when both classes have mass. Each evaluation yields a cut; the
// next point is where the model made of the two cuts nearest to the minimizer has its own minimum. That point depends
// only on the pair of cuts and no pair repeats, so the search is finite. It needs 3 to 30 evaluations; all but two to four
// of them score only the few groups that are still open.
func minimize(r *ranking, k int64, start odds, s Settings) *dual {
	d := &dual{ranking: r, k: k, high: point{odds: odds(inf)}, upper: inf, best: start}
	for next := start; ; {
		if d.evaluations == s.MaxEvaluations {
			d.status = Stopped
			return d
		}
		if d.evaluate(next, s) {
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
		if !d.brackets(next) {
			next = d.middle()
		}
		if !d.brackets(next) {
			d.status = Resolution
			return d
		}
	}
}

// brackets reports whether the point lies inside the bracket.
func (d *dual) brackets(o odds) bool { return d.low.odds < o && o < d.high.odds }

// evaluate computes s_k(h) at o and narrows the bracket. It reports whether the top k at o has its own minimum there,
// in which case it is an optimal support and ψ(k) = φ(k).
func (d *dual) evaluate(o odds, s Settings) (smooth bool) {
	t := d.at(o)
	alpha, beta := o.shares()
	c := &cut{at: o, gain: t.value - divergence(t.positive, t.negative, alpha, beta), positive: t.positive, negative: t.negative}
	if c.gain >= t.value*(1-s.Tolerance) {
		d.lower = max(d.lower, c.gain)
		d.lowCut, d.highCut = c, c
		d.polish(c)
		return true
	}
	r := d.ranking
	if beta*t.positive-alpha*t.negative > 0 {
		d.lowCut = c
		d.low.odds = o
		d.low.scored, r.scored = r.scored, d.low.scored
	} else {
		d.highCut = c
		d.high.odds = o
		d.high.scored, r.scored = r.scored, d.high.scored
	}
	if d.lowCut != nil && d.highCut != nil && len(r.groups) >= s.narrowFrom {
		low, high := d.low.scores, d.high.scores
		d.ranking, d.low, d.high = r.narrow(d.k, d.low, d.high, openShare*t.lambda)
		if d.ranking != r && r.index == nil {
			r.spare = append(r.spare, low, high)
		}
	}
	return false
}

// at evaluates s_k(h) at o.
func (d *dual) at(o odds) top {
	d.evaluations++
	t := d.ranking.at(o, d.k)
	if t.value < d.upper {
		d.upper, d.best = t.value, o
	}
	return t
}

// polish moves the best point to the cut's own minimizer: s_k(h) is so flat there that its value determines α only to the
// square root of the tolerance.
func (d *dual) polish(c *cut) {
	o := c.minimizer()
	if o == c.at || !(c.positive > 0 && c.negative > 0) || !d.brackets(o) {
		return
	}
	if t := d.at(o); t.value == d.upper {
		d.best = o
	}
}

// model returns the minimizer of the greater of the two cuts, and its value there: a lower bound of ψ(k)-C.
func (d *dual) model() (odds, float64) {
	a, b := d.lowCut, d.highCut
	switch {
	case b == nil:
		return a.minimizer(), a.gain
	case a == nil:
		return b.minimizer(), b.gain
	}
	ma, mb := a.minimizer(), b.minimizer()
	if ma < d.high.odds && b.value(ma) <= a.gain {
		return ma, a.gain
	}
	if mb > d.low.odds && a.value(mb) <= b.gain {
		return mb, b.gain
	}
	// The cuts cross between mb and ma, where a falls and b rises.
	x, y := max(d.low.odds, mb), min(d.high.odds, ma)
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

// middle returns a point in the bracket, for the case that rounding puts the model's minimizer outside.
func (d *dual) middle() odds {
	low, high := d.low.odds, d.high.odds
	switch {
	case low > 0 && !math.IsInf(float64(high), 1):
		return odds(math.Sqrt(float64(low)) * math.Sqrt(float64(high)))
	case low > 0:
		return 2 * low
	}
	return high / 2
}
