package solver

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// A path has the answers of its ks one by one, and the bounds alone are its bounds.
func TestPathIsSolveForEveryK(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(13)
	for range solvertest.Count(200) {
		m := 1 + rng.IntN(300)
		kind, positive, negative := solvertest.Instance(rng, m)
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Problem{
			{Groups: groups, Smoothing: float64(rng.IntN(2))},
			{Groups: groups, Model: Bernoulli, DocumentsPositive: 1e17, DocumentsNegative: 2e17},
			{Groups: groups, Method: Frequency, Smoothing: 1},
		} {
			var ks []int64
			for range 8 {
				ks = append(ks, int64(rng.IntN(m+3)))
			}
			bounds, err := Bounds(p, append(slices.Clone(ks), -3), Settings{})
			if errors.Is(err, ErrNoMass) {
				continue
			}
			if err != nil || bounds[len(ks)] != 0 {
				t.Fatalf("%s: %v, %v", kind, bounds, err)
			}
			seen := 0
			for r, err := range Path(p, ks, Settings{}) {
				if err != nil {
					t.Fatal(err)
				}
				k := slices.Sorted(slices.Values(ks))[seen]
				seen++
				p.K = k
				want, err := Solve(p, Settings{})
				if err != nil {
					t.Fatal(err)
				}
				what := kind + " k=" + strconv.FormatInt(k, 10)
				checkResult(t, what, p, r)
				solvertest.Near(t, what+" bound", r.UpperBound, want.UpperBound, 1e-12*want.UpperBound+1e-13)
				solvertest.Near(t, what+" bound alone", bounds[slices.Index(ks, k)], want.UpperBound, 1e-12*want.UpperBound+1e-13)
				solvertest.Near(t, what+" gain", r.Gain, want.Gain, 1e-12*want.UpperBound+1e-13)
				if r.Certificate != want.Certificate || r.K != want.K {
					t.Errorf("%s: %v and k = %d, alone %v and %d", what, r.Certificate, r.K, want.Certificate, want.K)
				}
			}
			if seen != len(ks) {
				t.Errorf("%s: %d results for %d ks", kind, seen, len(ks))
			}
		}
	}
	for r, err := range Path(Problem{}, []int64{1, 2}, Settings{}) {
		if !errors.Is(err, ErrNoFeatures) {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// One more feature to choose from gains no less, and so does a feature of larger counts in place of one with the same
// shares.
func TestMoreToChooseFromGainsNoLess(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(14)
	for range solvertest.Count(400) {
		m := 3 + rng.IntN(60)
		kind, positive, negative := solvertest.Instance(rng, m)
		if slices.Max(positive[1:]) == 0 || slices.Max(negative[1:]) == 0 || kind == "extreme" {
			continue
		}
		k := int64(2 + rng.IntN(m-2))
		solve := func(positive, negative []float64) Result {
			groups, err := GroupFeatures(positive, negative)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Solve(Problem{Groups: groups, K: k}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		all := solve(positive, negative)
		fewer := solve(positive[1:], negative[1:])
		positive[0], negative[0] = 3*positive[0], 3*negative[0]
		larger := solve(positive, negative)
		for what, pair := range map[string][2]Result{"a feature fewer": {fewer, all}, "larger counts": {all, larger}} {
			less, more := pair[0], pair[1]
			rounding := 1e-11*more.UpperBound + 1e-13
			if less.UpperBound > more.UpperBound+rounding || more.Certificate == Optimal && less.Gain > more.Gain+rounding {
				t.Errorf("%s k=%d, %s: gain %v of %v, then %v of %v", kind, k, what, less.Gain, less.UpperBound, more.Gain, more.UpperBound)
			}
		}
	}
}
