package selection

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/joint"
)

// manyClasses is from how many classes on a joint path has the ks alone that are asked for: with a thousand classes one k
// takes ten seconds and more.
const manyClasses = 50

// solveJoint solves the joint problem of all classes for one smoothing and every k.
func (p Params) solveJoint(vectors *solver.Vectors, classes []modelio.Class, features int64, smoothing float64) (records []Solved, err error) {
	problem := JointProblem(vectors, classes, p.Model, smoothing)
	requested, err := requests(p.K, rules{features, problem.Curve, func(rate float64) (int64, error) { return joint.SignificantFeatures(problem, rate) }})
	if err != nil {
		return nil, err
	}
	ks := pathOf(features, requested)
	if len(classes) > manyClasses {
		ks = slices.Sorted(maps.Keys(requested))
	}
	model := modelio.ModelRow{Problem: modelio.Joint, Smoothing: smoothing}
	path, err := PathRows(model, ks, func(ks []int64) ([]float64, error) { return jointBounds(problem, ks) })
	if err != nil {
		return nil, err
	}
	results := make([]joint.Result, len(ks))
	err = parallel(len(ks), func(i int) (err error) {
		problem := problem
		problem.K = ks[i]
		results[i], err = joint.Solve(problem, solver.Settings{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		row := &path[i]
		row.UpperBoundGain, row.Gain, row.Gap, row.Certificate = r.UpperBound, r.Gain, r.Gap, r.Certificate.String()
		row.Alpha, row.Odds = math.NaN(), math.NaN() // there is one for each class
		request, ok := requested[r.K]
		if !ok {
			continue
		}
		tiedSelected, tiedLeftOut := problem.Ties(r.Take)
		rows := jointModels(classes)
		for c := range rows {
			m := request.model(rows[c], r.K)
			m.Model, m.Method, m.M, m.Smoothing = p.Model.String(), p.Method.String(), features, smoothing
			m.Intercept, m.Base = r.Parameters.Intercepts[c], r.Base
			m.UpperBoundGain, m.Gain, m.Gap, m.Certificate = r.UpperBound, r.Gain, r.Gap, r.Certificate.String()
			m.Alpha, m.Odds, m.Evaluations = r.Alpha[c], r.Alpha[c]/(1-r.Alpha[c]), int64(r.Evaluations)
			m.TiedSelected, m.TiedLeftOut = tiedSelected, tiedLeftOut
			rows[c] = m
		}
		records = append(records, Solved{Solution: &Solution{Models: rows, Joint: &JointSolution{r.Parameters, r.Selector(problem)}}})
	}
	return append(records, Solved{Path: path}), nil
}

// JointProblem is that of all classes.
func JointProblem(vectors *solver.Vectors, classes []modelio.Class, model solver.Model, smoothing float64) joint.Problem {
	p := joint.Problem{Vectors: vectors, Model: model, Smoothing: smoothing}
	for _, c := range classes {
		if c.Documents == nil {
			p.Documents = nil
			break
		}
		p.Documents = append(p.Documents, float64(*c.Documents))
	}
	return p
}

func jointBounds(p joint.Problem, ks []int64) ([]float64, error) {
	bounds := make([]float64, len(ks))
	return bounds, parallel(len(ks), func(i int) error {
		b, err := joint.Bounds(p, ks[i:i+1], solver.Settings{})
		if err != nil {
			return fmt.Errorf("k = %d: %w", ks[i], err)
		}
		bounds[i] = b[0]
		return nil
	})
}

// parallel calls do for 0 to n-1, on all processors.
func parallel(n int, do func(i int) error) error {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		workers.Go(func() error { return do(i) })
	}
	return workers.Wait()
}
