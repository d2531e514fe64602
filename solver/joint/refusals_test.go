package joint

import (
	"errors"
	"math"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

func TestSolveRefuses(t *testing.T) {
	t.Parallel()
	add := func(p *Problem, counts ...float64) {
		classes, counts := sparse(counts)
		if err := p.Add(classes, counts, 1); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(p *Problem){
		"an unknown model":               func(p *Problem) { p.Model = 7 },
		"a negative k":                   func(p *Problem) { p.K = -1 },
		"no classes":                     func(p *Problem) { *p = Problem{K: 1} },
		"no features":                    func(p *Problem) { *p = Problem{Vectors: solver.NewVectors(2), K: 1} },
		"no mass":                        func(p *Problem) { *p = Problem{Vectors: solver.NewVectors(2), K: 1}; add(p, 0, 0) },
		"smoothing below zero":           func(p *Problem) { p.Smoothing = -1 },
		"smoothing that is not a number": func(p *Problem) { p.Smoothing = math.NaN() },
		"Bernoulli without documents":    func(p *Problem) { p.Model = solver.Bernoulli },
		"documents of other classes":     func(p *Problem) { p.Documents = []float64{1, 2} },
		"a class without documents":      func(p *Problem) { p.Model, p.Documents = solver.Bernoulli, []float64{9, 0, 9} },
		"infinitely many documents":      func(p *Problem) { p.Model, p.Documents = solver.Bernoulli, []float64{9, math.Inf(1), 9} },
		"more documents than there are":  func(p *Problem) { p.Model, p.Documents = solver.Bernoulli, []float64{9, 9, 2} },
	} {
		p := Problem{Vectors: solver.NewVectors(3), K: 1}
		add(&p, 1, 0, 3)
		add(&p, 0, 2, 1)
		change(&p)
		if _, err := Solve(p, solver.Settings{}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := Solve(Problem{Vectors: solver.NewVectors(2)}, solver.Settings{}); !errors.Is(err, solver.ErrNoFeatures) {
		t.Errorf("without features the error is %v", err)
	}
}

func TestBoundRefusesSharesThatAreNone(t *testing.T) {
	t.Parallel()
	p, _ := problemOf(t, [][]float64{{1, 2}, {2, 1}}, 1, 0)
	for _, alpha := range [][]float64{{1}, {0.5, 0.6}, {-0.5, 1.5}, {math.NaN(), 1}} {
		if _, err := Bound(p, alpha); err == nil {
			t.Errorf("the shares %v were accepted", alpha)
		}
	}
	if b, err := Bound(p, []float64{1, 0}); err != nil || !math.IsInf(b, 1) {
		t.Errorf("where a class has no share the bound is %v, %v", b, err)
	}
}

func TestEvaluateRefusesOtherSupports(t *testing.T) {
	t.Parallel()
	p, _ := problemOf(t, [][]float64{{1, 2}, {2, 1}}, 1, 0)
	for _, take := range [][]int64{{1}, {2, 0}, {-1, 1}} {
		if _, _, _, err := Evaluate(p, take); err == nil {
			t.Errorf("the support %v was accepted", take)
		}
	}
}

func TestSignificanceNeedsDocuments(t *testing.T) {
	t.Parallel()
	p, _ := problemOf(t, [][]float64{{1, 2}, {2, 1}}, 1, 0)
	if _, err := SignificantFeatures(p, 0.05); !errors.Is(err, solver.ErrNotBernoulli) {
		t.Errorf("counts of occurrences: %v", err)
	}
}
