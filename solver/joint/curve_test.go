package joint

import (
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// Of two classes, as many features are significant as the test for two classes finds.
func TestSignificantFeaturesOfTwoClasses(t *testing.T) {
	t.Parallel()
	rng, found := solvertest.Random(11), int64(0)
	for range solvertest.Count(200) {
		m := 1 + rng.IntN(60)
		positive, negative := make([]float64, m), make([]float64, m)
		p := Problem{Vectors: solver.NewVectors(2), Model: solver.Bernoulli, Documents: []float64{60, 40}}
		for i := range positive {
			positive[i], negative[i] = float64(rng.IntN(41)), float64(rng.IntN(1+rng.IntN(61)))
			if err := p.Add([]int32{0, 1}, []float64{negative[i], positive[i]}, 1); err != nil {
				t.Fatal(err)
			}
		}
		groups, err := solver.GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		two := solver.Problem{Groups: groups, Model: solver.Bernoulli, DocumentsPositive: 40, DocumentsNegative: 60, Smoothing: 1}
		want, err := solver.SignificantFeatures(two, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := SignificantFeatures(p, 0.05); err != nil || got != want {
			t.Errorf("%d features, want %d; %v", got, want, err)
		}
		found += want
	}
	if found == 0 {
		t.Error("nothing was significant")
	}
}
