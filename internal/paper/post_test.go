package paper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// From any x the program of (post) leads to one of the same objective with at most four fractional features. Four do
// come up: the number is right for an x that is not optimal.
func TestPostLeavesFourFractionalFeatures(t *testing.T) {
	counts := make([]int, 5)
	eachInstance(t, 51, 480, 12, func(r *rand.Rand, in instance) {
		x, cost := make([]float64, in.Features()), randomCost(r, in.Features())
		for i := range x {
			x[i] = r.Float64()
		}
		y, err := Post(in.Counts, x, cost)
		if err != nil {
			t.Fatalf("%s: %v", in.name, err)
		}
		checkPost(t, in, x, y, cost)
		counts[checkFractional(t, in.name, y, 4)]++
	})
	t.Logf("solutions by their number of fractional features: %v", counts)
	if counts[4] == 0 {
		t.Error("no solution has four fractional features")
	}
}

// From an x that solves the bidual it leaves three at most, and with the two equations of S2 two at most, which add up
// to 1 (E8). The x is a mixture of solutions, as an interior-point method would give it.
func TestPostOfASolutionLeavesTwoFractionalFeatures(t *testing.T) {
	mixed, four, two := make([]int, 13), make([]int, 4), make([]int, 3)
	eachInstance(t, 52, 320, 12, func(r *rand.Rand, in instance) {
		for k := 1; k < in.Features(); k++ {
			what, cost := fmt.Sprintf("%s k=%d", in.name, k), randomCost(r, in.Features())
			d, x := Bisect(in.Counts, k), mixedSolution(r, in, k)
			near(t, what+": objective of the mixture", BidualGain(in.Counts, x), d.Gain, 1e-10*d.Gain+in.rounding())

			y, err := Post(in.Counts, x, cost)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			checkPost(t, in, x, y, cost)
			four[checkFractional(t, what, y, 3)]++

			z, err := PostAtShare(in.Counts, d.Alpha, x, cost)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			near(t, what+": objective at a vertex", BidualGain(in.Counts, z), d.Gain, 1e-9*d.Gain+in.rounding())
			near(t, what+": Σ at a vertex", sum(z), float64(k), 1e-9)
			n := checkFractional(t, what, z, 2)
			if n == 1 {
				t.Errorf("%s: a single fractional feature in %v", what, z)
			}
			two[n]++
			mixed[len(Fractional(x))]++
		}
	})
	t.Logf("by their number of fractional features: mixtures %v, with four equations %v, with two %v", mixed, four, two)
	if sum := mixed[5] + mixed[6] + mixed[7] + mixed[8]; sum < 10 {
		t.Errorf("only %d mixtures had fractional features enough for the program to have something to do", sum)
	}
	if two[2] == 0 {
		t.Error("no vertex had fractional features")
	}
}

// mixedSolution is a mean of solutions of the bidual, each with another order of the features, and so with other ones
// first where they tie.
func mixedSolution(r *rand.Rand, in instance, k int) []float64 {
	const solutions = 4
	x := make([]float64, in.Features())
	for range solutions {
		order := r.Perm(in.Features())
		shuffled := Counts{restrict(in.Positive, order), restrict(in.Negative, order)}
		for j, v := range Bidual(shuffled, k) {
			x[order[j]] += v / solutions
		}
	}
	for i := range x {
		x[i] = snapped(x[i])
	}
	return x
}

func randomCost(r *rand.Rand, m int) []float64 {
	cost := make([]float64, m)
	for i := range cost {
		cost[i] = r.NormFloat64()
	}
	return cost
}

// checkPost checks what the program keeps, and that it does not cost more than where it began.
func checkPost(t *testing.T, in instance, x, y, cost []float64) {
	t.Helper()
	near(t, in.name+": Σy", sum(y), sum(x), 1e-9)
	near(t, in.name+": f⁺ᵀy", dot(in.Positive, y), dot(in.Positive, x), 1e-9*in.Mass())
	near(t, in.name+": f⁻ᵀy", dot(in.Negative, y), dot(in.Negative, x), 1e-9*in.Mass())
	near(t, in.name+": objective", BidualObjective(in.Counts, y), BidualObjective(in.Counts, x), 1e-9*in.Mass())
	atMost(t, in.name+": cost", dot(cost, y), dot(cost, x), 1e-9)
}

// checkFractional returns the number of fractional features.
func checkFractional(t *testing.T, what string, y []float64, most int) int {
	t.Helper()
	for i, v := range y {
		if !(v >= 0 && v <= 1) {
			t.Errorf("%s: y_%d is %v", what, i, v)
		}
	}
	n := len(Fractional(y))
	if n > most {
		t.Fatalf("%s: %d fractional features in %v, want at most %d", what, n, y, most)
	}
	return n
}

// E5 and E7: the features with x > 0 are those that may differ. Rounded up they gain at least the objective of x, but
// are as many more than k as the proposition (nonbinary) says; the features with z = 1-x > 0, which its proof prints,
// gain less than the objective as a rule.
func TestRoundingUpIsFeasibleForMoreThanK(t *testing.T) {
	more, below := 0, 0
	eachInstance(t, 53, 480, 12, func(r *rand.Rand, in instance) {
		for k := 1; k < in.Features(); k++ {
			x := Bidual(in.Counts, k)
			objective, support := BidualGain(in.Counts, x), RoundUp(x)
			atMost(t, in.name+": objective", objective, in.Gain(support), 1e-10*objective+in.rounding())
			atMost(t, in.name+": size of the support", float64(len(support)), float64(k+len(Fractional(x))), 0)
			if len(support) > k {
				more++
			}
			if in.Gain(RoundUp(complement(x))) < objective*(1-1e-9)-in.rounding() {
				below++
			}
		}
	})
	t.Logf("%d supports had more than k features; read as printed, %d fell below", more, below)
	if more == 0 || below == 0 {
		t.Error("neither should be none")
	}
}

func complement(x []float64) []float64 {
	z := slices.Clone(x)
	for i := range z {
		z[i] = 1 - x[i]
	}
	return z
}
