package transforms

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// tables is what Commit writes.
type tables struct {
	verdict   *modelio.Verdict
	solutions []Solution
	selected  map[modelio.Key][]Feature
	features  []modelio.FeatureRow
	path      []modelio.PathRow
	warnings  []string
}

func (t *tables) collect(s Solved) {
	switch {
	case s.Verdict != nil:
		t.verdict = s.Verdict
	case s.Solution != nil:
		t.solutions = append(t.solutions, *s.Solution)
	default:
		t.path = append(t.path, s.Path...)
		t.warnings = append(t.warnings, s.Warnings...)
	}
}

func (t *tables) add(s Selected) {
	if t.selected == nil {
		t.selected = map[modelio.Key][]Feature{}
	}
	t.selected[s.Model] = append(t.selected[s.Model], s.Features...)
}

// rank sorts the tables, keeps of groups of which a model has some features only the first by name, numbers the
// features, and checks that every model got the features it was solved for.
func (t *tables) rank() error {
	slices.SortFunc(t.solutions, func(a, b Solution) int { return a.Model.Key().Compare(b.Model.Key()) })
	slices.SortFunc(t.path, func(a, b modelio.PathRow) int { return a.Key().Compare(b.Key()) })
	for _, s := range t.solutions {
		key := s.Model.Key()
		rows := s.rows(t.selected[key])
		delete(t.selected, key)
		if err := checkSupport(rows, s); err != nil {
			return err
		}
		t.features = append(t.features, rows...)
	}
	for key := range t.selected {
		return fmt.Errorf("features were selected for %s, which is no model", key)
	}
	return nil
}

// rows returns the features of the model, ranked.
func (s Solution) rows(features []Feature) []modelio.FeatureRow {
	rows := make([]modelio.FeatureRow, len(features))
	for i, f := range features {
		rows[i] = s.row(f)
	}
	slices.SortFunc(rows, CompareFeatures)
	taken := map[[2]float64]int64{}
	ranked := rows[:0]
	for _, row := range rows {
		counts := [2]float64{row.CountPositive, row.CountNegative}
		if n, all := s.Selector.Selects(counts[0], counts[1]); !all {
			// Equal counts have equal scores, so that within a group the rows are sorted by name.
			if taken[counts]++; taken[counts] > n {
				continue
			}
		}
		row.Rank = int64(len(ranked)) + 1
		ranked = append(ranked, row)
	}
	return ranked
}

func (s Solution) row(f Feature) modelio.FeatureRow {
	thetaPositive, thetaNegative := s.Parameters.Theta(f.Positive, f.Negative)
	return modelio.FeatureRow{
		Problem: s.Model.Problem, Smoothing: s.Model.Smoothing, K: s.Model.K, Feature: f.Name, FeatureID: f.ID,
		CountPositive: f.Positive, CountNegative: f.Negative,
		Score:         s.Parameters.Score(f.Positive, f.Negative),
		ThetaPositive: thetaPositive, ThetaNegative: thetaNegative,
		Weight: s.Parameters.Weight(f.Positive, f.Negative),
	}
}

// CompareFeatures orders the features of a model by rank.
func CompareFeatures(a, b modelio.FeatureRow) int {
	return cmp.Or(
		-cmp.Compare(a.Score, b.Score),
		-cmp.Compare(a.CountPositive+a.CountNegative, b.CountPositive+b.CountNegative),
		bytes.Compare([]byte(a.Feature), []byte(b.Feature)),
	)
}

func checkSupport(rows []modelio.FeatureRow, s Solution) error {
	gain := 0.0
	for _, row := range rows {
		gain += row.Score
	}
	if int64(len(rows)) != s.Model.K || !(math.Abs(gain-s.Model.Gain) <= 1e-9*s.Model.Gain+1e-12) {
		return fmt.Errorf("the model of %s was solved with a gain of %v, but %d features were found that gain %v",
			s.Model.Key(), s.Model.Gain, len(rows), gain)
	}
	return nil
}

func (t *tables) write(ctx context.Context, dir string) ([]countio.FileSum, error) {
	features, err := modelio.WriteTable(ctx, dir, modelio.FeaturesFile, t.features)
	if err != nil {
		return nil, err
	}
	models := make([]modelio.ModelRow, len(t.solutions))
	for i, s := range t.solutions {
		models[i] = s.Model
	}
	model, err := modelio.WriteTable(ctx, dir, modelio.ModelFile, models)
	if err != nil {
		return nil, err
	}
	path, err := modelio.WriteTable(ctx, dir, modelio.PathFile, t.path)
	return []countio.FileSum{features, model, path}, err
}
