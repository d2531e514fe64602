package solver

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// The support that the enumeration starts from is mostly the best one already, which would hide an enumeration that
// looks at too little. Here it starts from poor ones, and from the second best, which leaves the least to look at.
func TestEnumerationFindsTheBestFromAnySupport(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(4)
	improved := 0
	for range solvertest.Count(3000) {
		m := 2 + rng.IntN(11)
		kind, positive, negative := solvertest.Instance(rng, m)
		if slices.Max(positive) == 0 || slices.Max(negative) == 0 {
			continue
		}
		k := 1 + rng.IntN(m-1)
		want := bruteForce(positive, negative, 0)[k]
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		index := indexOf(groups, positive, negative)
		what := fmt.Sprintf("%s k=%d %v %v", kind, k, positive, negative)
		r := newRanking(groups, Settings{}.WithDefaults())
		d := minimize(r, int64(k), odds(1), Settings{}.WithDefaults())
		f := newFrame(r, int64(k), d.best)
		start := f.measure(solvertest.RandomSupport(rng, len(groups), index, k))
		for range rng.IntN(2) * 300 {
			other := f.measure(solvertest.RandomSupport(rng, len(groups), index, k))
			if other.gap < start.gap && gainOf(t, groups, other.take) < want*(1-1e-9)-1e-12 {
				start = other
			}
		}

		best, complete, _ := f.enumerate(start, 1<<20)
		if !complete {
			t.Fatalf("%s: not complete", what)
		}
		gain := gainOf(t, groups, best.take)
		solvertest.Near(t, what+" gain", gain, want, 1e-10*want+1e-13)

		// With a single node a support that is not the best may not be called proven.
		if best, complete, _ := f.enumerate(start, 1); complete {
			solvertest.Near(t, what+" proven gain", gainOf(t, groups, best.take), want, 1e-10*want+1e-13)
		}
		if gainOf(t, groups, start.take) < want*(1-1e-9)-1e-12 {
			improved++
		}
		if t.Failed() {
			return
		}
	}
	if improved < solvertest.Count(1000) {
		t.Errorf("only %d of the supports were poor", improved)
	}
}

// A limit that stops the search takes the certificate away, unless the support is the best all the same.
func TestStoppedEnumerationIsBounded(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(5)
	bounded := 0
	for range solvertest.Count(2000) {
		m := 4 + rng.IntN(9)
		kind, positive, negative := solvertest.Instance(rng, m)
		if slices.Max(positive) == 0 || slices.Max(negative) == 0 {
			continue
		}
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		best := bruteForce(positive, negative, 0)
		for k := int64(2); k < int64(m); k++ {
			r, err := Solve(Problem{Groups: groups, K: k}, Settings{MaxNodes: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Certificate == Bounded {
				bounded++
			} else if r.Gain < best[k]*(1-1e-10)-1e-13 {
				t.Fatalf("%s k=%d %v %v: gain %v is called optimal, the best is %v", kind, k, positive, negative, r.Gain, best[k])
			}
		}
	}
	if bounded == 0 {
		t.Error("no search was stopped")
	}
}

func gainOf(t *testing.T, groups []Group, take []int64) float64 {
	t.Helper()
	_, gain, _, err := Evaluate(Problem{Groups: groups}, take)
	if err != nil {
		t.Fatal(err)
	}
	return gain
}
