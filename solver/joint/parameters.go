package joint

import (
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Parameters determine, with the counts of a feature, its score, θ and weights in the model of a support. The methods take
// counts before smoothing, in the form of [solver.Vectors.Entries].
type Parameters struct {
	Model     solver.Model
	Smoothing float64

	// Features is the number of features of the support.
	Features int64

	// Support is B_c, the smoothed counts of all selected features by class. It belongs to the multinomial model.
	Support []float64

	// Mass is S, the smoothed counts of all features in all classes, or for the Bernoulli model n, the smoothed
	// number of documents of all classes.
	Mass float64

	// At is where the scores are computed: α_J = B/|B|, or n_c/n, smoothed, for the Bernoulli model.
	At Shares

	// Documents are the n_c, not smoothed; nil if unknown.
	Documents []float64

	// Intercepts are, by class, the log-probability of a document without any selected feature, up to a constant:
	// log(n_c/n), or 0 if documents are not known. The Bernoulli model adds Σ log((1-θ_c)/(1-θ)) over the selected
	// features, where θ is [Parameters.Common].
	Intercepts []float64
}

// newParameters returns the parameters of the support that takes take[i] features of vector i.
func newParameters(p Problem, r *ranking, take []int64) Parameters {
	params := Parameters{Model: p.Model, Smoothing: p.Smoothing, Documents: p.Documents}
	for _, n := range take {
		params.Features += n
	}
	if p.Model == solver.Multinomial {
		params.Mass, params.Support = numeric.Total(r.masses()), r.massOf(take)
		params.At = sharesOf(params.Support)
	} else {
		documents := params.documents()
		params.Mass, params.At = numeric.Total(documents), sharesOf(documents)
	}
	params.Intercepts = params.intercepts(p, take)
	return params
}

// Resolution is the gain in nats below which rounding decides.
func (p Parameters) Resolution() float64 { return numeric.Resolution(p.Mass) }

// documents are the smoothed numbers of documents by class, N_c = n_c + 2a.
func (p Parameters) documents() []float64 {
	n := make([]float64, len(p.Documents))
	for c, x := range p.Documents {
		n[c] = x + 2*p.Smoothing
	}
	return n
}

func (p Parameters) intercepts(problem Problem, take []int64) []float64 {
	intercepts := make([]float64, problem.Classes())
	if len(p.Documents) == 0 {
		return intercepts
	}
	n := numeric.Total(p.Documents)
	for c, d := range p.Documents {
		intercepts[c] = math.Log(d / n)
	}
	if p.Model == solver.Multinomial {
		return intercepts
	}
	var theta []float64
	for i, t := range take {
		if t == 0 {
			continue
		}
		classes, counts := problem.Entries(i)
		theta = p.Theta(theta[:0], classes, counts)
		common := p.Common(counts)
		for c, x := range theta {
			if x != common {
				intercepts[c] += float64(t) * (math.Log1p(-x) - math.Log1p(-common))
			}
		}
	}
	return intercepts
}

// Score is the contribution of a feature to the gain, in nats: h(α_J) for the multinomial model, n times the mutual
// information of its presence and the class for the Bernoulli model.
func (p Parameters) Score(classes []int32, counts []float64) float64 {
	if p.Model == solver.Bernoulli {
		return newPresence(p).score(classes, counts)
	}
	// A single selected feature gains exactly nothing (erratum E17).
	if p.Features == 1 {
		return 0
	}
	return p.At.divergence(classes, counts, p.mass(counts), p.Smoothing)
}

// mass is g, smoothed.
func (p Parameters) mass(counts []float64) float64 {
	return smoothedMass(counts, p.Smoothing, len(p.At.Alpha))
}

// Common is the θ that a feature has in all classes unless it is selected: g/S, or g/n for the Bernoulli model.
func (p Parameters) Common(counts []float64) float64 {
	return min(1, p.mass(counts)/p.Mass) // a feature in all documents: both are rounded sums
}

// Theta appends the θ_c of a selected feature by class: (f_c/B_c)(|B|/S) for the multinomial model, f_c/n_c for the
// Bernoulli model. θ_c is [Parameters.Common] if the feature is the only one selected (erratum E17), or if the class has no
// mass in the support, where the likelihood does not determine θ_c (erratum E16).
func (p Parameters) Theta(dst []float64, classes []int32, counts []float64) []float64 {
	common, j := p.Common(counts), 0
	ratio := 1.0
	if p.Model == solver.Multinomial {
		ratio = numeric.Total(p.Support) / p.Mass
	}
	for c := range p.At.Alpha {
		f := p.Smoothing
		if j < len(classes) && int(classes[j]) == c {
			f += counts[j]
			j++
		}
		switch {
		case p.Model == solver.Bernoulli:
			dst = append(dst, f/(p.Documents[c]+2*p.Smoothing))
		case p.Features == 1, p.Support[c] == 0:
			dst = append(dst, common)
		default:
			dst = append(dst, f/p.Support[c]*ratio)
		}
	}
	return dst
}

// Parts appends the parts of the feature's score by class: f log(f/e) - f + e ≥ 0 with the count f and the count e that
// is expected from the class's share. The Bernoulli model adds the same for the documents without the feature.
func (p Parameters) Parts(dst []float64, classes []int32, counts []float64) []float64 {
	g, j := p.mass(counts), 0
	var documents []float64
	n := 0.0
	if p.Model == solver.Bernoulli {
		documents = p.documents()
		n = numeric.Total(documents)
	}
	for c, share := range p.At.Alpha {
		f, at := p.Smoothing, -1
		if j < len(classes) && int(classes[j]) == c {
			f, at = f+counts[j], j
			j++
		}
		if g == 0 || p.Features == 1 && p.Model == solver.Multinomial {
			dst = append(dst, 0)
			continue
		}
		d := p.At.surplus(f, g, int32(c), counts, at, p.Smoothing)
		part := excess(f, d, g*share)
		if p.Model == solver.Bernoulli {
			part += excess(documents[c]-f, -d, max(0, n-g)*share)
		}
		dst = append(dst, part)
	}
	return dst
}

// Weights appends, by class, what one occurrence (Bernoulli: the presence) of a selected feature adds to the
// log-probability of the class, up to a constant that all classes share: log(θ_c/θ) = log(f_c|B|/(g B_c)) with θ from
// [Parameters.Common], or for the Bernoulli model the log odds ratio of θ_c and θ. It is infinite if a count is 0 and there
// is no smoothing.
func (p Parameters) Weights(dst []float64, classes []int32, counts []float64) []float64 {
	from, common := len(dst), p.Common(counts)
	dst = p.Theta(dst, classes, counts)
	for c, theta := range dst[from:] {
		weight := 0.0
		switch {
		case theta == common:
		case p.Model == solver.Bernoulli:
			weight = math.Log(theta) - math.Log1p(-theta) - math.Log(common) + math.Log1p(-common)
		default:
			weight = math.Log(theta / common)
		}
		dst[from+c] = weight
	}
	return dst
}
