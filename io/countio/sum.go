package countio

import (
	"math"
	"math/big"
)

// Sum is an exact sum of counts, rounded once at the end: unlike a floating-point sum it does not depend on the order.
type Sum struct {
	whole float64    // of whole numbers while below 2⁵³, where a float64 is exact
	rest  *big.Float // of all others
}

// sumBits is enough for an exact sum of 2⁶⁴ numbers that solver.InRange accepts: bits 2³⁹⁷ to 2⁻³⁸⁵.
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

// Value returns the float64 nearest to the sum.
func (s *Sum) Value() float64 {
	if s.rest == nil {
		return s.whole
	}
	value, _ := new(big.Float).SetPrec(sumBits).Add(s.rest, big.NewFloat(s.whole)).Float64()
	return value
}

// ClassSums adds up the counts of features by class.
type ClassSums struct {
	classes *Classes
	sums    []ClassSum // by class number; shorter if the last classes have no counts
}

// ClassSum is the total of a class.
type ClassSum struct {
	Occurrences, Documents Sum
}

// NewClassSums returns empty sums for features with these class numbers.
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

// Of returns the sums of a class, zeros for an unknown class.
func (s *ClassSums) Of(label string) (occurrences, documents float64) {
	if class, ok := s.classes.numbers[label]; ok && int(class) < len(s.sums) {
		return s.sums[class].Occurrences.Value(), s.sums[class].Documents.Value()
	}
	return 0, 0
}
