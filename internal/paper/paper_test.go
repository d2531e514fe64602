package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

// kinds are the counts that instances are drawn from.
var kinds = []struct {
	name string
	draw func(*rand.Rand) (positive, negative float64)
}{
	{"integers", func(r *rand.Rand) (float64, float64) { return float64(r.IntN(20)), float64(r.IntN(20)) }},
	{"reals", func(r *rand.Rand) (float64, float64) { return r.Float64(), r.Float64() }},
	{"ties", func(r *rand.Rand) (float64, float64) { return float64(1 + r.IntN(3)), float64(1 + r.IntN(3)) }},
	{"mirrored", func(r *rand.Rand) (float64, float64) {
		if r.IntN(2) == 0 {
			return 2, 5
		}
		return 5, 2
	}},
	{"tied", func(r *rand.Rand) (float64, float64) { // h(1/2) = 1 for every one of them
		p := 0.05 + 0.4*r.Float64()
		g := 1 / (p*math.Log(2*p) + (1-p)*math.Log(2*(1-p)))
		if r.IntN(2) == 0 {
			return g * p, g * (1 - p)
		}
		return g * (1 - p), g * p
	}},
	{"zeros", func(r *rand.Rand) (float64, float64) {
		return float64(r.IntN(2) * r.IntN(9)), float64(r.IntN(2) * r.IntN(9))
	}},
	{"disjoint", func(r *rand.Rand) (float64, float64) {
		x := float64(1 + r.IntN(12))
		if r.IntN(2) == 0 {
			return x, 0
		}
		return 0, x
	}},
	{"skewed", func(r *rand.Rand) (float64, float64) {
		return math.Exp(4 * r.NormFloat64()), math.Exp(4 * r.NormFloat64())
	}},
	{"imbalanced", func(r *rand.Rand) (float64, float64) { return float64(r.IntN(1000)), float64(r.IntN(3)) }},
}

// instance is counts with what a message says of them.
type instance struct {
	Counts
	name string
}

// eachInstance calls check with n instances of 1 to most features, as many of every kind; with -short a tenth of them.
func eachInstance(t *testing.T, seed uint64, n, most int, check func(*rand.Rand, instance)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		if t.Failed() {
			return
		}
		kind, m := kinds[i%len(kinds)], 1+r.IntN(most)
		in := instance{Counts{make([]float64, m), make([]float64, m)}, fmt.Sprintf("instance %d, %s, m=%d", i, kind.name, m)}
		for j := range m {
			in.Positive[j], in.Negative[j] = kind.draw(r)
		}
		if m <= 12 {
			in.name += fmt.Sprintf(" %v %v", in.Positive, in.Negative)
		}
		if in.Mass() > 0 {
			check(r, in)
		}
	}
}

// rounding is how far plain logarithms may be off.
func (in instance) rounding() float64 { return 1e-13 * in.Mass() }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v: off by %.3g, tolerance %.3g", what, got, want, math.Abs(got-want), tolerance)
	}
}

func atMost(t *testing.T, what string, smaller, larger, tolerance float64) {
	t.Helper()
	if !(smaller <= larger+tolerance) {
		t.Errorf("%s: %v is above %v by %.3g, tolerance %.3g", what, smaller, larger, smaller-larger, tolerance)
	}
}

// solved is what package solver says; of more than 12 features without a long enumeration.
func solved(t *testing.T, in instance, k int) solver.Result {
	t.Helper()
	groups, err := solver.GroupFeatures(in.Positive, in.Negative)
	if err != nil {
		t.Fatal(err)
	}
	var settings solver.Settings
	if in.Features() > 12 {
		settings.MaxNodes = 100
	}
	result, err := solver.Solve(solver.Problem{Groups: groups, K: int64(k)}, settings)
	if err != nil {
		t.Fatalf("%s k=%d: %v", in.name, k, err)
	}
	return result
}

// someKs are all k up to 12 features, and six of the more.
func someKs(r *rand.Rand, m int) []int {
	var ks []int
	if m <= 12 {
		for k := range m + 1 {
			ks = append(ks, k)
		}
		return ks
	}
	for range 6 {
		ks = append(ks, r.IntN(m+1))
	}
	return ks
}

func randomSupport(r *rand.Rand, m, k int) []int {
	scores := make([]float64, m)
	for i := range scores {
		scores[i] = r.Float64()
	}
	return topK(scores, k)
}
