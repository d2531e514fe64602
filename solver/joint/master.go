package joint

import (
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// cut is the lower bound of the dual function that a support J gives: for every α
//
//	H_J(α) = D(J) + |B|·KL(B/|B| ‖ α) ≤ s_k(h(α)),
//
// with equality where J is a top k. Its own minimum D(J) lies at B/|B|.
type cut struct {
	at     Shares    // where J is the top k; ranking there finds the support again
	gain   float64   // D(J)
	mass   []float64 // B by class
	total  float64   // |B|
	weight float64   // λ_J in the last solution
}

func (c *cut) value(at *Shares) float64 { return c.gain + at.divergenceOf(c.mass) }

// master is the master problem of the cutting-plane method: it minimizes the greatest of several cuts over α. By duality
// the minimum is the maximum of
//
//	G(λ) = Σ_j λ_j H_j(α(λ)),   α(λ) = Σ_j λ_j B_j / Σ_j λ_j|B_j|
//
// over λ in the simplex of cuts, a concave problem, and G(λ) ≤ ψ(k)-C for every λ.
type master struct {
	lambda, slack []float64 // λ_j, and t - H_j for the multiplier t of Σλ = 1
	t             float64
}

const (
	maxModelSteps = 100 // 10 to 30 are usual
	maxStalled    = 4   // steps without a better bound or point
)

// minimize returns the minimizer of the greatest of the cuts, and a lower bound of the minimum, which is exact except for
// rounding. It stores λ in the cuts.
//
// It is a primal-dual interior-point method with Mehrotra's predictor-corrector (1992) on
//
//	t - H_j(α(λ)) = s_j,   λ_j s_j = μ → 0,   Σ λ_j = 1,
//
// where the Jacobian of the H_j is -VVᵀ with V_jc = (B_jc - |B_j|α_c)/√a_c and a = Σ_j λ_j B_j.
func (m *master) minimize(cuts []*cut) (Shares, float64) {
	if best, ok := lowestOfAll(cuts); ok {
		return sharesOf(best.mass), best.gain
	}
	m.start(cuts)
	var lowest Shares
	least, bound, best := math.Inf(1), math.Inf(-1), make([]float64, len(cuts))
	for step, stalled := 0, 0; step < maxModelSteps && stalled < maxStalled; step, stalled = step+1, stalled+1 {
		at := m.point(cuts)
		values := make([]float64, len(cuts))
		var mean numeric.Accumulator
		for j, c := range cuts {
			values[j] = c.value(&at)
			mean.Add(m.lambda[j] * values[j])
		}
		if high := slices.Max(values); high < least {
			lowest, least, stalled = at, high, 0
		}
		if low := mean.Value(); low > bound {
			bound, stalled = low, 0
			copy(best, m.lambda)
		}
		if least <= bound || !m.step(cuts, at, values) {
			break
		}
	}
	for j, c := range cuts {
		c.weight = best[j]
	}
	return lowest, bound
}

// lowestOfAll returns the cut whose own minimum is the minimum of all, if there is one.
func lowestOfAll(cuts []*cut) (*cut, bool) {
	best := cuts[0]
	for _, c := range cuts {
		if c.gain > best.gain {
			best = c
		}
	}
	own := sharesOf(best.mass)
	for _, c := range cuts {
		if c != best && !(c.value(&own) <= best.gain) {
			return nil, false
		}
	}
	for _, c := range cuts {
		c.weight = 0
	}
	best.weight = 1
	return best, true
}

// start sets equal weights.
func (m *master) start(cuts []*cut) {
	m.lambda, m.slack = make([]float64, len(cuts)), make([]float64, len(cuts))
	for j := range cuts {
		m.lambda[j] = 1 / float64(len(cuts))
	}
	at := m.point(cuts)
	high, low := math.Inf(-1), math.Inf(1)
	for _, c := range cuts {
		v := c.value(&at)
		high, low = max(high, v), min(low, v)
	}
	m.t = high + max(high-low, 1e-8*high)
	for j, c := range cuts {
		m.slack[j] = m.t - c.value(&at)
	}
}

// point is α(λ).
func (m *master) point(cuts []*cut) Shares { return sharesOf(m.mixture(cuts)) }

// mixture is a = Σ_j λ_j B_j.
func (m *master) mixture(cuts []*cut) []float64 {
	a := make([]float64, len(cuts[0].mass))
	for j, c := range cuts {
		for i, b := range c.mass {
			a[i] += m.lambda[j] * b
		}
	}
	return a
}

// step makes one Newton step towards a smaller μ. It reports whether it succeeded.
func (m *master) step(cuts []*cut, at Shares, values []float64) bool {
	n := len(cuts)
	mu := 0.0
	for j := range cuts {
		mu += m.lambda[j] * m.slack[j] / float64(n)
	}
	factor := m.jacobian(cuts, at)
	// VVᵀ is singular along λ, and nearly so if cuts are nearly dependent. The ridge makes it positive definite; later steps
	// correct its effect.
	ridge := 0.0
	for j := range n {
		ridge += 1e-14 * factor[j][j] / float64(n)
	}
	for j := range n {
		factor[j][j] += m.slack[j]/m.lambda[j] + ridge
	}
	if !cholesky(factor) {
		return false
	}
	ones := make([]float64, n)
	for j := range ones {
		ones[j] = 1
	}
	substitute(factor, ones)
	// Δλ from λ_jΔs_j + s_jΔλ_j = target_j - λ_j s_j and Δs = Δt + VVᵀΔλ - r with r the residual of s = t - H.
	direction := func(target func(j int) float64) (dl, ds []float64, dt float64) {
		dl, ds = make([]float64, n), make([]float64, n)
		for j := range n {
			residual := m.slack[j] - m.t + values[j]
			dl[j] = target(j)/m.lambda[j] - m.slack[j] + residual
		}
		substitute(factor, dl)
		top, bottom := 0.0, 0.0
		for j := range n {
			top += dl[j]
			bottom += ones[j]
		}
		dt = top / bottom
		for j := range n {
			dl[j] -= dt * ones[j]
			ds[j] = (target(j)-m.slack[j]*dl[j])/m.lambda[j] - m.slack[j]
		}
		return dl, ds, dt
	}
	dl, ds, _ := direction(func(int) float64 { return 0 })
	length, after := m.length(dl, ds, 1), 0.0
	for j := range n {
		after += (m.lambda[j] + length*dl[j]) * (m.slack[j] + length*ds[j]) / float64(n)
	}
	sigma := math.Pow(max(0, after/mu), 3)
	cl, cs := dl, ds
	dl, ds, dt := direction(func(j int) float64 { return sigma*mu - cl[j]*cs[j] })
	length = m.length(dl, ds, 0.995)
	if !(length > 0) {
		return false
	}
	var total numeric.Accumulator
	for j := range n {
		m.lambda[j] += length * dl[j]
		m.slack[j] += length * ds[j]
		total.Add(m.lambda[j])
	}
	m.t += length * dt
	for j := range n {
		m.lambda[j] /= total.Value()
		if !(m.lambda[j] > 0) || !(m.slack[j] > 0) {
			return false
		}
	}
	return true
}

// length is the longest step, at most 1, that covers no more than the share keep of the way to a zero λ or slack.
func (m *master) length(dl, ds []float64, keep float64) float64 {
	length := 1.0
	for j := range dl {
		if dl[j] < 0 {
			length = min(length, -keep*m.lambda[j]/dl[j])
		}
		if ds[j] < 0 {
			length = min(length, -keep*m.slack[j]/ds[j])
		}
	}
	return length
}

// jacobian is VVᵀ.
func (m *master) jacobian(cuts []*cut, at Shares) [][]float64 {
	a := m.mixture(cuts)
	v := make([][]float64, len(cuts))
	for j, c := range cuts {
		v[j] = make([]float64, len(a))
		for i, b := range c.mass {
			if a[i] > 0 {
				v[j][i] = (b - c.total*at.Alpha[i]) / math.Sqrt(a[i])
			}
		}
	}
	out := make([][]float64, len(cuts))
	for j := range cuts {
		out[j] = make([]float64, len(cuts))
		for i := range j + 1 {
			for c := range a {
				out[j][i] += v[j][c] * v[i][c]
			}
		}
	}
	return out
}

// cholesky replaces the lower triangle of a by L with LLᵀ = a. It reports whether a is positive definite.
func cholesky(a [][]float64) bool {
	for j := range a {
		for i := range j + 1 {
			x := a[j][i]
			for k := range i {
				x -= a[j][k] * a[i][k]
			}
			if i < j {
				a[j][i] = x / a[i][i]
				continue
			}
			if !(x > 0) || math.IsInf(x, 1) {
				return false
			}
			a[j][j] = math.Sqrt(x)
		}
	}
	return true
}

// substitute replaces b by the solution x of LLᵀx = b.
func substitute(l [][]float64, b []float64) {
	for j := range b {
		for k := range j {
			b[j] -= l[j][k] * b[k]
		}
		b[j] /= l[j][j]
	}
	for j := len(b) - 1; j >= 0; j-- {
		for k := j + 1; k < len(b); k++ {
			b[j] -= l[k][j] * b[k]
		}
		b[j] /= l[j][j]
	}
}
