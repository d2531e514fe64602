package joint

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// problemOf is the problem of dense counts, by feature and class. Equal features are one vector, in the order of
// their first; index has the vector of each.
func problemOf(t testing.TB, counts [][]float64, k int64, smoothing float64) (p Problem, index []int) {
	t.Helper()
	p = Problem{Vectors: solver.NewVectors(len(counts[0])), K: k, Smoothing: smoothing}
	var distinct [][]float64
	var sizes []int64
	for _, f := range counts {
		at := slices.IndexFunc(distinct, func(g []float64) bool { return slices.Equal(f, g) })
		if at < 0 {
			at = len(distinct)
			distinct, sizes = append(distinct, f), append(sizes, 0)
		}
		sizes[at]++
		index = append(index, at)
	}
	for i, f := range distinct {
		classes, counts := sparse(f)
		if err := p.Add(classes, counts, sizes[i]); err != nil {
			t.Fatal(err)
		}
	}
	return p, index
}

func sparse(f []float64) (classes []int32, counts []float64) {
	for c, n := range f {
		if n > 0 {
			classes, counts = append(classes, int32(c)), append(counts, n)
		}
	}
	return classes, counts
}

// instance draws counts of one of the kinds that text, and trouble, come in.
func instance(rng *rand.Rand, m, classes int) (kind string, counts [][]float64) {
	kinds := []struct {
		name string
		draw func(c int) float64
	}{
		{"integers", func(int) float64 { return float64(rng.IntN(20)) }},
		{"reals", func(int) float64 { return rng.Float64() }},
		{"ties", func(int) float64 { return float64(1 + rng.IntN(2)) }},
		{"zeros", func(int) float64 { return float64(rng.IntN(2) * rng.IntN(9)) }},
		{"skewed", func(int) float64 { return math.Exp(8*rng.Float64() - 4) }},
		{"imbalanced", func(c int) float64 { return float64(rng.IntN([]int{1000, 3, 30}[c%3])) }},
		{"extreme", func(c int) float64 { return float64(rng.IntN(3)) * math.Exp(35*rng.Float64()-20*float64(c%4)) }},
		{"disjoint", nil},
		{"balanced", nil},
		{"proportional", nil},
	}
	k := kinds[rng.IntN(len(kinds))]
	counts = make([][]float64, m)
	for i := range counts {
		counts[i] = make([]float64, classes)
		x := 1e6 + float64(rng.IntN(1000))
		for c := range counts[i] {
			switch k.name {
			case "balanced":
				counts[i][c] = x + float64(rng.IntN(100)-50)
			case "proportional":
				counts[i][c] = float64(1+c) * float64(1+i%3)
			case "disjoint":
			default:
				counts[i][c] = k.draw(c)
			}
		}
		if k.name == "disjoint" {
			counts[i][rng.IntN(classes)] = float64(1 + rng.IntN(12))
		}
	}
	return k.name, counts
}

// bruteForce returns φ(k)-C₀ for every k, by looking at every support.
func bruteForce(counts [][]float64, smoothing float64) []float64 {
	m, classes := len(counts), len(counts[0])
	best := make([]float64, m+1)
	all := make([]int32, classes)
	for c := range all {
		all[c] = int32(c)
	}
	for set := 1; set < 1<<m; set++ {
		k := bits.OnesCount(uint(set))
		mass := make([]float64, classes)
		for i, f := range counts {
			for c := range mass {
				if set>>i&1 == 1 {
					mass[c] += f[c] + smoothing
				}
			}
		}
		if k == 1 || numeric.Total(mass) == 0 {
			continue
		}
		own := sharesOf(mass)
		var gain numeric.Accumulator
		for i, f := range counts {
			if set>>i&1 == 1 {
				gain.Add(own.divergence(all, f, smoothedMass(f, smoothing, classes), smoothing))
			}
		}
		best[k] = max(best[k], gain.Value())
	}
	return best
}

func massOfAll(counts [][]float64) float64 {
	var mass numeric.Accumulator
	for _, f := range counts {
		mass.Add(numeric.Total(f))
	}
	return mass.Value()
}

func isZero(counts [][]float64) bool { return massOfAll(counts) == 0 }

func mustSolve(t testing.TB, p Problem, s solver.Settings) Result {
	t.Helper()
	r, err := Solve(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// disjointCounts are of features that are in one class each.
func disjointCounts(rng *rand.Rand, m, classes int) [][]float64 {
	counts := make([][]float64, m)
	for i := range counts {
		counts[i] = make([]float64, classes)
		counts[i][rng.IntN(classes)] = float64(1 + rng.IntN(12))
	}
	return counts
}

// text is a vocabulary of m words in text of several classes: frequencies fall with the rank as r^-1.05 from
// 200,000, classes differ in size by factors of exp(0.7·N(0,1)), and a word's frequency in a class by exp(2·N(0,1)) from
// its mean. A word that would be in no class is once in one of them. The generator is seeded by 7.
func text(m, classes int) Problem {
	rng := solvertest.Random(7)
	p := Problem{Vectors: solver.NewVectors(classes)}
	share := make([]float64, classes)
	for c := range share {
		share[c] = math.Exp(0.7*rng.NormFloat64()) / float64(classes)
	}
	known := map[string]int{} // the places of counts in distinct
	var distinct [][]float64
	var sizes []int64
	for i := range m {
		f := make([]float64, classes)
		for c := range f {
			mean := 2e5 / math.Pow(float64(i+1), 1.05) * share[c] * math.Exp(2*rng.NormFloat64()-2)
			f[c] = math.Floor(mean + rng.ExpFloat64()*min(1, math.Sqrt(mean)))
		}
		if numeric.Total(f) == 0 {
			f[rng.IntN(classes)] = 1
		}
		key := fmt.Sprint(f)
		if at, ok := known[key]; ok {
			sizes[at]++
			continue
		}
		known[key] = len(distinct)
		distinct, sizes = append(distinct, f), append(sizes, 1)
	}
	for i, f := range distinct {
		classes, counts := sparse(f)
		if err := p.Add(classes, counts, sizes[i]); err != nil {
			panic(err)
		}
	}
	return p
}

// cloud is hard on the bound: m features alike in all but chance, no two with equal counts, of masses
// around 2000 that differ by factors of exp(2·N(0,1)) between classes. The generator is seeded by 7.
func cloud(m, classes int) Problem {
	rng := solvertest.Random(7)
	p := Problem{Vectors: solver.NewVectors(classes)}
	for range m {
		f := make([]float64, classes)
		for c := range f {
			f[c] = 2000 / float64(classes) * math.Exp(2*rng.NormFloat64()-2)
		}
		classes, counts := sparse(f)
		if err := p.Add(classes, counts, 1); err != nil {
			panic(err)
		}
	}
	return p
}
