package joint

import (
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// presence scores features by the mutual information of their presence and the class (fact S6 of docs/method.md, for any
// number of classes):
//
//	n·MI = h(f; α) + h(N - f; α),   α_c = N_c/n,
//
// with f the smoothed counts, N_c = n_c + 2a and n = Σ N_c: the divergences of the documents with the feature and of
// those without.
type presence struct {
	at        Shares
	smoothing float64
	documents []float64 // N_c
	n         float64

	// In a class where a feature is absent, u_c = N_c - a documents are without it. If the feature is absent everywhere,
	// the class's share of all such documents exceeds that by t_c·u_c = a - Ca·N_c/n.
	without, shift, uneven []float64 // u_c, t_c·u_c, u_c ℓ(t_c)

	absent, unevenness, shifted float64 // their sums
}

func newPresence(p Parameters) *presence {
	s := &presence{at: p.At, smoothing: p.Smoothing, documents: p.documents()}
	s.n = numeric.Total(s.documents)
	q := s.smoothing * float64(len(s.documents)) / s.n
	for _, n := range s.documents {
		u, shift := n-s.smoothing, math.FMA(-q, n, s.smoothing)
		s.without, s.shift, s.uneven = append(s.without, u), append(s.shift, shift), append(s.uneven, u*numeric.Ell(shift/u))
	}
	s.absent, s.unevenness, s.shifted = numeric.Total(s.without), numeric.Total(s.uneven), numeric.Total(s.shift)
	return s
}

func (s *presence) score(classes []int32, counts []float64) float64 {
	g := smoothedMass(counts, s.smoothing, len(s.documents))
	return s.at.divergence(classes, counts, g, s.smoothing) + s.complement(classes, counts, g)
}

// complement is the divergence of the documents without the feature: Σ_c [u log(u/e) - u + e] with u = N_c - f_c and
// e = (n-g)α_c, where e - u = f_c - gα_c.
func (s *presence) complement(classes []int32, counts []float64, g float64) float64 {
	if g == 0 {
		return 0
	}
	if 2*len(classes) < len(s.documents) {
		h := 0.0
		for j, c := range classes {
			h += s.part(c, counts, j, g)
		}
		rest, terms := s.absentPart(classes, counts)
		if h += max(0, rest); h >= 1e-3*terms {
			return h
		}
	}
	h, j := 0.0, 0
	for c := range s.documents {
		if j < len(classes) && int(classes[j]) == c {
			h += s.part(int32(c), counts, j, g)
			j++
		} else {
			h += s.part(int32(c), counts, -1, g)
		}
	}
	return h
}

// part is the term of class c, whose count is the j-th, or which is absent if j is -1.
func (s *presence) part(c int32, counts []float64, j int, g float64) float64 {
	f := s.smoothing
	if j >= 0 {
		f += counts[j]
	}
	d := -s.at.surplus(f, g, c, counts, j, s.smoothing)
	return excess(s.documents[c]-f, d, max(0, s.n-g)*s.at.Alpha[c]) // n and g of a feature in all documents are rounded sums
}

// absentPart is the sum of the terms of the absent classes, and the size of these terms. There e = u(1+t)(1+w) with 1+w = (n-g)/(n-Ca),
// which makes it u[ℓ(t) + ℓ(w) + tw], as in [Shares.absent].
func (s *presence) absentPart(classes []int32, counts []float64) (rest, terms float64) {
	w := -solver.Sum(counts) / s.absent
	absent, uneven, shift, size := s.absent, s.unevenness, s.shifted, 0.0
	for _, c := range classes {
		absent -= s.without[c]
		uneven -= s.uneven[c]
		shift -= s.shift[c]
		size += math.Abs(s.shift[c])
	}
	return absent*numeric.Ell(w) + uneven + shift*w, s.absent*numeric.Ell(w) + s.unevenness - size*w
}

// solveBernoulli selects the k largest scores, which is exact.
func solveBernoulli(p Problem) Result {
	r := newRanking(p)
	params := newParameters(p, r, nil)
	presence := newPresence(params)
	for i := range r.scores {
		r.scores[i] = presence.score(r.vectors.Entries(i))
	}
	outcome := solver.Outcome{K: p.K, Base: baseBernoulli(r, params.Mass), Take: make([]int64, p.Len()), Certificate: solver.Optimal, Status: solver.Closed}
	result := Result{Outcome: outcome, Alpha: params.At.Alpha}
	if p.K > 0 {
		t := r.top(p.K)
		result.Take, result.Gain, result.UpperBound = r.take(t), t.value, t.value
	}
	result.Parameters = newParameters(p, r, result.Take)
	return result
}

// baseBernoulli is the log-likelihood of all features if each has the same θ in all classes.
func baseBernoulli(r *ranking, n float64) float64 {
	var base numeric.Accumulator
	for i, g := range r.mass {
		absent := max(0, n-g)
		base.Add(float64(r.vectors.Size(i)) * (numeric.XLogY(g, g/n) + numeric.XLogY(absent, absent/n)))
	}
	return base.Value()
}
