package transforms

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
)

func init() {
	dofn.Register(&solveFn{})
}

// Solve solves every problem for the requested ks and those of the path. It takes a PCollection<[]byte> of one
// Reconciled and one of the pieces of the histogram, and returns a PCollection<[]byte> of selection.Solved. It needs memory
// for the histogram: the distinct counts.
func Solve(s beam.Scope, reconciled, pieces beam.PCollection, p selection.Params) beam.PCollection {
	s = s.Scope("transforms.Solve")
	return beam.ParDo(s, &solveFn{Params: p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, reconciled), beam.AddFixedKey(s, pieces)))
}

type solveFn struct {
	Params selection.Params

	problems beam.Counter
}

func (f *solveFn) Setup() { f.problems = beam.NewCounter(CounterNamespace, CounterProblems) }

func (f *solveFn) ProcessElement(ctx context.Context, _ int, outcome, pieces func(*[]byte) bool, emit func([]byte)) error {
	a, err := joinReconciled(outcome)
	if errors.Is(err, errNotReconciled) { // Prism may go on after Reconcile has failed, whose error is to end the run
		return nil
	}
	if err != nil {
		return err
	}
	if a.Verdict != nil {
		return emitRecord(emit, selection.Solved{Verdict: a.Verdict})
	}
	vectors, err := selection.CollectVectors(pieces, len(a.Classes))
	if err != nil {
		return err
	}
	if m := vectors.Features(); m != a.Features {
		return fmt.Errorf("the histogram has %d features, but %d were counted", m, a.Features)
	}
	f.problems.Inc(ctx, f.Params.Strategy.Problems(len(a.Classes), f.Params.Positive))
	solved, err := f.Params.Solve(vectors, a.Classes)
	return emitRecords(emit, solved, err)
}
