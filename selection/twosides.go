package selection

import (
	"encoding/gob"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

func init() { gob.Register(twoSidesSupport{}) } // solutions cross a shuffle

// twoSides is a problem of one class against another or the rest.
type twoSides struct {
	model   modelio.ModelRow // without the results of solving
	problem solver.Problem
}

func (p *Problems) twoSides(m modelio.ModelRow, model solver.Model) twoSides {
	place := func(label string) int32 {
		return int32(slices.IndexFunc(p.classes, func(c modelio.Class) bool { return c.Label == label }))
	}
	t := twoSides{m, solver.Problem{Model: model, Method: solver.Method(m.Method), Smoothing: m.Smoothing}}
	if m.Strategy == modelio.OneVersusRest {
		t.problem.Groups = p.rest()(place(m.Positive))
	} else {
		t.problem.Groups = p.one()(place(m.Positive), place(m.Negative))
	}
	if m.DocsPositive != nil && m.DocsNegative != nil {
		t.problem.DocumentsPositive, t.problem.DocumentsNegative = float64(*m.DocsPositive), float64(*m.DocsNegative)
	}
	return t
}

func (p twoSides) Counts(labels []string, count func(i int) float64) []float64 {
	return countsOfSides(p.model, labels, count)
}

func countsOfSides(m modelio.ModelRow, labels []string, count func(i int) float64) []float64 {
	var positive, negative float64
	for i, label := range labels {
		switch {
		case label == m.Positive:
			positive += count(i)
		case m.Strategy == modelio.OneVersusRest || label == m.Negative:
			negative += count(i)
		}
	}
	return []float64{positive, negative}
}

func (p twoSides) Smoothed(smoothing float64) Problem {
	p.model.Smoothing, p.problem.Smoothing = smoothing, smoothing
	return p
}

func (p twoSides) rules() rules {
	return rules{p.model.M, p.problem.Curve, func(rate float64) (int64, error) { return solver.SignificantFeatures(p.problem, rate) }}
}

func (p twoSides) path(requested map[int64]request) []int64 { return pathOf(p.model.M, requested) }

func (p twoSides) bounds(ks []int64) ([]float64, error) {
	return solver.Bounds(p.problem, ks, solver.Settings{})
}

func (p twoSides) solve(path []modelio.PathRow, requested map[int64]request) (solutions []Solution, err error) {
	i := 0
	for r, err := range solver.Path(p.problem, ksOf(path), solver.Settings{}) {
		if err != nil {
			return nil, err
		}
		completeRow(&path[i], r.Outcome)
		path[i].Alpha, path[i].Odds = r.Alpha, r.Odds
		i++
		request, ok := requested[r.K]
		if !ok {
			continue
		}
		m := request.model(p.model, r.Outcome)
		m.Intercept, m.Alpha, m.Odds = r.Parameters.Intercept, r.Alpha, r.Odds
		m.TiedSelected, m.TiedLeftOut = p.problem.Ties(r.Take)
		solutions = append(solutions, Solution{[]modelio.ModelRow{m}, twoSidesSupport{r.Parameters, r.Selector(p.problem)}})
	}
	return solutions, nil
}

func (p twoSides) Evaluate(models []modelio.ModelRow, features []Feature) (s Solution, err error) {
	m := models[0]
	p.problem.K = m.K
	take, err := countByGroup(features, len(p.problem.Groups), func(counts []float64) int { return solver.GroupOf(p.problem.Groups, counts[0], counts[1]) })
	if err != nil {
		return s, err
	}
	support := twoSidesSupport{Selector: solver.Selector{Statistic: p.problem.Statistic()}}
	if m.Base, m.Gain, support.Parameters, err = solver.Evaluate(p.problem, take); err != nil {
		return s, err
	}
	m.Intercept = support.Parameters.Intercept
	m.TiedSelected, m.TiedLeftOut = p.problem.Ties(take)
	m.UpperBoundGain, err = solver.Bound(p.problem, m.Odds)
	return Solution{[]modelio.ModelRow{m}, support}, err
}

func (p twoSides) PathBounds(published []modelio.PathRow) ([]modelio.PathRow, error) {
	rows, err := pathRows(p.model, ksOf(published), p.bounds)
	if err != nil {
		return nil, err
	}
	for i, row := range published {
		p.problem.K = row.K
		if rows[i].UpperBoundGain, err = solver.Bound(p.problem, row.Odds); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

type twoSidesSupport struct {
	Parameters solver.Parameters
	Selector   solver.Selector
}

func (s twoSidesSupport) counts(models []modelio.ModelRow, labels []string, count func(i int) float64) []float64 {
	return countsOfSides(models[0], labels, count)
}

func (s twoSidesSupport) absent(models []modelio.ModelRow, sum float64) []float64 {
	if models[0].Strategy == modelio.OneVersusRest {
		return []float64{0, sum}
	}
	return []float64{0, 0}
}

func (s twoSidesSupport) resolution() float64 { return s.Parameters.Resolution() }

func (s twoSidesSupport) rule() func(counts []float64) (n int64, all bool) {
	return func(counts []float64) (int64, bool) { return s.Selector.Selects(counts[0], counts[1]) }
}

func (s twoSidesSupport) statistic(counts []float64) float64 {
	if s.Selector.Statistic != nil {
		return s.Selector.Statistic.Of(counts[0], counts[1])
	}
	return s.Parameters.Score(counts[0], counts[1])
}

func (s twoSidesSupport) rows(models []modelio.ModelRow, counts, documents []float64) []modelio.FeatureRow {
	thetaPositive, thetaNegative := s.Parameters.Theta(counts[0], counts[1])
	row := modelio.FeatureRow{
		Class: models[0].Positive, CountPositive: counts[0], CountNegative: counts[1],
		Score:         s.Parameters.Score(counts[0], counts[1]),
		ThetaPositive: thetaPositive, ThetaNegative: thetaNegative,
		Weight: s.Parameters.Weight(counts[0], counts[1]),
	}
	if documents != nil {
		row.DocumentsPositive, row.DocumentsNegative = integer(documents[0]), integer(documents[1])
	}
	return []modelio.FeatureRow{row}
}
