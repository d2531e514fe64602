package solver

// jointPresence scores features by the mutual information of their presence and the class (fact S6 for any number of
// classes):
//
//	n·MI = h(f; α) + h(N - f; α),   α_c = N_c/n,
//
// with f the smoothed counts, N_c = n_c + 2a and n = Σ N_c: the divergences of the documents with the feature and of
// those without.
type jointPresence struct {
	at        Shares
	smoothing float64
	documents []float64 // N_c
	n         float64

	// Of a class in which a feature is absent, u_c = N_c - a documents are without it. The sums are over all
	// classes, those of the documents and of u_c ℓ(a/u_c).
	absent, excess float64
}

func newJointPresence(p JointParameters) *jointPresence {
	s := &jointPresence{at: p.At, smoothing: p.Smoothing, documents: p.documents()}
	s.n = total(s.documents)
	for c := range s.documents {
		u, e := s.without(c)
		s.absent += u
		s.excess += e
	}
	return s
}

func (s *jointPresence) without(c int) (documents, excess float64) {
	u := s.documents[c] - s.smoothing
	return u, u * ell(s.smoothing/u)
}

func (s *jointPresence) score(classes []int32, counts []float64) float64 {
	g := smoothedMass(counts, s.smoothing, len(s.documents))
	return s.at.divergence(classes, counts, g, s.smoothing) + s.complement(classes, counts, g)
}

// complement is the divergence of the documents without the feature: Σ_c [u log(u/e) - u + e] with u = N_c - f_c and
// e = (n-g)α_c, where e - u = f_c - gα_c. In an absent class that is u_cℓ(a/u_c) + u_cℓ(-g/n) - ag/n.
func (s *jointPresence) complement(classes []int32, counts []float64, g float64) float64 {
	if g == 0 {
		return 0
	}
	q, without := g/s.n, max(0, s.n-g) // of a feature in all documents both are rounded sums
	dense := 2*len(classes) >= len(s.documents)
	h, absent, rest, j := 0.0, s.absent, s.excess, 0
	each := func(c int32, f float64, j int) {
		d := -s.at.surplus(f, g, c, counts, j, s.smoothing)
		h += excess(s.documents[c]-f, d, without*s.at.Alpha[c])
	}
	if dense {
		for c := range s.documents {
			if j < len(classes) && int(classes[j]) == c {
				each(int32(c), counts[j]+s.smoothing, j)
				j++
			} else {
				each(int32(c), s.smoothing, -1)
			}
		}
		return h
	}
	for j, c := range classes {
		each(c, counts[j]+s.smoothing, j)
		u, e := s.without(int(c))
		absent, rest = absent-u, rest-e
	}
	n := float64(len(s.documents) - len(classes))
	return h + max(0, rest+absent*ell(-q)-n*s.smoothing*q)
}

// solveJointBernoulli takes the k largest scores, which is exact.
func solveJointBernoulli(p JointProblem) JointResult {
	r := newJointRanking(p)
	params := newJointParameters(p, r, nil)
	presence := newJointPresence(params)
	for i := range r.scores {
		r.scores[i] = presence.score(r.vectors.entries(i))
	}
	result := JointResult{
		K:           p.K,
		Base:        baseJointBernoulli(r, params.Mass),
		Take:        make([]int64, p.Len()),
		Certificate: Optimal,
		Status:      Closed,
		Alpha:       params.At.Alpha,
	}
	if p.K > 0 {
		t := r.top(p.K)
		result.Take, result.Gain, result.UpperBound = r.take(t), t.value, t.value
	}
	result.Parameters = newJointParameters(p, r, result.Take)
	return result
}

// baseJointBernoulli is the log-likelihood of all features when each has the same θ in all classes.
func baseJointBernoulli(r *jointRanking, n float64) float64 {
	var base sum
	for i, g := range r.mass {
		absent := max(0, n-g)
		base.add(float64(r.vectors.size[i]) * (xlogy(g, g/n) + xlogy(absent, absent/n)))
	}
	return base.value()
}
