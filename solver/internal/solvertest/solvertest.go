// Package solvertest has what the tests of both searches share: random problems, comparisons, and exact logarithms.
package solvertest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Random returns a generator with a fixed seed.
func Random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Count returns how many instances a test draws: n, or a tenth of them with -short.
func Count(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// Near compares two numbers.
func Near(t testing.TB, what string, got, want, tolerance float64) {
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= tolerance {
		return
	}
	t.Helper()
	t.Errorf("%s is %v, want %v: off by %.3g, tolerance %.3g", what, got, want, math.Abs(got-want), tolerance)
}

// Instance draws counts of one of the kinds that text, and trouble, come in.
func Instance(rng *rand.Rand, m int) (kind string, positive, negative []float64) {
	positive, negative = make([]float64, m), make([]float64, m)
	kinds := []struct {
		name string
		draw func() (float64, float64)
	}{
		{"integers", func() (float64, float64) { return float64(rng.IntN(20)), float64(rng.IntN(20)) }},
		{"reals", func() (float64, float64) { return rng.Float64(), rng.Float64() }},
		{"ties", func() (float64, float64) { return float64(1 + rng.IntN(3)), float64(1 + rng.IntN(3)) }},
		{"zeros", func() (float64, float64) {
			return float64(rng.IntN(2) * rng.IntN(9)), float64(rng.IntN(2) * rng.IntN(9))
		}},
		{"disjoint", func() (float64, float64) {
			if x := float64(1 + rng.IntN(12)); rng.IntN(2) == 0 {
				return x, 0
			} else {
				return 0, x
			}
		}},
		{"skewed", func() (float64, float64) {
			return math.Exp(8*rng.Float64() - 4), math.Exp(8*rng.Float64() - 4)
		}},
		{"imbalanced", func() (float64, float64) { return float64(rng.IntN(1000)), float64(rng.IntN(3)) }},
		{"extreme", func() (float64, float64) {
			return float64(rng.IntN(3)) * math.Exp(35*rng.Float64()), float64(rng.IntN(3)) * math.Exp(35*rng.Float64()-20)
		}},
		{"balanced", func() (float64, float64) {
			x := 1e6 + float64(rng.IntN(1000))
			return x, x + float64(rng.IntN(100)-50)
		}},
	}
	k := kinds[rng.IntN(len(kinds))]
	for i := range positive {
		positive[i], negative[i] = k.draw()
	}
	return k.name, positive, negative
}

// RandomSupport draws k features; index is the group of each.
func RandomSupport(rng *rand.Rand, groups int, index []int, k int) []int64 {
	take := make([]int64, groups)
	for _, i := range rng.Perm(len(index))[:k] {
		take[index[i]]++
	}
	return take
}
