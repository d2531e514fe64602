package solvertest

import (
	"math/big"
	"sync"
)

const precision = 600 // bits

// Zero returns a number of 600 bits that is 0.
func Zero() *big.Float { return new(big.Float).SetPrec(precision) }

// Exact returns x as a number of 600 bits.
func Exact(x float64) *big.Float { return Zero().SetFloat64(x) }

// ExactLog is log x: with x = m·2ᵉ, log m + e log 2.
func ExactLog(x *big.Float) *big.Float {
	m := Zero()
	e := x.MantExp(m)
	return m.Add(series(m), Zero().Mul(log2(), Exact(float64(e))))
}

var log2 = sync.OnceValue(func() *big.Float { return series(Exact(2)) })

// series is log m by the series of the area tangent, 2(z + z³/3 + z⁵/5 + …) with z = (m-1)/(m+1).
func series(m *big.Float) *big.Float {
	z := Zero().Quo(Zero().Sub(m, Exact(1)), Zero().Add(m, Exact(1)))
	square, power, total := Zero().Mul(z, z), Zero().Set(z), Zero()
	for i := 1; power.Sign() != 0; i += 2 {
		term := Zero().Quo(power, Exact(float64(i)))
		if total.Sign() != 0 && term.MantExp(nil) < total.MantExp(nil)-precision {
			break // the terms that follow do not change the sum
		}
		total.Add(total, term)
		power.Mul(power, square)
	}
	return total.Mul(total, Exact(2))
}
