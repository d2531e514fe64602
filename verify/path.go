package verify

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Path recomputes the upper bound of every row of the path at its α, and the differences between the bounds of one k and
// another. It skips problems whose path does not hold α.
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
		checked, err := checkPath(counts, m, rest[:n])
		if err != nil {
			return nil, fmt.Errorf("path, %w", err)
		}
		bounds, rest = bounds+checked, rest[n:]
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

// checkPath verifies the rows of one problem, and returns how many bounds it compared.
func checkPath(counts *Counts, m modelio.ModelRow, rows []modelio.PathRow) (bounds int, err error) {
	problem, err := counts.problemOf(m)
	if err != nil {
		return 0, err
	}
	recomputed, err := problem.PathBounds(rows)
	if err != nil || len(recomputed) == 0 {
		return 0, err
	}
	none, err := problem.Evaluate([]modelio.ModelRow{m}, nil)
	if err != nil {
		return 0, err
	}
	for i, want := range recomputed {
		row, resolution := rows[i], none.Resolution()
		err := cmp.Or(
			compareGains([]number{{"upper_bound_gain", row.UpperBoundGain, want.UpperBoundGain}}, resolution),
			// A difference of bounds is as precise as they are.
			compareGains([]number{
				{"marginal_gain", row.MarginalGain, want.MarginalGain}, {"elbow", row.Elbow, want.Elbow},
			}, 1e-9*want.UpperBoundGain+resolution),
		)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", row.Key(), err)
		}
	}
	return len(rows), nil
}
