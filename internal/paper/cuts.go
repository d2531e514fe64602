package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// A BidualBracket is a feasible x of (D) and what it proves: Gain ≤ ψ(k) - C ≤ Upper.
type BidualBracket struct {
	X           []float64
	Gain, Upper float64
}

// BidualByCuts solves (D) as corrected by E4 without its dual, as a linear program over x. Every α gives a cut, the
// objective min_α Σ x_i h_i(α) is at most Σ x_i h_i(α), and the next α is the share of the x that is best for the cuts so
// far. It ends when Upper exceeds Gain by a relative tolerance.
func BidualByCuts(c Counts, k int, tolerance float64) (BidualBracket, error) {
	positive, negative := c.totals()
	alpha := positive / (positive + negative)
	best := BidualBracket{X: make([]float64, c.Features())}
	var cuts [][]float64
	for range maxCuts {
		cuts = append(cuts, Scores(c, alpha))
		x, upper, err := bestForCuts(cuts, k)
		if err != nil {
			return best, err
		}
		best.Upper = upper
		if gain := BidualGain(c, x); gain > best.Gain {
			best.X, best.Gain = x, gain
		}
		if best.Upper-best.Gain <= tolerance*best.Upper {
			return best, nil
		}
		alpha = shareOf(c, x, alpha)
	}
	return best, fmt.Errorf("after %d cuts the bidual lies between %v and %v", maxCuts, best.Gain, best.Upper)
}

// maxCuts is far more than a search needs.
const maxCuts = 100

// shareOf is α_x, or halfway there from the last α if x has mass in one class only: a cut at 0 or 1 is infinite.
func shareOf(c Counts, x []float64, last float64) float64 {
	positive, negative := dot(x, c.Positive), dot(x, c.Negative)
	if positive+negative == 0 {
		return last
	}
	alpha := positive / (positive + negative)
	if alpha == 0 || alpha == 1 {
		return (alpha + last) / 2
	}
	return alpha
}

// bestForCuts maximizes t over 0 ≤ x ≤ 1, Σx ≤ k, 0 ≤ t ≤ Σ x_i h_i for every cut h. In the simplex's standard form the
// variables are x, t and a slack for each inequality. At x = 0 all cuts meet, where the simplex method can cycle. So
// every inequality is relaxed by a different small amount; t is still an upper bound.
func bestForCuts(cuts [][]float64, k int) (x []float64, t float64, err error) {
	m, unit := len(cuts[0]), unitOf(cuts)
	if unit <= 0 {
		return make([]float64, m), 0, nil // no x gains anything
	}
	rows, columns := m+1+len(cuts), 2*m+2+len(cuts)
	a, b, cost := mat.NewDense(rows, columns, nil), make([]float64, rows), make([]float64, columns)
	for i := range rows {
		a.Set(i, m+1+i, 1)
		_, fraction := math.Modf(float64(i) * math.Phi)
		b[i] = relaxation * (1 + fraction)
	}
	for i := range m {
		a.Set(i, i, 1)
		b[i]++
		a.Set(m, i, 1)
	}
	b[m] += float64(k)
	for j, h := range cuts {
		for i := range h {
			a.Set(m+1+j, i, -h[i]/unit)
		}
		a.Set(m+1+j, m, 1)
	}
	cost[m] = -1
	optimum, solution, err := lp.Simplex(cost, a, b, simplexTolerance, slacks(m, rows))
	if err != nil {
		return nil, 0, fmt.Errorf("cuts of the bidual: %w", err)
	}
	return feasible(solution[:m], k), -optimum * unit, nil
}

func feasible(x []float64, k int) []float64 {
	var sum float64
	for i := range x {
		x[i] = min(x[i], 1)
		sum += x[i]
	}
	scale(x, min(1, float64(k)/sum))
	return x
}

// relaxation is the size of that amount: above the rounding of the simplex method, below the tolerance of the tests.
const relaxation = 1e-11

// slacks is the basis of x = 0, t = 0.
func slacks(m, rows int) []int {
	basis := make([]int, rows)
	for i := range basis {
		basis[i] = m + 1 + i
	}
	return basis
}

// unitOf is the greatest entry of the lowest cut.
func unitOf(cuts [][]float64) float64 {
	unit := math.Inf(1)
	for _, h := range cuts {
		unit = min(unit, slices.Max(h))
	}
	return unit
}
