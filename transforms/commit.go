package transforms

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

func init() {
	register.DoFn5x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, error](&commitFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&commitCountsFn{})
}

// CommitParams parameterise Commit and CommitCounts.
type CommitParams struct {
	Run    modelio.Run
	Output string
	Counts *modelio.Counts // what a selection was made from
}

// Commit writes the features, the models and the path, and publishes the run; or, after a verdict, takes away what was
// written and says why. It takes PCollections<[]byte> of one Audited, of Solved, and of lists of FeatureRows.
func Commit(s beam.Scope, audited, solved, selected beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.Commit")
	beam.ParDo0(s, &commitFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, audited), beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected)))
}

// CommitCounts publishes counts alone. It takes a PCollection<[]byte> of one Audited.
func CommitCounts(s beam.Scope, audited beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.CommitCounts")
	beam.ParDo0(s, &commitCountsFn{p}, beam.GroupByKey(s, beam.AddFixedKey(s, audited)))
}

type commitCountsFn struct {
	Params CommitParams
}

func (f *commitCountsFn) ProcessElement(ctx context.Context, _ int, audits func(*[]byte) bool) error {
	a, err := only[Audited](audits)
	if err != nil {
		return err
	}
	if a.Verdict != nil {
		return modelio.Refuse(ctx, f.Params.Output, f.Params.Run, *a.Verdict)
	}
	return modelio.Publish(ctx, f.Params.Output, f.Params.manifest(a))
}

func (p CommitParams) manifest(a Audited) modelio.Manifest {
	m := modelio.Manifest{
		Run: p.Run, Finished: time.Now().UTC(), Classes: a.Classes, Features: a.Features, Inputs: a.Inputs,
		Counts: p.Counts, Drops: a.Drops, Examples: a.Examples, Warnings: a.Warnings,
	}
	if p.Counts == nil { // else the parts are not ours
		m.Files = a.Files
	}
	return m
}

type commitFn struct {
	Params CommitParams
}

func (f *commitFn) ProcessElement(ctx context.Context, _ int, audits, solved, selected func(*[]byte) bool) error {
	a, err := only[Audited](audits)
	if err != nil {
		return err
	}
	var tables tables
	if err := each(solved, func(s Solved) error { tables.collect(s); return nil }); err != nil {
		return err
	}
	if tables.verdict != nil {
		return modelio.Refuse(ctx, f.Params.Output, f.Params.Run, *tables.verdict)
	}
	err = each(selected, func(rows []modelio.FeatureRow) error {
		tables.features = append(tables.features, rows...)
		return nil
	})
	if err != nil {
		return err
	}
	if err := tables.rank(); err != nil {
		return err
	}
	m := f.Params.manifest(a)
	m.Warnings = append(m.Warnings, tables.warnings...)
	sums, err := tables.write(ctx, f.Params.Output)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, sums...)
	return modelio.Publish(ctx, f.Params.Output, m)
}

// tables is what Commit writes.
type tables struct {
	verdict   *modelio.Verdict
	solutions []Solution
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

// rank sorts the tables, keeps of groups of which a model has some features only the first by name, numbers the
// features, and checks that every model got the features it was solved for.
func (t *tables) rank() error {
	slices.SortFunc(t.solutions, func(a, b Solution) int {
		return cmp.Or(cmp.Compare(a.Model.Problem, b.Model.Problem), cmp.Compare(a.Model.K, b.Model.K))
	})
	slices.SortFunc(t.path, func(a, b modelio.PathRow) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.K, b.K))
	})
	slices.SortFunc(t.features, CompareFeatures)
	ranked := t.features[:0]
	rest := t.features
	for _, s := range t.solutions {
		n := 0
		for n < len(rest) && rest[n].Problem == s.Model.Problem && rest[n].K == s.Model.K {
			n++
		}
		first := len(ranked)
		ranked = rankOne(ranked, rest[:n], s)
		if err := checkSupport(ranked[first:], s); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d features were selected for no model", len(rest))
	}
	t.features = ranked
	return nil
}

// CompareFeatures orders features by problem, k and rank.
func CompareFeatures(a, b modelio.FeatureRow) int {
	return cmp.Or(
		cmp.Compare(a.Problem, b.Problem),
		cmp.Compare(a.K, b.K),
		-cmp.Compare(a.Score, b.Score),
		-cmp.Compare(a.CountPositive+a.CountNegative, b.CountPositive+b.CountNegative),
		bytes.Compare([]byte(a.Feature), []byte(b.Feature)),
	)
}

// rankOne appends the features of one model, which come sorted, to ranked.
func rankOne(ranked, rows []modelio.FeatureRow, s Solution) []modelio.FeatureRow {
	taken := map[[2]float64]int64{}
	rank := int64(0)
	for _, row := range rows {
		counts := [2]float64{row.CountPositive, row.CountNegative}
		if n, all := s.Selector.Selects(counts[0], counts[1]); !all {
			// Equal counts have equal scores, so that within a group the rows are sorted by name.
			if taken[counts]++; taken[counts] > n {
				continue
			}
		}
		rank++
		row.Rank = rank
		ranked = append(ranked, row)
	}
	return ranked
}

func checkSupport(rows []modelio.FeatureRow, s Solution) error {
	gain := 0.0
	for _, row := range rows {
		gain += row.Score
	}
	if int64(len(rows)) != s.Model.K || !(math.Abs(gain-s.Model.Gain) <= 1e-9*s.Model.Gain+1e-12) {
		return fmt.Errorf("the model of %s for k = %d was solved with a gain of %v, but %d features were found that gain %v",
			s.Model.Problem, s.Model.K, s.Model.Gain, len(rows), gain)
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
