package solver

import (
	"math"
	"strconv"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// Screens and narrowed rankings change the work, never the answer.
func TestNarrowingChangesNothing(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(9)
	always, never := Settings{screenFrom: 1, narrowFrom: 1}, Settings{screenFrom: math.MaxInt, narrowFrom: math.MaxInt}
	narrowed := 0
	for range solvertest.Count(400) {
		m := 200 + rng.IntN(1000)
		kind, positive, negative := solvertest.Instance(rng, m)
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Groups: groups, Smoothing: float64(rng.IntN(2))}
		for _, k := range []int64{2, 3, int64(m / 100), int64(m / 20), int64(rng.IntN(m)), int64(m - 1)} {
			p.K = k
			got, err := Solve(p, always)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Solve(p, never)
			if err != nil {
				t.Fatal(err)
			}
			what := kind + " k=" + strconv.FormatInt(k, 10)
			checkResult(t, what, p, got)
			solvertest.Near(t, what+" bound", got.UpperBound, want.UpperBound, 1e-12*want.UpperBound+1e-13)
			solvertest.Near(t, what+" gain", got.Gain, want.Gain, 1e-12*want.UpperBound+1e-13)
			if got.Certificate != want.Certificate {
				t.Errorf("%s: %v, without narrowing %v", what, got.Certificate, want.Certificate)
			}
			if got.Passes < want.Passes {
				narrowed++
			}
		}
		if t.Failed() {
			return
		}
	}
	if narrowed < solvertest.Count(500) {
		t.Errorf("only %d searches were narrowed", narrowed)
	}
}
