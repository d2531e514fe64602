package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&selectFn{})
}

// SelectParams are the parameters of SelectFeatures.
type SelectParams struct {
	Source  countio.Source // where the parts are
	Counted selection.Counted

	Pruning selection.Pruning // that of the histogram
	Threads int               // as in CountParams
}

// SelectFeatures reads the parts again and picks the features of every model. It takes a PCollection<[]byte> of Parts,
// and as side input one of Solved, and returns a PCollection<[]byte> of Selected. If a model has only n of a group of
// features with equal counts, each part returns the first n by name.
func SelectFeatures(s beam.Scope, parts, solved beam.PCollection, p SelectParams) beam.PCollection {
	s = s.Scope("transforms.SelectFeatures")
	return beam.ParDo(s, &selectFn{Params: p}, parts, beam.SideInput{Input: solved})
}

type selectFn struct {
	Params SelectParams

	solutions []selection.Solution
	pruner    *selection.Pruner
	workers   *pool.Pool[Part]
}

func (f *selectFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte)) { f.abandon() }

func (f *selectFn) Teardown() { f.abandon() }

func (f *selectFn) abandon() {
	f.workers.Abandon()
	f.workers, f.solutions, f.pruner = nil, nil, nil
}

func (f *selectFn) ProcessElement(ctx context.Context, element []byte, solved func(*[]byte) bool, emit func([]byte)) error {
	if f.workers == nil {
		var plan selection.PruningPlan
		err := each(solved, func(s selection.Solved) error {
			if s.Pruning != nil {
				plan = *s.Pruning
			}
			if s.Solution != nil {
				f.solutions = append(f.solutions, *s.Solution)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if f.pruner, err = selection.NewPruner(ctx, f.Params.Pruning, plan); err != nil {
			return err
		}
		f.workers = pool.Start(ctx, f.Params.Threads, pool.Each(f.pick))
	}
	if len(f.solutions) == 0 {
		return nil
	}
	part, err := decode[Part](element)
	if err != nil {
		return err
	}
	return f.workers.Do(part, pool.Outputs(emit))
}

func (f *selectFn) pick(ctx context.Context, part Part, emit pool.Emitter) error {
	return selection.Pick(ctx, f.Params.Source, f.pruner, f.Params.Counted, part.Name, f.solutions, MaxElement/2, func(s selection.Selected) error {
		return emitRecord(func(b []byte) { emit(0, b) }, s)
	})
}

func (f *selectFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emit func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emit))
}
