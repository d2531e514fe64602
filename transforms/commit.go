package transforms

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

func init() {
	register.DoFn5x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, error](&commitFn{})
	register.DoFn6x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, error](&commitBucketsFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&commitCountsFn{})
}

// CommitParams parameterise Commit and CommitCounts.
type CommitParams struct {
	Run    modelio.Run
	Output string
	Counts *modelio.Counts // what a selection was made from

	Analyzer *modelio.Analyzer // nil if it is not known
}

// Commit writes the features, the models and the path, and publishes the run; or, after a verdict, takes away what was
// written and says why. It takes PCollections<[]byte> of one Audited, of Solved, and of Selected.
func Commit(s beam.Scope, audited, solved, selected beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.Commit")
	beam.ParDo0(s, &commitFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, audited), beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected)))
}

// CommitBuckets is Commit where features are counted in buckets. It also takes a PCollection<[]byte> of NamedBuckets.
func CommitBuckets(s beam.Scope, audited, solved, selected, named beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.Commit")
	beam.ParDo0(s, &commitBucketsFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, audited), beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected), beam.AddFixedKey(s, named)))
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
	if ctx.Err() != nil { // the run was cancelled, which the steps before may not have seen
		return context.Cause(ctx)
	}
	a, err := joinAudited(audits)
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
		Run: p.Run, Finished: time.Now().UTC(), Analyzer: p.Analyzer, Classes: a.Classes, Features: a.Features, Inputs: a.Inputs,
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
	return f.Params.commit(ctx, audits, solved, selected, nil)
}

type commitBucketsFn struct {
	Params CommitParams
}

func (f *commitBucketsFn) ProcessElement(ctx context.Context, _ int, audits, solved, selected, named func(*[]byte) bool) error {
	return f.Params.commit(ctx, audits, solved, selected, named)
}

// commit publishes a selection; named is nil if features are counted by name.
func (p CommitParams) commit(ctx context.Context, audits, solved, selected, named func(*[]byte) bool) error {
	if ctx.Err() != nil { // the run was cancelled, which the steps before may not have seen
		return context.Cause(ctx)
	}
	a, err := joinAudited(audits)
	if err != nil {
		return err
	}
	var tables selection.Tables
	if err := each(solved, func(s selection.Solved) error { tables.Collect(s); return nil }); err != nil {
		return err
	}
	if tables.Verdict != nil {
		return modelio.Refuse(ctx, p.Output, p.Run, *tables.Verdict)
	}
	if err := each(selected, func(s selection.Selected) error { tables.Add(s); return nil }); err != nil {
		return err
	}
	if err := tables.Rank(); err != nil {
		return err
	}
	if named != nil {
		if err := each(named, func(b NamedBuckets) error { tables.Buckets = append(tables.Buckets, b.Rows...); return nil }); err != nil {
			return err
		}
		if err := tables.NameBuckets(); err != nil {
			return err
		}
	}
	m := p.manifest(a)
	m.Warnings = append(m.Warnings, tables.Warnings...)
	sums, err := tables.Write(ctx, modelio.NewGuard(p.Output, p.Run), p.Analyzer)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, sums...)
	return modelio.Publish(ctx, p.Output, m)
}
