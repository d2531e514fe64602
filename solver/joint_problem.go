package solver

import (
	"fmt"
	"math"
	"slices"
)

// JointProblem is the selection of one set of features for all of several classes. Features are held as vectors of
// class counts in which absent classes take no space; features with equal counts are one vector. Its vectors are
// given by [JointProblem.Add]. Where features tie, the order of the vectors decides, and so the same vectors in the
// same order give the same answer to the last bit.
type JointProblem struct {
	// Classes is C, the number of classes. It is set before the first vector is added.
	Classes int
	Model   Model

	// K is the number of features to select; one above the number of features selects them all.
	K int64

	// Smoothing is added to the count of every feature in every class, also where it is absent (scikit-learn's
	// alpha); the Bernoulli model adds twice as much to the numbers of documents.
	Smoothing float64

	// Documents are the numbers of documents by class. The Bernoulli model needs them; the multinomial model only
	// has the intercepts from them.
	Documents []float64

	vectors jointVectors
}

// jointVectors holds sparse vectors one behind the other: vector i has the classes class[start[i]:start[i+1]], which
// ascend, with counts above zero. An entry takes 12 bytes and a vector 16.
type jointVectors struct {
	start []int
	class []int32
	count []float64
	size  []int64
}

func (v *jointVectors) len() int { return len(v.size) }

func (v *jointVectors) at(i int) (classes []int32, counts []float64) {
	from, to := v.start[i], v.start[i+1]
	return v.class[from:to], v.count[from:to]
}

// Add adds a vector that size features have: the counts of those classes in which they occur, before smoothing.
// Classes are numbered from 0 and ascend. The slices are copied.
func (p *JointProblem) Add(classes []int32, counts []float64, size int64) error {
	v := &p.vectors
	switch {
	case len(classes) != len(counts):
		return fmt.Errorf("solver: vector %d has %d classes and %d counts", v.len(), len(classes), len(counts))
	case size < 1:
		return fmt.Errorf("solver: vector %d has %d features: a vector has at least one", v.len(), size)
	}
	for j, c := range classes {
		switch {
		case c < 0 || int(c) >= p.Classes:
			return fmt.Errorf("solver: vector %d has class %d of %d", v.len(), c, p.Classes)
		case j > 0 && c <= classes[j-1]:
			return fmt.Errorf("solver: vector %d has class %d after %d: classes ascend", v.len(), c, classes[j-1])
		case !InRange(counts[j]):
			return fmt.Errorf("solver: vector %d has the count %v: counts are zero or from %g to %g", v.len(), counts[j], Least, Most)
		}
	}
	if len(v.start) == 0 {
		v.start = append(v.start, 0)
	}
	for j, c := range classes {
		if counts[j] > 0 {
			v.class, v.count = append(v.class, c), append(v.count, counts[j])
		}
	}
	v.start, v.size = append(v.start, len(v.class)), append(v.size, size)
	return nil
}

// Grow makes room for so many further vectors with so many counts in all.
func (p *JointProblem) Grow(vectors, counts int) {
	v := &p.vectors
	v.start, v.size = slices.Grow(v.start, vectors+1), slices.Grow(v.size, vectors)
	v.class, v.count = slices.Grow(v.class, counts), slices.Grow(v.count, counts)
}

// Vectors returns how many vectors were added.
func (p JointProblem) Vectors() int { return p.vectors.len() }

// Vector returns vector i: the classes in which its size features occur, and their counts above zero. The slices
// belong to the problem.
func (p JointProblem) Vector(i int) (classes []int32, counts []float64, size int64) {
	classes, counts = p.vectors.at(i)
	return classes, counts, p.vectors.size[i]
}

// Validate reports the first thing that makes the problem unsolvable.
func (p JointProblem) Validate() error {
	switch {
	case p.Model != Multinomial && p.Model != Bernoulli:
		return fmt.Errorf("unknown model %d", int(p.Model))
	case p.Classes < 1:
		return fmt.Errorf("there are %d classes: there must be at least one", p.Classes)
	case p.K < 0:
		return fmt.Errorf("k is %d: it cannot be negative", p.K)
	case !InRange(p.Smoothing):
		return fmt.Errorf("smoothing is %v: it must be zero or a number from %g to %g", p.Smoothing, Least, Most)
	case p.Vectors() == 0:
		return ErrNoFeatures
	case len(p.Documents) != p.Classes && (len(p.Documents) > 0 || p.Model == Bernoulli):
		return fmt.Errorf("%d classes, but numbers of documents for %d", p.Classes, len(p.Documents))
	}
	for c, n := range p.Documents {
		if !(n > 0) || math.IsInf(n, 1) {
			return fmt.Errorf("class %d has %v documents: it needs some", c, n)
		}
	}
	if p.Model == Bernoulli {
		return p.validateDocuments()
	}
	if len(p.vectors.class) == 0 && p.Smoothing == 0 {
		return ErrNoMass
	}
	return nil
}

func (p JointProblem) validateDocuments() error {
	for i := range p.Vectors() {
		classes, counts := p.vectors.at(i)
		for j, c := range classes {
			if counts[j] > p.Documents[c] {
				return fmt.Errorf("vector %d occurs in %v documents of class %d, which has %v", i, counts[j], c, p.Documents[c])
			}
		}
	}
	return nil
}

// features returns m, the number of features.
func (p JointProblem) features() int64 {
	var m int64
	for _, n := range p.vectors.size {
		m += n
	}
	return m
}

// smoothedMass is g, the smoothed counts of a feature in all classes.
func smoothedMass(counts []float64, smoothing float64, classes int) float64 {
	g := smoothing * float64(classes)
	for _, n := range counts {
		g += n
	}
	return g
}
