package countio

import (
	"math"
	"math/big"
)

// Sum is the exact sum of counts, rounded once at its end: unlike a sum of floats it is the same in any order.
type Sum struct {
	whole float64    // of whole numbers, as long as it is below 2⁵³, where floats are exact
	rest  *big.Float // of the others
}

// sumBits hold a sum of 2⁶⁴ numbers that solver.InRange lets pass, to the last bit of the smallest: from 2³⁹⁷ to 2⁻³⁸⁵.
const sumBits = 832

// Add adds a count.
func (s *Sum) Add(x float64) {
	if sum := s.whole + x; x == math.Trunc(x) && sum < 1<<53 {
		s.whole = sum
		return
	}
	if s.rest == nil {
		s.rest = new(big.Float).SetPrec(sumBits)
	}
	s.rest.Add(s.rest, big.NewFloat(x))
}

// Value is the float64 nearest to the sum.
func (s *Sum) Value() float64 {
	if s.rest == nil {
		return s.whole
	}
	value, _ := new(big.Float).SetPrec(sumBits).Add(s.rest, big.NewFloat(s.whole)).Float64()
	return value
}

// ClassSums are the sums of the counts of features, by class.
type ClassSums struct {
	classes *Classes
	sums    []ClassSum // by number; none for the last classes, if no feature has counts in them
}

// ClassSum is what the counts of a class add up to.
type ClassSum struct {
	Occurrences, Documents Sum
}

// NewClassSums returns sums for features whose classes are numbered so.
func NewClassSums(classes *Classes) *ClassSums { return &ClassSums{classes: classes} }

// Add adds the counts of a feature.
func (s *ClassSums) Add(f *Feature) {
	for i, class := range f.Classes {
		for int(class) >= len(s.sums) {
			s.sums = append(s.sums, ClassSum{})
		}
		sum := &s.sums[class]
		sum.Occurrences.Add(f.Occurrences[i])
		sum.Documents.Add(f.Documents[i])
	}
}

// Of returns the sums of a class; those of an unknown one are zero.
func (s *ClassSums) Of(label string) (occurrences, documents float64) {
	if class, ok := s.classes.numbers[label]; ok && int(class) < len(s.sums) {
		return s.sums[class].Occurrences.Value(), s.sums[class].Documents.Value()
	}
	return 0, 0
}
