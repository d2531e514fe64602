package joint

import (
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Parameters is all of a model of several classes that a feature of its support needs, besides its own counts, to
// know its score, its θ and its weights. Counts are given as [Vectors.Add] takes them; smoothing is added here.
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

	// At is where the scores are taken: α_J = B/|B|, or n_c/n, smoothed, for the Bernoulli model.
	At Shares

	// Documents are the n_c, not smoothed; nil where they are not known.
	Documents []float64

	// Intercepts are, by class, what a document without any selected feature adds to the logarithm of the class's
	// probability: log(n_c/n), 0 if documents are not known, and for the Bernoulli model Σ log((1-θ_c)/(1-θ)) of
	// the selected features besides, where θ is what all classes would share.
	Intercepts []float64
}

// newParameters are those of the support that has take[i] features of vector i.
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

// Resolution is the gain up to which rounding decides, as [Parameters.Resolution] has it.
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

// Score is what a feature contributes to the gain: h(α_J) for the multinomial model, n times the mutual information of
// its presence and the class for the Bernoulli model.
func (p Parameters) Score(classes []int32, counts []float64) float64 {
	if p.Model == solver.Bernoulli {
		return newPresence(p).score(classes, counts)
	}
	// A feature that is the whole support gains exactly nothing (erratum E17).
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

// Theta appends the θ_c of a selected feature, class by class: (f_c/B_c)(|B|/S) for the multinomial model, f_c/n_c for
// the Bernoulli model. That of a feature which is the whole support is what it would be if it were not selected (erratum
// E17), and so is that of any in a class without mass in the support, where the likelihood does not determine it
// (erratum E16).
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

// Parts appends, class by class, what of the feature's score comes from the documents of the class: f log(f/e) - f + e ≥ 0
// with the count f and the count e that the class's share of all would give; for the Bernoulli model that of the documents
// without the feature besides.
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

// Weights appends, class by class, what one occurrence (Bernoulli: the presence) of a selected feature adds to the
// logarithm of the class's probability, up to what it adds to those of all classes: log(θ_c/θ) with the θ that all
// classes would share, log(f_c|B|/(g B_c)); for the Bernoulli model log of the ratio of their odds. It is infinite
// where smoothing 0 leaves a count of 0.
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
