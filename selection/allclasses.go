package selection

import (
	"encoding/gob"
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

func init() { gob.Register(allClassesSupport{}) } // solutions cross a shuffle

// allClasses is the problem of one set of features for all classes.
type allClasses struct {
	models  []modelio.ModelRow // by class, without what solving finds
	problem joint.Problem
}

func (p *Problems) allClasses(m modelio.ModelRow, model solver.Model) allClasses {
	a := allClasses{jointModels(p.classes), joint.Problem{Vectors: p.vectors, Model: model, Smoothing: m.Smoothing}}
	for i, c := range p.classes {
		row := &a.models[i]
		row.Model, row.Method, row.Smoothing, row.M, row.Classifier = m.Model, m.Method, m.Smoothing, m.M, m.Classifier
		if c.Documents != nil {
			a.problem.Documents = append(a.problem.Documents, float64(*c.Documents))
		}
	}
	if len(a.problem.Documents) < len(p.classes) {
		a.problem.Documents = nil
	}
	return a
}

func (p allClasses) Counts(labels []string, count func(i int) float64) []float64 {
	return countsOfClasses(p.models, labels, count)
}

func countsOfClasses(models []modelio.ModelRow, labels []string, count func(i int) float64) []float64 {
	counts := make([]float64, len(models))
	c := 0
	for i, label := range labels {
		for models[c].Positive != label {
			c++
		}
		counts[c] = count(i)
	}
	return counts
}

func (p allClasses) Smoothed(smoothing float64) Problem {
	p.models, p.problem.Smoothing = slices.Clone(p.models), smoothing
	for i := range p.models {
		p.models[i].Smoothing = smoothing
	}
	return p
}

func (p allClasses) rules() rules {
	return rules{p.problem.Features(), p.problem.Curve, func(rate float64) (int64, error) { return joint.SignificantFeatures(p.problem, rate) }}
}

// manyClasses is the number of classes above which the path has only the requested ks: with a thousand classes, one k takes
// more than ten seconds.
const manyClasses = 50

func (p allClasses) path(requested map[int64]request) []int64 {
	if len(p.models) > manyClasses {
		return slices.Sorted(maps.Keys(requested))
	}
	return pathOf(p.problem.Features(), requested)
}

func (p allClasses) bounds(ks []int64) ([]float64, error) {
	bounds := make([]float64, len(ks))
	return bounds, parallel(len(ks), func(i int) error {
		b, err := joint.Bounds(p.problem, ks[i:i+1], solver.Settings{})
		if err != nil {
			return fmt.Errorf("k = %d: %w", ks[i], err)
		}
		bounds[i] = b[0]
		return nil
	})
}

func (p allClasses) solve(path []modelio.PathRow, requested map[int64]request) (solutions []Solution, err error) {
	results := make([]joint.Result, len(path))
	err = parallel(len(path), func(i int) (err error) {
		problem := p.problem
		problem.K = path[i].K
		results[i], err = joint.Solve(problem, solver.Settings{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		completeRow(&path[i], r.Outcome)
		path[i].Alpha, path[i].Odds = math.NaN(), math.NaN() // each class has its own
		request, ok := requested[r.K]
		if !ok {
			continue
		}
		tiedSelected, tiedLeftOut := p.problem.Ties(r.Take)
		models := slices.Clone(p.models)
		for c, m := range models {
			m = request.model(m, r.Outcome)
			m.Intercept, m.Alpha, m.Odds = r.Parameters.Intercepts[c], r.Alpha[c], r.Alpha[c]/(1-r.Alpha[c])
			m.TiedSelected, m.TiedLeftOut = tiedSelected, tiedLeftOut
			models[c] = m
		}
		solutions = append(solutions, Solution{models, allClassesSupport{r.Parameters, r.Selector(p.problem)}})
	}
	return solutions, nil
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

func (p allClasses) Evaluate(models []modelio.ModelRow, features []Feature) (s Solution, err error) {
	p.problem.K = models[0].K
	take, err := countByGroup(features, p.problem.Len(), p.problem.Find)
	if err != nil {
		return s, err
	}
	base, gain, params, err := joint.Evaluate(p.problem, take)
	if err != nil {
		return s, err
	}
	var alpha []float64
	for _, m := range models {
		alpha = append(alpha, m.Alpha)
	}
	bound, err := joint.Bound(p.problem, alpha)
	if err != nil {
		return s, err
	}
	tiedSelected, tiedLeftOut := p.problem.Ties(take)
	models = slices.Clone(models)
	for c := range models {
		m := &models[c]
		m.Base, m.Gain, m.UpperBoundGain, m.Intercept = base, gain, bound, params.Intercepts[c]
		m.TiedSelected, m.TiedLeftOut = tiedSelected, tiedLeftOut
	}
	return Solution{models, allClassesSupport{Parameters: params}}, nil
}

func (p allClasses) PathBounds([]modelio.PathRow) ([]modelio.PathRow, error) { return nil, nil }

type allClassesSupport struct {
	Parameters joint.Parameters
	Selector   joint.Selector
}

func (s allClassesSupport) counts(models []modelio.ModelRow, labels []string, count func(i int) float64) []float64 {
	return countsOfClasses(models, labels, count)
}

// absent is for names of a vocabulary that have no counts: the problem has all classes.
func (s allClassesSupport) absent(models []modelio.ModelRow, _ float64) []float64 {
	return make([]float64, len(models))
}

func (s allClassesSupport) resolution() float64 { return s.Parameters.Resolution() }

func (s allClassesSupport) rule() func(counts []float64) (n int64, all bool) {
	rule := s.Selector.Rule()
	return func(counts []float64) (int64, bool) { return rule(present(counts)) }
}

func (s allClassesSupport) statistic(counts []float64) float64 {
	return s.Parameters.Score(present(counts))
}

func (s allClassesSupport) rows(models []modelio.ModelRow, counts, documents []float64) []modelio.FeatureRow {
	p := s.Parameters
	classes, above := present(counts)
	theta, weights, parts := p.Theta(nil, classes, above), p.Weights(nil, classes, above), p.Parts(nil, classes, above)
	rows := make([]modelio.FeatureRow, len(models))
	for c, m := range models {
		rows[c] = modelio.FeatureRow{
			Class: m.Positive, CountPositive: counts[c], CountNegative: sumWithout(counts, c),
			Score: parts[c], ThetaPositive: theta[c], ThetaNegative: p.Common(above), Weight: weights[c],
		}
		if documents != nil {
			rows[c].DocumentsPositive, rows[c].DocumentsNegative = integer(documents[c]), integer(sumWithout(documents, c))
		}
	}
	return rows
}

// present returns the counts above zero and their classes.
func present(counts []float64) (classes []int32, above []float64) {
	for c, n := range counts {
		if n > 0 {
			classes, above = append(classes, int32(c)), append(above, n)
		}
	}
	return classes, above
}

// sumWithout adds the counts of all classes but c.
func sumWithout(counts []float64, c int) float64 {
	return solver.Sum(counts[:c]) + solver.Sum(counts[c+1:])
}
