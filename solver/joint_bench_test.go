package solver

import (
	"fmt"
	"math"
	"testing"
)

// jointText is a vocabulary of m words in text of several classes: frequencies fall with the rank as r^-1.05 from
// 200,000, classes differ in size by factors of exp(0.7·N(0,1)), and a word's frequency in a class by exp(2·N(0,1)) from
// its mean. A word that would be in no class is once in one of them. The generator is seeded by 7.
func jointText(m, classes int) JointProblem {
	rng := random(7)
	p := JointProblem{Vectors: NewVectors(classes)}
	share := make([]float64, classes)
	for c := range share {
		share[c] = math.Exp(0.7*rng.NormFloat64()) / float64(classes)
	}
	known := map[string]int{} // by the counts, which are one vector where they are equal
	for i := range m {
		f := make([]float64, classes)
		for c := range f {
			mean := 2e5 / math.Pow(float64(i+1), 1.05) * share[c] * math.Exp(2*rng.NormFloat64()-2)
			f[c] = math.Floor(mean + rng.ExpFloat64()*min(1, math.Sqrt(mean)))
		}
		if total(f) == 0 {
			f[rng.IntN(classes)] = 1
		}
		p.addText(known, f)
	}
	return p
}

func (p *JointProblem) addText(known map[string]int, f []float64) {
	key := fmt.Sprint(f)
	if at, ok := known[key]; ok {
		p.size[at]++
		return
	}
	known[key] = p.Len()
	classes, counts := sparse(f)
	if err := p.Add(classes, counts, 1); err != nil {
		panic(err)
	}
}

// jointCloud is hard on the bound: m features alike in all but chance, no two with equal counts, of masses
// around 2000 that differ by factors of exp(2·N(0,1)) between classes. The generator is seeded by 7.
func jointCloud(m, classes int) JointProblem {
	rng := random(7)
	p := JointProblem{Vectors: NewVectors(classes)}
	for range m {
		f := make([]float64, classes)
		for c := range f {
			f[c] = 2000 / float64(classes) * math.Exp(2*rng.NormFloat64()-2)
		}
		classes, counts := sparse(f)
		if err := p.Add(classes, counts, 1); err != nil {
			panic(err)
		}
	}
	return p
}

func BenchmarkJoint(b *testing.B) {
	for _, make := range []struct {
		name string
		p    JointProblem
	}{{"text", jointText(100_000, 20)}, {"cloud", jointCloud(100_000, 20)}} {
		for _, k := range []int64{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/k=%d", make.name, k), func(b *testing.B) {
				p := make.p
				p.K, p.Smoothing = k, 1
				var r JointResult
				for b.Loop() {
					r = mustJoint(b, p, Settings{})
				}
				b.ReportMetric(float64(p.Len()), "vectors")
				b.ReportMetric(float64(r.Evaluations), "evaluations")
				b.ReportMetric(float64(r.Nodes), "nodes")
				b.ReportMetric(r.Gap/r.UpperBound, "gap")
			})
		}
	}
}
