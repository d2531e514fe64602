package joint

import (
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/solver"
)

// Problem is the selection of one set of features for all classes. Group the vectors first with [solver.Vectors.Group]: the
// order decides ties, and the same vectors in the same order have the same answer to the last bit.
type Problem struct {
	*solver.Vectors
	Model solver.Model

	// K is the number of features to select; if there are fewer, all are selected.
	K int64

	// Smoothing is added to the count of every feature in every class, including zeros (scikit-learn's
	// alpha); the Bernoulli model adds twice as much to the numbers of documents.
	Smoothing float64

	// Documents are the numbers of documents by class. The Bernoulli model needs them; the multinomial model uses them
	// for the intercepts only, and they may be nil.
	Documents []float64
}

// Validate returns an error for a problem that has no answer.
func (p Problem) Validate() error {
	switch {
	case p.Model != solver.Multinomial && p.Model != solver.Bernoulli:
		return fmt.Errorf("unknown model %d", int(p.Model))
	case p.Vectors == nil || p.Len() == 0:
		return solver.ErrNoFeatures
	case p.Classes() < 1:
		return fmt.Errorf("there are %d classes, but there must be at least one", p.Classes())
	case p.K < 0:
		return fmt.Errorf("k is %d, but must not be negative", p.K)
	case !solver.InRange(p.Smoothing):
		return fmt.Errorf("smoothing is %v, but must be zero or from %g to %g", p.Smoothing, solver.Least, solver.Most)
	case len(p.Documents) != p.Classes() && (len(p.Documents) > 0 || p.Model == solver.Bernoulli):
		return fmt.Errorf("there are %d classes, but numbers of documents for %d", p.Classes(), len(p.Documents))
	}
	for c, n := range p.Documents {
		if !(n > 0) || math.IsInf(n, 1) {
			return fmt.Errorf("class %d has %v documents, but needs a positive number", c, n)
		}
	}
	if p.Model == solver.Bernoulli {
		return p.validateDocuments()
	}
	if p.Smoothing == 0 && p.empty() {
		return solver.ErrNoMass
	}
	return nil
}

func (p Problem) empty() bool {
	for i := range p.Len() {
		if classes, _ := p.Entries(i); len(classes) > 0 {
			return false
		}
	}
	return true
}

func (p Problem) validateDocuments() error {
	for i := range p.Len() {
		classes, counts := p.Entries(i)
		for j, c := range classes {
			if counts[j] > p.Documents[c] {
				return fmt.Errorf("vector %d occurs in %v documents of class %d, but the class has %v", i, counts[j], c, p.Documents[c])
			}
		}
	}
	return nil
}

// smoothedMass is g, the smoothed counts of a feature in all classes.
func smoothedMass(counts []float64, smoothing float64, classes int) float64 {
	g := smoothing * float64(classes)
	for _, n := range counts {
		g += n
	}
	return g
}
