package selection

import (
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// What is written is read back: parameters → options → parameters → options, for any parameters.
func TestParamsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ks := []string{"1", "10", "1%", "0.5%", "auto:gain=99%", "auto:knee", "auto:fdr=0.05"}
	strategies := []Strategy{modelio.OneVersusRest, modelio.OneVersusOne, modelio.Joint}
	positives := []string{"", "a", "b,c", "é=1"}
	for range 10_000 {
		want := Params{
			Model: []solver.Model{solver.Multinomial, solver.Bernoulli}[r.IntN(2)], Method: solver.Methods[r.IntN(len(solver.Methods))],
			Strategy: strategies[r.IntN(3)], Positive: positives[r.IntN(4)],
		}
		for range 1 + r.IntN(3) {
			k, err := ParseK(ks[r.IntN(len(ks))])
			if err != nil {
				t.Fatal(err)
			}
			want.K = append(want.K, k)
		}
		for a := 0.0; len(want.Smoothing) < 1+r.IntN(3); a += math.Exp(10*r.Float64() - 5) {
			want.Smoothing = append(want.Smoothing, a)
		}
		if r.IntN(2) == 0 {
			limit, err := ParseDocumentLimit([]string{"0", "5", "1%", "0.01"}[r.IntN(4)])
			if err != nil {
				t.Fatal(err)
			}
			want.Pruning = Pruning{MinDF: limit, MinCount: r.Int64N(3), MaxFeatures: r.Int64N(3)}
		}
		if c := modelio.Classifiers[r.IntN(5)]; c != modelio.DefaultClassifier(want.Model.String()) {
			want.Classifier = c
		}
		if Fitted(want.Classifier) {
			want.C = []float64{1, 0.1, 1e6, 1.0 / 3}[r.IntN(4)]
		}
		options := want.Options()
		got, err := ParseParams(options)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v is parsed as %+v, %v; want %+v", options, got, err, want)
		}
		if again := got.Options(); !maps.Equal(again, options) {
			t.Fatalf("%v became %v", options, again)
		}
	}
}
