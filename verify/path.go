package verify

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// Path recomputes the upper bound of every row of the path at its α, and the differences between the bounds of one k and
// another. It does not recompute those of a joint problem, which has an α for each class: the path does not hold them.
func Path(_ context.Context, run modelio.Published, counts *Counts) (findings []string, err error) {
	models := map[modelio.Key]modelio.ModelRow{}
	for _, m := range run.Models {
		models[m.Key()] = m
		models[modelio.Key{Problem: m.Problem, Smoothing: m.Smoothing}] = m // the model of any k has the problem
	}
	rows, bounds := map[modelio.Key]bool{}, 0
	for rest := run.Path; len(rest) > 0; {
		key := modelio.Key{Problem: rest[0].Problem, Smoothing: rest[0].Smoothing}
		n := 0
		for ; n < len(rest) && rest[n].Problem == key.Problem && rest[n].Smoothing == key.Smoothing; n++ {
			row := rest[n]
			rows[row.Key()] = true
			if !(row.Gap >= 0) || row.Gap != row.UpperBoundGain-row.Gain || !isCertificate(row.Certificate) {
				return nil, fmt.Errorf("path, %s: invalid gap %v or certificate %q", row.Key(), row.Gap, row.Certificate)
			}
			if m, ok := models[row.Key()]; ok && (m.Gain != row.Gain || m.UpperBoundGain != row.UpperBoundGain || m.Certificate != row.Certificate) {
				return nil, fmt.Errorf("path, %s: gain, upper bound or certificate differ from the model", row.Key())
			}
		}
		m, ok := models[key]
		if !ok {
			return nil, fmt.Errorf("path, %s: the run has no model for this problem and smoothing", rest[0].Key())
		}
		if m.Strategy != modelio.Joint {
			if err := checkPath(counts, m, rest[:n]); err != nil {
				return nil, fmt.Errorf("path, %w", err)
			}
			bounds += n
		}
		rest = rest[n:]
	}
	for _, m := range run.Models {
		if !rows[m.Key()] {
			return nil, fmt.Errorf("path: no row for the model %s", m.Key())
		}
	}
	if bounds > 0 {
		findings = append(findings, plural(int64(bounds), "upper bound")+" on the path")
	}
	return findings, nil
}

// checkPath verifies the rows of one problem with two sides.
func checkPath(counts *Counts, m modelio.ModelRow, rows []modelio.PathRow) error {
	p, err := counts.problemOf(m)
	if err != nil {
		return err
	}
	var ks []int64
	for _, row := range rows {
		ks = append(ks, row.K)
	}
	want, err := selection.PathRows(m, ks, func(ks []int64) ([]float64, error) { return solver.Bounds(p, ks, solver.Settings{}) })
	if err != nil {
		return err
	}
	_, _, none, err := solver.Evaluate(p, make([]int64, len(p.Groups)))
	if err != nil {
		return err
	}
	for i, row := range rows {
		p.K = row.K
		bound, err := solver.Bound(p, row.Odds)
		if err != nil {
			return err
		}
		err = cmp.Or(
			compareGains([]number{{"upper_bound_gain", row.UpperBoundGain, bound}}, none.Resolution()),
			// A difference of bounds is as precise as they are.
			compareGains([]number{
				{"marginal_gain", row.MarginalGain, want[i].MarginalGain}, {"elbow", row.Elbow, want[i].Elbow},
			}, 1e-9*bound+none.Resolution()),
		)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Key(), err)
		}
	}
	return nil
}
