package transforms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&totalsFn{})
	dofn.Register(&planFn{})
	dofn.Register(&pruneFn{})
	dofn.Register(&reconcilePrunedFn{})
}

// PruneParams are the parameters of PruneFeatures.
type PruneParams struct {
	Run       modelio.Run
	Source    countio.Source // where the parts are
	Documents bool           // the counts are documents; default: occurrences
	Pruning   selection.Pruning
	Smoothing []float64 // without smoothing, the features must have counts

	Threads int // as in CountParams
}

// PruneFeatures decides which features of the counts a selection may use, in two passes over the parts: the first finds the most
// frequent features, if their number is limited, and the second counts what is left. It takes the Reconciled and the Parts of the
// counts, which have all features, and returns the pieces of a Reconciled with the pruning, and those of the histogram of the
// features that are left.
func PruneFeatures(s beam.Scope, reconciled, parts beam.PCollection, p PruneParams) (pruned, pieces beam.PCollection) {
	s = s.Scope("transforms.PruneFeatures")
	counted := beam.SideInput{Input: reconciled}
	totals := beam.ParDo(s, &totalsFn{Params: p}, parts, counted)
	planned := beam.ParDo(s, &planFn{p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, reconciled), beam.AddFixedKey(s, totals)))
	prunedParts, pieces := beam.ParDo2(s, &pruneFn{Params: p}, parts, beam.SideInput{Input: planned})
	pruned = beam.ParDo(s, &reconcilePrunedFn{p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, planned), beam.AddFixedKey(s, prunedParts)))
	return pruned, pieces
}

// PrunedPart is what a pruning leaves of a part.
type PrunedPart struct {
	Name  string
	Tally selection.PruningRecord

	// The numbers of the classes with counts that are left, and their sums.
	Classes []int32
	Sums    []ClassTotal
}

// pruner returns the pruner for the counts of one Reconciled, whose plan may have a cut, or nil after a verdict.
func (p PruneParams) pruner(ctx context.Context, reconciled func(*[]byte) bool) (*selection.Pruner, Reconciled, error) {
	a, err := joinReconciled(reconciled)
	if err != nil || a.Verdict != nil {
		return nil, a, err
	}
	var plan selection.PruningPlan
	if a.Plan != nil {
		plan = *a.Plan
	} else if plan, err = p.Pruning.Plan(a.Classes); err != nil {
		return nil, a, err
	}
	pruner, err := selection.NewPruner(ctx, p.Pruning, plan)
	return pruner, a, err
}

// totalsFn counts the features of a part by their occurrences.
type totalsFn struct {
	Params PruneParams

	pruner  *selection.Pruner
	workers *pool.Pool[Part]
}

func (f *totalsFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte)) { f.abandon() }

func (f *totalsFn) Teardown() { f.abandon() }

func (f *totalsFn) abandon() {
	f.workers.Abandon()
	f.workers, f.pruner = nil, nil
}

func (f *totalsFn) ProcessElement(ctx context.Context, element []byte, reconciled func(*[]byte) bool, emit func([]byte)) (err error) {
	if f.Params.Pruning.MaxFeatures == 0 {
		return nil
	}
	if f.workers == nil {
		if f.pruner, _, err = f.Params.pruner(ctx, reconciled); err != nil {
			return ignoreNotReconciled(err)
		}
		f.workers = pool.Start(ctx, f.Params.Threads, pool.Each(f.count))
	}
	return doPart(f.workers, f.pruner, element, pool.Outputs(emit))
}

// doPart hands a part over, unless there is a verdict.
func doPart(workers *pool.Pool[Part], pruner *selection.Pruner, element []byte, emit pool.Emitter) error {
	part, err := decode[Part](element)
	if err != nil || pruner == nil {
		return err
	}
	return workers.Do(part, emit)
}

func (f *totalsFn) count(ctx context.Context, part Part, emit pool.Emitter) error {
	totals, err := f.pruner.Totals(ctx, f.Params.Source, part.Name)
	if err != nil {
		return err
	}
	pieces, err := cut(totals.Totals, func(list []selection.Total) selection.PartTotals {
		return selection.PartTotals{Part: part.Name, Totals: list}
	})
	return emitRecords(func(b []byte) { emit(0, b) }, pieces, err)
}

func (f *totalsFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emit func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emit))
}

// planFn adds the plan of the pruning to the Reconciled of the counts.
type planFn struct {
	Params PruneParams
}

func (f *planFn) ProcessElement(ctx context.Context, _ int, reconciled, totals func(*[]byte) bool, emit func([]byte)) error {
	pruner, a, err := f.Params.pruner(ctx, reconciled)
	if err != nil {
		return ignoreNotReconciled(err)
	}
	if a.Verdict == nil {
		var parts []selection.PartTotals
		if err := each(totals, func(t selection.PartTotals) error { parts = append(parts, t); return nil }); err != nil {
			return err
		}
		slices.SortStableFunc(parts, func(a, b selection.PartTotals) int { return cmp.Compare(a.Part, b.Part) })
		plan, err := f.Params.Pruning.Plan(a.Classes)
		if err != nil {
			return err
		}
		if plan.Cut, err = pruner.FindCut(ctx, f.Params.Source, parts); err != nil {
			return err
		}
		a.Plan = &plan
	}
	pieces, err := a.pieces()
	return emitRecords(emit, pieces, err)
}

