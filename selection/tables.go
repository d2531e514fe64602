package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Tables are the tables that a selection writes.
type Tables struct {
	Verdict   *modelio.Verdict // if not nil, nothing else is written
	solutions []Solution
	selected  map[modelio.Key][]Feature
	models    []modelio.ModelRow
	features  []modelio.FeatureRow
	fitted    []FittedModel
	path      []modelio.PathRow
	Buckets   []modelio.BucketRow
	Warnings  []string
}

// Collect adds a piece of the result of Solve.
func (t *Tables) Collect(s Solved) {
	switch {
	case s.Verdict != nil:
		t.Verdict = s.Verdict
	case s.Solution != nil:
		t.solutions = append(t.solutions, *s.Solution)
	case s.Fitted != nil:
		t.fitted = append(t.fitted, *s.Fitted)
	default:
		t.path = append(t.path, s.Path...)
		t.Warnings = append(t.Warnings, s.Warnings...)
	}
}

// Add adds selected features of a model.
func (t *Tables) Add(s Selected) {
	if t.selected == nil {
		t.selected = map[modelio.Key][]Feature{}
	}
	t.selected[s.Model] = append(t.selected[s.Model], s.Features...)
}

// Rank sorts the tables, ranks the features, and checks that every model has the features it was solved for. If a model has only
// some features of a group with equal counts, Rank keeps the first by name.
func (t *Tables) Rank() error {
	slices.SortFunc(t.solutions, func(a, b Solution) int { return a.model().Key().Compare(b.model().Key()) })
	slices.SortFunc(t.path, func(a, b modelio.PathRow) int { return a.Key().Compare(b.Key()) })
	for _, s := range t.solutions {
		key := s.model().Key()
		models, rows := s.selectedRows(t.selected[key])
		delete(t.selected, key)
		if err := compareSolution(rows, s); err != nil {
			return err
		}
		if hasNaN(models) && !hasNaN(s.Models) {
			t.Warnings = append(t.Warnings, contradiction(models[0]))
		}
		t.models = append(t.models, models...)
		t.features = append(t.features, rows...)
	}
	for key := range t.selected {
		return fmt.Errorf("features were selected for %s, for which there is no model", key)
	}
	return nil
}

// compareSolution compares the number and the gain of the selected features with those of the solution.
func compareSolution(rows []modelio.FeatureRow, s Solution) error {
	var gain float64
	for _, row := range rows {
		gain += row.Score
	}
	features := int64(len(rows) / len(s.Models))
	if m := s.model(); features != m.K || !(math.Abs(gain-m.Gain) <= 1e-9*m.Gain+1e-12+s.Resolution()) {
		return fmt.Errorf("the model of %s was solved with a gain of %v, but %d features were found that gain %v",
			s.model().Key(), s.model().Gain, features, gain)
	}
	return nil
}

// Write writes the tables, and returns the files.
func (t *Tables) Write(ctx context.Context, guard *modelio.Guard, a *modelio.Analyzer) ([]tableio.FileSum, error) {
	features, err := modelio.WriteTable(ctx, guard, modelio.FeaturesFile, t.features)
	if err != nil {
		return nil, err
	}
	model, err := modelio.WriteModels(ctx, guard, t.models, a)
	if err != nil {
		return nil, err
	}
	path, err := modelio.WriteTable(ctx, guard, modelio.PathFile, t.path)
	if err != nil || t.Buckets == nil {
		return []tableio.FileSum{features, model, path}, err
	}
	buckets, err := modelio.WriteTable(ctx, guard, modelio.BucketsFile, t.Buckets)
	return []tableio.FileSum{features, model, path, buckets}, err
}

// NameBuckets sorts the names of the selected buckets, and checks that each has one. It drops those of buckets that parts have
// proposed but that were not selected: their counts tie with the last feature of a model.
func (t *Tables) NameBuckets() error {
	names := map[int64]bool{} // whether a selected bucket has a name
	for _, f := range t.features {
		names[f.FeatureID] = false
	}
	t.Buckets = slices.DeleteFunc(t.Buckets, func(b modelio.BucketRow) bool {
		_, selected := names[b.FeatureID]
		if selected {
			names[b.FeatureID] = true
		}
		return !selected
	})
	slices.SortFunc(t.Buckets, func(a, b modelio.BucketRow) int {
		return cmp.Or(cmp.Compare(a.FeatureID, b.FeatureID), cmp.Compare(a.Rank, b.Rank))
	})
	for _, f := range t.features {
		if !names[f.FeatureID] {
			return fmt.Errorf("the bucket %s was selected, but no feature of the documents hashes to it; the documents have probably changed since they were counted", f.Feature)
		}
	}
	return nil
}
