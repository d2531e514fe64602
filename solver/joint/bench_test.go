package joint

import (
	"fmt"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

func BenchmarkSolve(b *testing.B) {
	for _, make := range []struct {
		name string
		p    Problem
	}{{"text", text(100_000, 20)}, {"cloud", cloud(100_000, 20)}} {
		for _, k := range []int64{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/k=%d", make.name, k), func(b *testing.B) {
				p := make.p
				p.K, p.Smoothing = k, 1
				var r Result
				for b.Loop() {
					r = mustSolve(b, p, solver.Settings{})
				}
				b.ReportMetric(float64(p.Len()), "vectors")
				b.ReportMetric(float64(r.Evaluations), "evaluations")
				b.ReportMetric(float64(r.Nodes), "nodes")
				b.ReportMetric(r.Gap/r.UpperBound, "gap")
			})
		}
	}
}
