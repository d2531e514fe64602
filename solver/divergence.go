package solver

import (
	"math"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// odds is ρ = α/(1-α), the variable of the dual search. Unlike α it is precise near both ends.
type odds float64

// shares returns α and β = 1-α, each to full relative precision.
func (o odds) shares() (alpha, beta float64) {
	if o <= 1 {
		return float64(o / (1 + o)), float64(1 / (1 + o))
	}
	r := 1 / o
	return float64(1 / (1 + r)), float64(r / (1 + r))
}

// divergence is h(a, b; α) = a log(p/α) + b log((1-p)/(1-α)) with p = a/(a+b): the gain of a feature with counts a and b
// when it has its own share p instead of the common share α. It is computed as a·ℓ(-d/a) + b·ℓ(d/b) with d = βa - αb. No
// term is negative, so nothing cancels: counts of 10¹² that are almost balanced keep all their digits. If the argument of
// ℓ is near -1, the logarithm is taken of αg/a or βg/b with g = a+b, which is equal but does not lose a small share.
// 0·log 0 is 0.
func divergence(a, b, alpha, beta float64) float64 {
	if a == 0 || b == 0 {
		return divergenceOneSided(a, b, alpha, beta)
	}
	ab := alpha * b
	e := math.FMA(alpha, b, -ab)
	d := math.FMA(beta, a, -ab) - e
	return a*ellOr(-d/a, alpha, b/a) + b*ellOr(d/b, beta, a/b)
}

// ellOr is ℓ(x), where 1+x = share·(1+ratio).
func ellOr(x, share, ratio float64) float64 {
	if x < -0.5 {
		return x - math.Log(share*(1+ratio))
	}
	return numeric.Ell(x)
}

func divergenceOneSided(a, b, alpha, beta float64) float64 {
	switch {
	case a > 0 && alpha > 0.5:
		return -a * math.Log1p(-beta)
	case a > 0:
		return -a * math.Log(alpha)
	case b > 0 && beta > 0.5:
		return -b * math.Log1p(-alpha)
	case b > 0:
		return -b * math.Log(beta)
	}
	return 0
}
