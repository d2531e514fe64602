package evaluation

import "math/bits"

// Sum is a sum of numbers from 0 on in units of 2⁻⁶⁴. Each number is truncated to a multiple of the unit when it is added, so
// that a mean is too small by less than 2⁻⁶⁴; additions are exact, in any order. The sum must be less than 2⁶⁴.
type Sum struct {
	Whole, Fraction uint64
}

// Add adds x, n times. x must be less than 2⁶³/n.
func (s *Sum) Add(x float64, n int64) {
	whole := uint64(x)
	fraction := uint64((x - float64(whole)) * (1 << 64)) // exact but for bits below 2⁻⁶⁴
	carry, low := bits.Mul64(fraction, uint64(n))
	s.Merge(Sum{whole*uint64(n) + carry, low})
}

// Merge adds another sum.
func (s *Sum) Merge(o Sum) {
	var carry uint64
	s.Fraction, carry = bits.Add64(s.Fraction, o.Fraction, 0)
	s.Whole, _ = bits.Add64(s.Whole, o.Whole, carry)
}

// Float returns the sum.
func (s Sum) Float() float64 { return float64(s.Whole) + float64(s.Fraction)/(1<<64) }