// ignoreNotReconciled drops the error of a step that Prism runs after Reconcile has failed, whose error is to end the run.
func ignoreNotReconciled(err error) error {
	if errors.Is(err, errNotReconciled) {
		return nil
	}
	return err
}

// pruneFn makes the histogram of the features that are left.
type pruneFn struct {
	Params PruneParams

	pruner  *selection.Pruner
	labels  []string
	workers *pool.Pool[Part]
}

func (f *pruneFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte), func([]byte)) {
	f.abandon()
}

func (f *pruneFn) Teardown() { f.abandon() }

func (f *pruneFn) abandon() {
	f.workers.Abandon()
	f.workers, f.pruner = nil, nil
}

func (f *pruneFn) ProcessElement(ctx context.Context, element []byte, planned func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	if f.workers == nil {
		pruner, a, err := f.Params.pruner(ctx, planned)
		if err != nil {
			return ignoreNotReconciled(err)
		}
		f.pruner, f.labels = pruner, selection.Labels(a.Classes)
		f.workers = pool.Start(ctx, f.Params.Threads, pool.Each(f.prune))
	}
	return doPart(f.workers, f.pruner, element, pool.Outputs(emitPart, emitPairs))
}

func (f *pruneFn) prune(ctx context.Context, in Part, emit pool.Emitter) error {
	classes := countio.ClassesOf(f.labels)
	sums, hist := countio.NewClassSums(classes), histogram.New()
	var tally selection.PruningTally
	var counts []float64
	err := f.pruner.Each(ctx, f.Params.Source, in.Name, classes, tally.Visitor(func(feat *countio.Feature) error {
		sums.Add(feat)
		counts = feat.Counts(counts[:0], f.Params.Documents)
		hist.AddPresent(feat.Classes, counts)
		return nil
	}))
	if err != nil {
		return err
	}
	out := PrunedPart{Name: in.Name, Tally: tally.Record()}
	for class, label := range classes.Labels {
		if tokens, postings := sums.Of(label); tokens > 0 {
			out.Classes, out.Sums = append(out.Classes, int32(class)), append(out.Sums, ClassTotal{Tokens: tokens, Postings: postings})
		}
	}
	hist.Pack(MaxElement, func(b []byte) { emit(1, b) })
	return emitRecord(func(b []byte) { emit(0, b) }, out)
}

func (f *pruneFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emitPart, emitPairs))
}

// reconcilePrunedFn adds the result of the pruning to the Reconciled of the counts, and a verdict if nothing can be selected.
type reconcilePrunedFn struct {
	Params PruneParams
}

func (f *reconcilePrunedFn) ProcessElement(_ context.Context, _ int, planned, parts func(*[]byte) bool, emit func([]byte)) error {
	a, err := joinReconciled(planned)
	if err != nil {
		return ignoreNotReconciled(err)
	}
	if a.Verdict == nil {
		var list []PrunedPart
		if err := each(parts, func(p PrunedPart) error { list = append(list, p); return nil }); err != nil {
			return err
		}
		if err := f.Params.reconcile(&a, list); err != nil {
			return err
		}
	}
	pieces, err := a.pieces()
	return emitRecords(emit, pieces, err)
}

func (p PruneParams) reconcile(a *Reconciled, parts []PrunedPart) error {
	slices.SortFunc(parts, func(a, b PrunedPart) int { return cmp.Compare(a.Name, b.Name) })
	var tally selection.PruningTally
	tokens := make([]float64, len(a.Classes))
	for _, part := range parts {
		tally.Add(part.Tally)
		for i, class := range part.Classes {
			tokens[class] += part.Sums[i].Tokens
		}
	}
	if n := tally.Counted(); n != a.Features {
		return fmt.Errorf("%d features were pruned, but %d were counted", n, a.Features)
	}
	a.Pruning = tally.Result(p.Pruning, *a.Plan)
	verdict := ReconcileParams{Run: p.Run}.verdict
	switch {
	case a.Pruning.Features == 0:
		a.Verdict = verdict(modelio.ExitData, selection.ExplainEmpty(a.Features, a.Pruning))
	case a.Pruning.Occurrences == 0 && slices.Contains(p.Smoothing, 0):
		a.Verdict = verdict(modelio.ExitData, "all counts of the features that are left are zero; a --smoothing above 0 is needed")
	}
	a.Warnings = append(a.Warnings, tally.Warnings()...)
	for i, c := range a.Classes {
		if tokens[i] == 0 && c.Tokens > 0 {
			a.Warnings = append(a.Warnings, fmt.Sprintf("class %s has no tokens of the features that are left, so the model learns nothing about it", c.Label))
		}
	}
	return nil
}
