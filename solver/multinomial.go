package solver

import (
	"math"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// multinomial solves the multinomial model.
type multinomial struct {
	problem            Problem
	settings           Settings
	ranking            *ranking // of all groups
	positive, negative float64  // mass of the classes
	present            int64    // features with mass
	base               float64
}

func newMultinomial(p Problem, s Settings) *multinomial {
	groups := smoothed(p)
	m := &multinomial{problem: p, settings: s, ranking: newRanking(groups, s)}
	for _, g := range groups {
		if g.Positive+g.Negative > 0 {
			m.present += g.Size
		}
	}
	m.positive, m.negative = p.masses()
	m.base = baseMultinomial(groups)
	return m
}

// share is that of the positive class in all counts.
func (m *multinomial) share() odds { return odds(m.positive / m.negative) }

// closed reports whether the answer has a closed form: if only one class has mass, every gain is 0, and if k is at least the
// number of features with mass, all of them are selected.
func (m *multinomial) closed(k int64) bool {
	return k == 0 || m.positive == 0 || m.negative == 0 || k >= m.present
}

// minimize starts at the last α at which all groups were scored, to reuse the scores.
func (m *multinomial) minimize(k int64) *dual {
	start := m.share()
	if m.ranking.kept.scores != nil {
		start = m.ranking.kept.odds
	}
	return minimize(m.ranking, k, start, m.settings)
}

func (m *multinomial) bound(k int64) float64 {
	if !m.closed(k) {
		return m.minimize(k).upper
	}
	return m.solve(k).UpperBound
}

func (m *multinomial) solve(k int64) Result {
	before := m.ranking.passes
	r := Result{Outcome: Outcome{K: k, Base: m.base, Certificate: Optimal, Status: Closed}, Odds: float64(m.share())}
	switch {
	case k == 0:
		r.Take = make([]int64, len(m.ranking.all))
	case m.closed(k):
		r.Take = m.ranking.take(m.ranking.at(m.share(), k))
	default:
		d := m.minimize(k)
		r.Status, r.Evaluations = d.status, d.evaluations
		r.UpperBound, r.Odds = d.upper, float64(d.best)
		if k == 1 || m.settings.boundOnly {
			// No single feature gains anything, because 1ᵀθ⁺ = 1ᵀθ⁻ (erratum E17). The convention is the feature with
			// the largest score at the share of all counts. With boundOnly it is a placeholder.
			r.Take = m.ranking.take(m.ranking.at(m.share(), 1))
			break
		}
		var proven bool
		r.Take, proven, r.Nodes = primal(m.ranking, d, m.settings)
		if !proven {
			r.Certificate = Bounded
		}
	}
	r.Passes = m.ranking.passes - before
	r.Alpha, _ = odds(r.Odds).shares()
	r.Parameters = parametersMultinomial(m.problem, m.ranking.all, r.Take)
	r.Gain = r.Parameters.gain(m.problem.Groups, r.Take)
	r.UpperBound = max(r.UpperBound, r.Gain)
	r.Gap = r.UpperBound - r.Gain
	return r
}

// baseMultinomial is C = Σ g log g - S log S with g = f⁺+f⁻ and S = Σ g: the paper's φ(0).
func baseMultinomial(groups []Group) float64 {
	var mass numeric.Accumulator
	for _, g := range groups {
		mass.Add(float64(g.Size) * (g.Positive + g.Negative))
	}
	// Σ g log(g/S) has no difference of large numbers. A feature with nearly all of the mass needs S to more than
	// double precision: its g is huge and its logarithm tiny.
	total := mass.Value()
	var base numeric.Accumulator
	for _, g := range groups {
		t := g.Positive + g.Negative
		if t == 0 {
			continue
		}
		log := math.Log(t / total)
		if t > total/2 {
			log = math.Log1p((t - mass.Sum - mass.Carry) / total)
		}
		base.Add(float64(g.Size) * t * log)
	}
	return base.Value()
}
