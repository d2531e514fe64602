package topk

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Significant returns how many features are significant at a false discovery rate by the procedure of Benjamini and
// Hochberg: the largest k for which the k-th smallest P(χ² ≥ 2·score) is at most rate·k/m. It sorts groups.
func Significant(groups []Scored, freedom int, rate float64) (k int64) {
	slices.SortFunc(groups, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	var m, seen int64
	for _, g := range groups {
		m += g.Size
	}
	for _, g := range groups {
		seen += g.Size
		if ChiSquareTail(g.Score, freedom) <= float64(seen)/float64(m)*rate {
			k = seen
		}
	}
	return k
}

// ChiSquareTail is P(χ² ≥ 2z).
func ChiSquareTail(z float64, freedom int) float64 {
	if freedom == 0 { // a single class
		return 1
	}
	if freedom == 1 {
		return math.Erfc(math.Sqrt(z)) // to full relative precision
	}
	return mathext.GammaIncRegComp(float64(freedom)/2, z)
}
