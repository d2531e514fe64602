// Package numeric has the arithmetic that both searches share: sums that do not lose digits, and logarithms near 1.
package numeric

import "math"

// Accumulator adds numbers with Neumaier's compensation: the error does not grow with their count. The zero value is 0.
type Accumulator struct{ Sum, Carry float64 }

// Add adds x.
func (a *Accumulator) Add(x float64) {
	t := a.Sum + x
	if math.Abs(a.Sum) >= math.Abs(x) {
		a.Carry += (a.Sum - t) + x
	} else {
		a.Carry += (x - t) + a.Sum
	}
	a.Sum = t
}

// Value returns the sum.
func (a *Accumulator) Value() float64 {
	if math.IsInf(a.Sum, 0) { // Carry is NaN then
		return a.Sum
	}
	return a.Sum + a.Carry
}

// Total adds a list of numbers with an Accumulator.
func Total(list []float64) float64 {
	var a Accumulator
	for _, x := range list {
		a.Add(x)
	}
	return a.Value()
}

// Ell is ℓ(x) = x - log(1+x) ≥ 0.
func Ell(x float64) float64 {
	if math.Abs(x) >= 0.02 {
		// log(1+x), corrected for the rounding of 1+x: as accurate as Log1p here, in half the time.
		u := 1 + x
		return x - math.Log(u) - (x-(u-1))/u
	}
	// x²(1/2 - x/3 + x²/4 - …): for |x| < 0.02 eleven terms leave a relative error below 1e-17.
	q := 1.0 / 12
	q = 1.0/11 - x*q
	q = 1.0/10 - x*q
	q = 1.0/9 - x*q
	q = 1.0/8 - x*q
	q = 1.0/7 - x*q
	q = 1.0/6 - x*q
	q = 1.0/5 - x*q
	q = 1.0/4 - x*q
	q = 1.0/3 - x*q
	q = 1.0/2 - x*q
	return x * x * q
}

// XLogY is x log y with 0·log 0 = 0.
func XLogY(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

// Resolution is the gain below which rounding decides, for counts that sum to mass: shares and counts have relative errors
// near 2⁻⁵³, and a divergence grows with the square of the difference. Two features with counts near 1e99 and equal shares
// may differ by a gain of 1e68.
func Resolution(mass float64) float64 { return mass * 0x1p-100 }
