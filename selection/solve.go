package selection

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/solver"
)

// Params say which features to select.
type Params struct {
	K         []K
	Model     solver.Model
	Method    solver.Method
	Strategy  Strategy
	Smoothing []float64
	Positive  string // empty: the last label in byte order, or every class if there are more than two
	Pruning   Pruning
	Weights   string // one of modelio.WeightNames; default: whatever the counts are

	Classifier string  // one of modelio.Classifiers; default: the naive Bayes model itself
	C          float64 // of a fitted classifier: the inverse strength of the penalty; default 1
}

// CountsDocuments reports whether the counts of a feature are its documents, and not its occurrences.
func (p Params) CountsDocuments() bool {
	return p.Model == solver.Bernoulli || p.Weights == modelio.BinaryWeights
}

// Solved is a piece of the result of Solve, with one of the fields set.
type Solved struct {
	Verdict  *modelio.Verdict
	Solution *Solution
	Path     []modelio.PathRow
	Warnings []string
	Pruning  *PruningPlan // for the features to be picked
	Fitted   *FittedModel // of the step that fits a classifier
}

// Solve solves every problem for the requested ks and those of the path. classes are sorted by label, and number those of
// vectors.
func (p Params) Solve(vectors *solver.Vectors, classes []modelio.Class) ([]Solved, error) {
	features := vectors.Features()
	set, models := NewProblems(vectors, classes), problems(classes, p.Strategy, p.Positive)
	solved := make([][]Solved, len(models))
	err := parallel(len(models), func(i int) (err error) {
		m := models[i]
		m.M, m.Model, m.Method, m.Classifier = features, p.Model.String(), p.Method.String(), p.classifier()
		if solved[i], err = p.solve(set, m); err != nil {
			err = fmt.Errorf("%s: %w", m.Problem, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(slices.Concat(solved...), Solved{Warnings: p.warnings(features)}), nil
}

// warnings returns those that do not depend on a model.
func (p Params) warnings(m int64) []string {
	list := beyond(p.K, m)
	if p.Model == solver.Multinomial && slices.ContainsFunc(p.K, func(k K) bool { return k.Number == 1 }) {
		list = append(list, "k = 1 cannot distinguish the classes: the other features have the same probabilities in both, so this one must, too; use k = 2 or more")
	}
	return list
}

// solve solves one problem for every smoothing and k.
func (p Params) solve(set *Problems, m modelio.ModelRow) (records []Solved, err error) {
	problem, err := set.Of(m)
	if err != nil {
		return nil, err
	}
	for _, smoothing := range p.Smoothing {
		m.Smoothing = smoothing
		more, err := p.solvePath(problem.Smoothed(smoothing), m)
		if errors.Is(err, solver.ErrNoMass) && m.Strategy != modelio.Joint { // two of several classes may have no counts
			records = append(records, Solved{Warnings: []string{m.Problem + ": neither side has any tokens, and there is no model without smoothing"}})
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, more...)
	}
	return records, nil
}

func (p Params) solvePath(problem Problem, m modelio.ModelRow) (records []Solved, err error) {
	requested, err := requests(p.K, problem.rules())
	if err != nil {
		return nil, err
	}
	path, err := pathRows(m, problem.path(requested), problem.bounds)
	if err != nil {
		return nil, err
	}
	solutions, err := problem.solve(path, requested)
	if err != nil {
		return nil, err
	}
	for _, s := range solutions {
		if hasNaN(s.Models) && !Fitted(m.Classifier) {
			records = append(records, Solved{Warnings: []string{contradiction(s.model())}})
		}
		records = append(records, Solved{Solution: &s})
	}
	return append(records, Solved{Path: path}), nil
}

func hasNaN(models []modelio.ModelRow) bool {
	return slices.ContainsFunc(models, func(m modelio.ModelRow) bool { return math.IsNaN(m.Intercept) })
}

func contradiction(m modelio.ModelRow) string {
	return fmt.Sprintf("%s, k = %d: the weights are infinite, and contradict each other where two such features are missing: "+
		"the intercept is NaN; a --smoothing above 0 avoids that", m.Problem, m.K)
}

// CollectVectors adds up the pieces of the histogram, whose classes are numbered.
func CollectVectors(next func(*[]byte) bool, classes int) (*solver.Vectors, error) {
	vectors := solver.NewVectors(classes)
	var b []byte
	for next(&b) {
		err := histogram.Unpack(b, classes, func(e histogram.Entry) error { return vectors.Add(e.Classes, e.Counts, e.Size) })
		if err != nil {
			return nil, err
		}
	}
	return vectors.Group(), nil
}
