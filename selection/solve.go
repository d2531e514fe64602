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
}

// Solved is a piece of what Solve has found; each has one of the fields.
type Solved struct {
	Verdict  *modelio.Verdict
	Solution *Solution
	Path     []modelio.PathRow
	Warnings []string
}

// Solve solves every problem for every k that is asked for, and for those of the path. classes are sorted by label, and
// number those of vectors.
func (p Params) Solve(vectors *solver.Vectors, classes []modelio.Class) ([]Solved, error) {
	features := vectors.Features()
	var jobs []func() ([]Solved, error)
	if p.Strategy == modelio.Joint && len(classes) > 2 {
		// One job: it takes all processors itself, and memory for each.
		jobs = append(jobs, func() (records []Solved, err error) {
			for _, smoothing := range p.Smoothing {
				more, err := p.solveJoint(vectors, classes, features, smoothing)
				if err != nil {
					return nil, err
				}
				records = append(records, more...)
			}
			return records, nil
		})
	} else {
		groups := Groups(vectors, classes)
		for _, model := range problems(classes, p.Strategy, p.Positive) {
			model.M = features
			jobs = append(jobs, func() ([]Solved, error) { return p.solveSides(model, groups(model)) })
		}
	}
	solved := make([][]Solved, len(jobs))
	err := parallel(len(jobs), func(i int) (err error) {
		solved[i], err = jobs[i]()
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(slices.Concat(solved...), Solved{Warnings: p.warnings(features)}), nil
}

// warnings are those that no model of its own has.
func (p Params) warnings(m int64) []string {
	list := beyond(p.K, m)
	if p.Model == solver.Multinomial && slices.ContainsFunc(p.K, func(k K) bool { return k.Number == 1 }) {
		list = append(list, "k = 1 gains nothing, whichever feature it is: the classes share all their probability outside it")
	}
	return list
}

// solveSides solves one problem of two sides, for every smoothing and k. The model has what is known of it before.
func (p Params) solveSides(model modelio.ModelRow, groups []solver.Group) (records []Solved, err error) {
	problem := solver.Problem{Groups: groups, Model: p.Model, Method: p.Method}
	if model.DocsPositive != nil && model.DocsNegative != nil {
		problem.DocumentsPositive, problem.DocumentsNegative = float64(*model.DocsPositive), float64(*model.DocsNegative)
	}
	model.Model, model.Method = p.Model.String(), p.Method.String()
	for _, smoothing := range p.Smoothing {
		problem.Smoothing, model.Smoothing = smoothing, smoothing
		more, err := p.path(problem, model)
		if errors.Is(err, solver.ErrNoMass) { // of two classes of several
			records = append(records, Solved{Warnings: []string{model.Problem + ": neither side has any tokens, and there is no model without smoothing"}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", model.Problem, err)
		}
		records = append(records, more...)
	}
	return records, nil
}

// path solves a problem for every k.
func (p Params) path(problem solver.Problem, model modelio.ModelRow) (records []Solved, err error) {
	requested, err := requests(p.K, rules{model.M, problem.Curve, func(rate float64) (int64, error) { return solver.SignificantFeatures(problem, rate) }})
	if err != nil {
		return nil, err
	}
	ks := pathOf(model.M, requested)
	path, err := PathRows(model, ks, func(ks []int64) ([]float64, error) { return solver.Bounds(problem, ks, solver.Settings{}) })
	if err != nil {
		return nil, err
	}
	i := 0
	for r, err := range solver.Path(problem, ks, solver.Settings{}) {
		if err != nil {
			return nil, err
		}
		row := &path[i]
		i++
		row.UpperBoundGain, row.Gain, row.Gap, row.Certificate, row.Alpha, row.Odds = r.UpperBound, r.Gain, r.Gap, r.Certificate.String(), r.Alpha, r.Odds
		request, ok := requested[r.K]
		if !ok {
			continue
		}
		if math.IsNaN(r.Parameters.Intercept) {
			records = append(records, Solved{Warnings: []string{fmt.Sprintf("%s, k = %d: the weights are infinite, and contradict each other where two such features are missing: "+
				"the intercept is NaN; a --smoothing above 0 avoids that", model.Problem, r.K)}})
		}
		m := request.model(model, r.K)
		m.Intercept, m.Base = r.Parameters.Intercept, r.Base
		m.UpperBoundGain, m.Gain, m.Gap, m.Certificate = r.UpperBound, r.Gain, r.Gap, r.Certificate.String()
		m.Alpha, m.Odds, m.Evaluations = r.Alpha, r.Odds, int64(r.Evaluations)
		m.TiedSelected, m.TiedLeftOut = problem.Ties(r.Take)
		records = append(records, Solved{Solution: &Solution{Models: []modelio.ModelRow{m}, Parameters: r.Parameters, Selector: r.Selector(problem)}})
	}
	return append(records, Solved{Path: path}), nil
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
