package countio

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

func sumOf(numbers []float64) float64 {
	var s Sum
	for _, x := range numbers {
		s.Add(x)
	}
	return s.Value()
}

// In any order, the sum is the float64 nearest to the exact sum.
func TestSumsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	extremes := []float64{0, 1, 1<<53 - 1, 1 << 53, solver.Least, solver.Most, math.Nextafter(solver.Least, 1), math.Nextafter(solver.Most, 0), 0.1}
	for range 300 {
		var numbers []float64
		exact := new(big.Rat)
		for range rng.IntN(20) {
			x := extremes[rng.IntN(len(extremes))]
			switch rng.IntN(4) {
			case 0:
				x = rng.Float64()
			case 1:
				x = math.Trunc(math.Exp(40 * rng.Float64()))
			}
			numbers = append(numbers, x)
			exact.Add(exact, new(big.Rat).SetFloat64(x))
		}
		want, _ := exact.Float64()
		for range 3 {
			rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
			if got := sumOf(numbers); got != want {
				t.Fatalf("%v: %v, want %v", numbers, got, want)
			}
		}
	}
	// Floats added one after the other lose all of these.
	if got := sumOf(append(slices.Repeat([]float64{1}, 1000), 1<<53)); got != 1<<53+1000 {
		t.Errorf("%v", got)
	}
}
