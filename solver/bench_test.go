package solver

import (
	"fmt"
	"math"
	"testing"
)

// zipfGroups is a vocabulary of m words whose frequencies fall with their rank, as text has it, in two classes.
func zipfGroups(m int) []Group {
	rng := random(5)
	positive, negative := make([]float64, m), make([]float64, m)
	for i := range m {
		mean := 2e5 / math.Pow(float64(i+1), 1.05)
		lean := math.Exp(0.5 * rng.NormFloat64())
		positive[i] = math.Round(mean * lean * rng.ExpFloat64())
		negative[i] = math.Round(mean / lean * rng.ExpFloat64())
	}
	groups, _, err := GroupFeatures(positive, negative)
	if err != nil {
		panic(err)
	}
	return groups
}

func BenchmarkSolve(b *testing.B) {
	for _, m := range []int{75_000, 1_000_000} {
		groups := zipfGroups(m)
		for _, k := range []int64{10, int64(m / 100)} {
			b.Run(fmt.Sprintf("m=%d/k=%d", m, k), func(b *testing.B) {
				var r Result
				for b.Loop() {
					var err error
					if r, err = Solve(Problem{Groups: groups, K: k, Smoothing: 1}, Settings{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(groups)), "groups")
				b.ReportMetric(float64(r.Evaluations), "evaluations")
				b.ReportMetric(float64(r.Nodes), "nodes")
			})
		}
	}
}
