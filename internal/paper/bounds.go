package paper

import "slices"

// Bounds are bounds of φ(k) - C that are known before any support is computed.
type Bounds struct {
	FourFewer float64 // ψ(k-4) - C ≤ φ(k) - C
	OneFewer  float64 // ψ(k-1) - C ≤ φ(k) - C
	Relaxed   float64 // ψ(k) - C ≥ φ(k) - C
}

// APriori returns the bounds of the theorem on the quality of the relaxation, ψ(k-4) ≤ φ(k) ≤ ψ(k) ≤ φ(k+4) for k ≥ 4,
// and of S2, ψ(k-1) ≤ φ(k) ≤ ψ(k) ≤ φ(k+1) for k ≥ 1. The bound is exact for k = m ("k = n" is a slip, E9).
func APriori(c Counts, k int) Bounds {
	return Bounds{
		FourFewer: Bisect(c, max(0, k-4)).Gain,
		OneFewer:  Bisect(c, max(0, k-1)).Gain,
		Relaxed:   Bisect(c, k).Gain,
	}
}

// Guaranteed returns a support of k ≥ 1 features that gains at least ψ(k-1) - C (S3): a vertex of the bidual at k-1 has
// none or two fractional features, and rounding up makes them one feature more. Rounding up the vertex at k, as the
// propositions (nonbinary) and (post) do, would give too many features (E7).
func Guaranteed(c Counts, k int) ([]int, error) {
	d := Bisect(c, k-1)
	x, err := PostAtShare(c, d.Alpha, Bidual(c, k-1), make([]float64, c.Features()))
	if err != nil {
		return nil, err
	}
	support := RoundUp(x)
	if len(support) < k {
		support = withNext(support, Scores(c, d.Alpha))
	}
	return support, nil
}

// withNext adds the feature of largest score that is not in the support.
func withNext(support []int, scores []float64) []int {
	next := -1
	for i, h := range scores {
		if !slices.Contains(support, i) && (next < 0 || h > scores[next]) {
			next = i
		}
	}
	support = append(support, next)
	slices.Sort(support)
	return support
}
