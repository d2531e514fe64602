package transforms

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
)

func init() {
	dofn.Register(&commitFn{})
	dofn.Register(&commitBucketsFn{})
	dofn.Register(&commitCountsFn{})
}

// CommitParams are the parameters of Commit, CommitBuckets and CommitCounts.
type CommitParams struct {
	Run    modelio.Run
	Output string
	Counts *modelio.Counts // the input of a selection; nil if the run counted

	Model  *modelio.Counts // the run whose model was applied; nil if the run has one of its own
	Unseen []string        // CommitCounts warns of inputs that the runs in these folders have read, too

	Analyzer *modelio.Analyzer // nil if it is unknown
}

// Commit writes the features, the models and the path, and publishes the run. After a verdict it removes the files of the
// run and writes the verdict. It takes PCollections<[]byte> of one Reconciled, of Solved, and of Selected.
func Commit(s beam.Scope, reconciled, solved, selected beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.Commit")
	beam.ParDo0(s, &commitFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, reconciled), beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected)))
}

// CommitBuckets is Commit for features that are counted in buckets. It also takes a PCollection<[]byte> of NamedBuckets.
func CommitBuckets(s beam.Scope, reconciled, solved, selected, named beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.Commit")
	beam.ParDo0(s, &commitBucketsFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, reconciled), beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected), beam.AddFixedKey(s, named)))
}

// CommitCounts publishes counts without a model. It takes a PCollection<[]byte> of one Reconciled.
func CommitCounts(s beam.Scope, reconciled beam.PCollection, p CommitParams) {
	s = s.Scope("transforms.CommitCounts")
	beam.ParDo0(s, &commitCountsFn{p}, beam.GroupByKey(s, beam.AddFixedKey(s, reconciled)))
}

type commitCountsFn struct {
	Params CommitParams
}

func (f *commitCountsFn) ProcessElement(ctx context.Context, _ int, outcome func(*[]byte) bool) error {
	if ctx.Err() != nil { // cancelled; earlier steps may not have noticed
		return context.Cause(ctx)
	}
	a, err := joinReconciled(outcome)
	if err != nil {
		return err
	}
	if a.Verdict != nil {
		return modelio.Refuse(ctx, f.Params.Output, f.Params.Run, *a.Verdict)
	}
	for _, dir := range f.Params.Unseen {
		warning, err := trainingWarning(ctx, dir, a.Inputs)
		if err != nil {
			return err
		}
		if warning != "" {
			a.Warnings = append(a.Warnings, warning)
		}
	}
	return modelio.Publish(ctx, f.Params.Output, f.Params.manifest(a))
}

func (p CommitParams) manifest(a Reconciled) modelio.Manifest {
	m := modelio.Manifest{
		Run: p.Run, Finished: time.Now().UTC(), Analyzer: p.Analyzer, Classes: a.Classes, Features: a.Features, Inputs: a.Inputs,
		Counts: p.Counts, Model: p.Model, Read: a.Documents, Drops: a.Drops, Examples: a.Examples, Warnings: a.Warnings,
		Rejected: a.Rejected, Corrupt: a.Corrupt, MoreLabels: a.MoreLabels, Pruning: a.Pruning,
	}
	if p.Counts == nil { // else the parts belong to another run
		m.Files = a.Files
	}
	return m
}

type commitFn struct {
	Params CommitParams
}

func (f *commitFn) ProcessElement(ctx context.Context, _ int, outcome, solved, selected func(*[]byte) bool) error {
	return f.Params.commit(ctx, outcome, solved, selected, nil)
}

type commitBucketsFn struct {
	Params CommitParams
}

func (f *commitBucketsFn) ProcessElement(ctx context.Context, _ int, outcome, solved, selected, named func(*[]byte) bool) error {
	return f.Params.commit(ctx, outcome, solved, selected, named)
}

// commit publishes a selection. named is nil if features are counted by name.
func (p CommitParams) commit(ctx context.Context, outcome, solved, selected, named func(*[]byte) bool) error {
	if ctx.Err() != nil { // cancelled; earlier steps may not have noticed
		return context.Cause(ctx)
	}
	a, err := joinReconciled(outcome)
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
	if err := tables.SetFitted(); err != nil {
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
