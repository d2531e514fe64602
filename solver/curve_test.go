package solver

import (
	"math"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// The k that are found are those of a search through all.
func TestAutoK(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(10)
	for range solvertest.Count(150) {
		m := 2 + rng.IntN(40)
		kind, positive, negative := solvertest.Instance(rng, m)
		if slices.Max(positive) == 0 || slices.Max(negative) == 0 || kind == "extreme" {
			continue
		}
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Groups: groups, Smoothing: 1}
		var ks []int64
		for k := range int64(m + 1) {
			ks = append(ks, k)
		}
		bounds, err := Bounds(p, ks, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		all := bounds[m]
		curve, err := p.Curve(Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, share := range []float64{0.1, 0.5, 0.9, 0.999, 1} {
			k := curve.ForGain(share)
			gain := func(k int64) float64 {
				p.K = k
				r, err := Solve(p, Settings{})
				if err != nil {
					t.Fatal(err)
				}
				return r.Gain
			}
			if g := gain(k); g < share*all*(1-1e-12) || k > 1 && gain(k-1) > share*all*(1+1e-12)+1e-290 {
				t.Errorf("%s: k = %d gains %v, one fewer %v; the target is %v", kind, k, g, gain(k-1), share*all)
			}
		}
		k := curve.Knee()
		height := func(k int64) float64 { return bounds[k] - float64(k)/float64(m)*all }
		for _, other := range ks[1:] {
			if height(other) > height(k)+1e-11*all {
				t.Errorf("%s: the knee is at %d, not %d: %v and %v", kind, other, k, height(other), height(k))
			}
		}
	}
}

// The procedure as its authors state it, over single p-values.
func TestFalseDiscoveryRate(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(11)
	found := 0
	for range solvertest.Count(200) {
		m := 1 + rng.IntN(60)
		positive, negative := make([]float64, m), make([]float64, m)
		for i := range positive {
			positive[i], negative[i] = float64(rng.IntN(41)), float64(rng.IntN(1+rng.IntN(61)))
		}
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Groups: groups, Model: Bernoulli, DocumentsPositive: 40, DocumentsNegative: 60, Smoothing: 1}
		raw := p
		raw.Smoothing = 0
		params := parametersBernoulli(raw, nil)
		var values []float64
		for i := range positive {
			g := 2 * params.Score(positive[i], negative[i])
			values = append(values, 2*(1-0.5*(1+math.Erf(math.Sqrt(g)/math.Sqrt2)))) // two tails of a normal
		}
		slices.Sort(values)
		want := 0
		for i, v := range values {
			if v <= float64(i+1)/float64(m)*0.05 {
				want = i + 1
			}
		}
		got, err := SignificantFeatures(p, 0.05)
		if err != nil || got != int64(want) {
			t.Errorf("%d features, want %d of %v; %v", got, want, values, err)
		}
		found += want
	}
	if found == 0 {
		t.Error("nothing was significant")
	}
	if _, err := SignificantFeatures(Problem{Groups: []Group{{1, 1, 1}}}, 0.05); err == nil {
		t.Error("counts of occurrences were tested")
	}
}
