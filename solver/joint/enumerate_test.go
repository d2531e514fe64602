package joint

import (
	"fmt"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// As for two classes, the enumeration starts here from poor supports: that of the local search is mostly the best one
// already, which would hide an enumeration that looks at too little.
func TestEnumerationFindsTheBestFromAnySupport(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(19)
	improved := 0
	for range solvertest.Count(1000) {
		m, classes := 3+rng.IntN(7), 3+rng.IntN(2)
		kind, counts := instance(rng, m, classes)
		if isZero(counts) {
			continue
		}
		k := 2 + rng.IntN(m-2)
		want := bruteForce(counts, 0)[k]
		p, index := problemOf(t, counts, int64(k), 0)
		what := fmt.Sprintf("%s k=%d %v", kind, k, counts)
		r := newRanking(p)
		masses := r.masses()
		if classesWithMass(masses) < 2 {
			continue
		}
		d := minimize(r, int64(k), sharesOf(masses), solver.Settings{}.WithDefaults())
		f := newFrame(r, int64(k), d.best)
		gainOf := func(take []int64) float64 {
			_, gain, _, err := Evaluate(p, take)
			if err != nil {
				t.Fatal(err)
			}
			return gain
		}
		start := f.measure(solvertest.RandomSupport(rng, p.Len(), index, k))
		for range rng.IntN(2) * 200 { // or the second best, which leaves the least to look at
			other := f.measure(solvertest.RandomSupport(rng, p.Len(), index, k))
			if other.gap < start.gap && gainOf(other.take) < want*(1-1e-9)-1e-12 {
				start = other
			}
		}
		solvertest.Near(t, what+" gap", start.gap, d.upper-gainOf(start.take), 1e-9*d.upper+1e-12)

		best, complete, _ := f.enumerate(start, 1<<20)
		if !complete {
			t.Fatalf("%s: not complete", what)
		}
		solvertest.Near(t, what+" gain", gainOf(best.take), want, 1e-10*want+1e-12)

		// With a single node a support that is not the best may not be called proven.
		if best, complete, _ := f.enumerate(start, 1); complete {
			solvertest.Near(t, what+" proven gain", gainOf(best.take), want, 1e-10*want+1e-12)
		}
		if gainOf(start.take) < want*(1-1e-9)-1e-12 {
			improved++
		}
		if t.Failed() {
			return
		}
	}
	if improved < solvertest.Count(300) {
		t.Errorf("only %d of the supports were poor", improved)
	}
}
