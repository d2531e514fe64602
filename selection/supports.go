package selection

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Supports solves every problem for the requested ks alone, in one goroutine unless the problem is joint. The solutions are
// those of [Params.Solve], without the path.
func (p Params) Supports(vectors *solver.Vectors, classes []modelio.Class) (solutions []Solution, err error) {
	features, set := vectors.Features(), NewProblems(vectors, classes)
	for _, m := range problems(classes, p.Strategy, p.Positive) {
		m.M, m.Model, m.Method, m.Classifier = features, p.Model.String(), p.Method.String(), p.classifier()
		problem, err := set.Of(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Problem, err)
		}
		for _, smoothing := range p.Smoothing {
			problem := problem.Smoothed(smoothing)
			requested, err := requests(p.K, problem.rules())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Problem, err)
			}
			var path []modelio.PathRow
			for _, k := range slices.Sorted(maps.Keys(requested)) {
				path = append(path, modelio.PathRow{K: k})
			}
			more, err := problem.solve(path, requested)
			if errors.Is(err, solver.ErrNoMass) {
				return nil, fmt.Errorf("%s: neither side has any features", m.Problem)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Problem, err)
			}
			solutions = append(solutions, more...)
		}
	}
	return solutions, nil
}

// Requests returns the requested ks, as Params.K has them, that the solution answers.
func (s Solution) Requests() []string { return strings.Split(s.model().KRequested, ",") }

// Sides returns the counts of a feature on the sides of the problem, see [Problem.Counts].
func (s Solution) Sides(labels []string, count func(i int) float64) []float64 {
	return s.counts(labels, count)
}

// Rule returns a function that returns how many of the features with the given counts on the sides are selected. all means
// every one of them, and n is then not counted. Of others those that are first by name are selected.
func (s Solution) Rule() func(counts []float64) (n int64, all bool) { return s.Support.rule() }

// A weight is a term of the feature minus an offset of the model. The terms are the same for every k, so that the scores of all
// ks can be computed from the sums of the terms of the features that they select.

// Terms appends the terms of the weights of a feature that is selected, by model, from its counts on the sides. Smoothing must
// not be 0.
func (s Solution) Terms(dst, counts []float64) []float64 { return s.Support.terms(dst, counts) }

// Offsets appends the offsets of the weights, by model.
func (s Solution) Offsets(dst []float64) []float64 { return s.Support.offsets(dst) }

// Flat reports whether all weights are 0, because the only feature selected has the same probability in all classes.
func (s Solution) Flat() bool {
	m := s.model()
	return m.Model == solver.Multinomial.String() && m.K <= 1
}

func (s twoSidesSupport) terms(dst, counts []float64) []float64 {
	p := s.Parameters
	if p.Model == solver.Bernoulli {
		return append(dst, p.Weight(counts[0], counts[1]))
	}
	return append(dst, math.Log(counts[0]+p.Smoothing)-math.Log(counts[1]+p.Smoothing))
}

func (s twoSidesSupport) offsets(dst []float64) []float64 {
	p := s.Parameters
	if p.Model == solver.Bernoulli {
		return append(dst, 0)
	}
	return append(dst, math.Log(p.SupportPositive)-math.Log(p.SupportNegative))
}

func (s allClassesSupport) terms(dst, counts []float64) []float64 {
	p := s.Parameters
	if p.Model == solver.Bernoulli {
		classes, above := present(counts)
		return p.Weights(dst, classes, above)
	}
	common := math.Log(solver.Sum(counts) + p.Smoothing*float64(len(counts)))
	for _, n := range counts {
		dst = append(dst, math.Log(n+p.Smoothing)-common)
	}
	return dst
}

func (s allClassesSupport) offsets(dst []float64) []float64 {
	p := s.Parameters
	if p.Model == solver.Bernoulli {
		return append(dst, make([]float64, len(p.Documents))...)
	}
	all := math.Log(solver.Sum(p.Support))
	for _, b := range p.Support {
		dst = append(dst, math.Log(b)-all)
	}
	return dst
}
