package solver

import (
	"fmt"
	"math"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// zipfCounts are the counts of m words whose frequencies fall with their rank, as text has it, in two classes.
func zipfCounts(m int) (positive, negative []float64) {
	rng := solvertest.Random(5)
	positive, negative = make([]float64, m), make([]float64, m)
	for i := range m {
		mean := 0.2 * float64(m) / math.Pow(float64(i+1), 1.05)
		lean := math.Exp(0.5 * rng.NormFloat64())
		positive[i] = math.Round(mean * lean * rng.ExpFloat64())
		negative[i] = math.Round(mean / lean * rng.ExpFloat64())
	}
	return positive, negative
}

// realCounts are random counts; no pair occurs twice.
func realCounts(m int) (positive, negative []float64) {
	rng := solvertest.Random(5)
	positive, negative = make([]float64, m), make([]float64, m)
	for i := range m {
		positive[i] = rng.ExpFloat64() * math.Exp(rng.NormFloat64())
		negative[i] = rng.ExpFloat64() * math.Exp(rng.NormFloat64())
	}
	return positive, negative
}

// The bare pass over the counts is the yardstick of the other benchmarks.
func BenchmarkBarePass(b *testing.B) {
	for _, m := range []int{1_000_000, 12_000_000} {
		positive, negative := zipfCounts(m)
		b.Run(fmt.Sprintf("m=%d", m), func(b *testing.B) {
			var total float64
			for b.Loop() {
				for i, a := range positive {
					total += a + negative[i]
				}
			}
			if total == 0 {
				b.Fatal("nothing was added")
			}
		})
	}
}

func BenchmarkGroup(b *testing.B) {
	positive, negative := zipfCounts(12_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := GroupFeatures(positive, negative); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name   string
		counts func(m int) (positive, negative []float64)
		m      int
	}{{"zipf", zipfCounts, 12_000_000}, {"real", realCounts, 1_000_000}} {
		groups, err := GroupFeatures(c.counts(c.m))
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range []int64{10, int64(c.m / 100), int64(c.m / 10), int64(c.m / 2)} {
			b.Run(fmt.Sprintf("%s/m=%d/k=%d", c.name, c.m, k), func(b *testing.B) {
				var r Result
				for b.Loop() {
					var err error
					if r, err = Solve(Problem{Groups: groups, K: k, Smoothing: 1}, Settings{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(groups)), "groups")
				b.ReportMetric(float64(r.Evaluations), "evaluations")
				b.ReportMetric(float64(r.Passes), "passes")
				b.ReportMetric(float64(r.Nodes), "nodes")
			})
		}
	}
}

// 100 ks from 10 to half of all features.
func BenchmarkPath(b *testing.B) {
	const m = 12_000_000
	groups, err := GroupFeatures(zipfCounts(m))
	if err != nil {
		b.Fatal(err)
	}
	var ks []int64
	for i := range 100 {
		ks = append(ks, int64(10*math.Pow(m/20, float64(i)/99)))
	}
	var evaluations, passes, bounded int
	for b.Loop() {
		evaluations, passes, bounded = 0, 0, 0
		for r, err := range Path(Problem{Groups: groups, Smoothing: 1}, ks, Settings{}) {
			if err != nil {
				b.Fatal(err)
			}
			evaluations += r.Evaluations
			passes += r.Passes
			if r.Certificate == Bounded {
				bounded++
			}
		}
	}
	b.ReportMetric(float64(evaluations), "evaluations")
	b.ReportMetric(float64(passes), "passes")
	b.ReportMetric(float64(bounded), "bounded")
}
