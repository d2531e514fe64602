package selection

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/joint"
)

// Choices are the supports of one problem for all smoothings and requested ks.
type Choices struct {
	problem Problem
	List    []Choice
}

// Choice is a support that is told by the groups of features with equal counts, and not by a rule as that of a [Solution].
type Choice struct {
	Models []modelio.ModelRow // as of a Solution
	Take   []int64            // by group: how many of the features are selected; those that are first by name
	params weigher
}

// weigher computes weights from the counts on the sides of a problem.
type weigher interface {
	terms(dst, counts []float64) []float64
	offsets(dst []float64) []float64
}

// Supports solves every problem for the requested ks alone. The supports are those of [Params.Solve].
func (p Params) Supports(vectors *solver.Vectors, classes []modelio.Class) (all []Choices, err error) {
	features, set := vectors.Features(), NewProblems(vectors, classes)
	for _, m := range problems(classes, p.Strategy, p.Positive) {
		m.M, m.Model, m.Method, m.Classifier = features, p.Model.String(), p.Method.String(), p.classifier()
		problem, err := set.Of(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Problem, err)
		}
		c := Choices{problem: problem}
		for _, smoothing := range p.Smoothing {
			problem := problem.Smoothed(smoothing)
			requested, err := requests(p.K, problem.rules())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Problem, err)
			}
			list, err := problem.choices(requested)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Problem, err)
			}
			c.List = append(c.List, list...)
		}
		all = append(all, c)
	}
	return all, nil
}

// Sides returns the counts of a feature on the sides of the problem, see [Problem.Counts].
func (c Choices) Sides(labels []string, count func(i int) float64) []float64 {
	return c.problem.Counts(labels, count)
}

// Group returns the number of the group with these counts on the sides, or -1.
func (c Choices) Group(counts []float64) int { return c.problem.group(counts) }

// Size returns the number of features of a group.
func (c Choices) Size(group int) int64 { return c.problem.size(group) }

func (p twoSides) choices(requested map[int64]request) (list []Choice, err error) {
	for r, err := range solver.Path(p.problem, slices.Sorted(maps.Keys(requested)), solver.Settings{}) {
		if err != nil {
			return nil, err
		}
		m := requested[r.K].model(p.model, r.Outcome)
		m.Intercept = r.Parameters.Intercept
		list = append(list, Choice{[]modelio.ModelRow{m}, r.Take, twoSidesSupport{Parameters: r.Parameters}})
	}
	return list, nil
}

func (p twoSides) group(counts []float64) int {
	return solver.GroupOf(p.problem.Groups, counts[0], counts[1])
}

func (p twoSides) size(group int) int64 { return p.problem.Groups[group].Size }

func (p allClasses) choices(requested map[int64]request) (list []Choice, err error) {
	for _, k := range slices.Sorted(maps.Keys(requested)) {
		problem := p.problem
		problem.K = k
		r, err := joint.Solve(problem, solver.Settings{})
		if err != nil {
			return nil, err
		}
		models := slices.Clone(p.models)
		for c, m := range models {
			m = requested[r.K].model(m, r.Outcome)
			m.Intercept = r.Parameters.Intercepts[c]
			models[c] = m
		}
		list = append(list, Choice{models, r.Take, allClassesSupport{Parameters: r.Parameters}})
	}
	return list, nil
}

func (p allClasses) group(counts []float64) int { return p.problem.Find(counts) }

func (p allClasses) size(group int) int64 { return p.problem.Size(group) }

// Requests returns the requested ks, as Params.K has them, that the support is for.
func (c Choice) Requests() []string { return strings.Split(c.Models[0].KRequested, ",") }

// A weight is a term of the feature minus an offset of the model. The terms are the same for every k, so that the scores of all
// ks can be computed from the sums of the terms of the features that they select.

// Terms appends the terms of the weights of a feature that is selected, by model, from its counts on the sides. Smoothing must
// not be 0.
func (c Choice) Terms(dst, counts []float64) []float64 { return c.params.terms(dst, counts) }

// Offsets appends the offsets of the weights, by model.
func (c Choice) Offsets(dst []float64) []float64 { return c.params.offsets(dst) }

// Flat reports whether all weights are 0, because the only feature selected has the same probability in all classes.
func (c Choice) Flat() bool {
	m := c.Models[0]
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
