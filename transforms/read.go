package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&readFn{})
}

// ReadParams are the parameters of ReadCounts.
type ReadParams struct {
	Run     modelio.Run     // required
	Output  string          // required; a folder
	Source  countio.Source  // required
	Classes []modelio.Class // required; sorted by label

	Documents bool // the histogram has documents; default: occurrences

	Threads int // goroutines that read in a bundle, each one file at a time; default: one for each processor
}

// Validate returns an error that names the first invalid field.
func (p ReadParams) Validate() error {
	switch {
	case p.Run.ID == "" || p.Output == "":
		return errors.New("missing Run or Output")
	case p.Source == (countio.Source{}):
		return errors.New("missing Source")
	case len(p.Classes) == 0:
		return errors.New("missing Classes")
	case !slices.IsSorted(selection.Labels(p.Classes)):
		return errors.New("invalid Classes: they must be sorted by label")
	case p.Threads < 0:
		return errors.New("invalid Threads: they must not be negative")
	}
	return nil
}

// ReadCounts reads existing counts. Like Begin it claims the output, and like MergeCounts it returns a
// PCollection<[]byte> of Parts and one of pieces of the histogram. files are the parts of a run, or a custom table, which has
// only a name. It panics if p is invalid.
func ReadCounts(s beam.Scope, files []tableio.FileSum, p ReadParams) (parts, pieces beam.PCollection) {
	s = s.Scope("transforms.ReadCounts")
	mustBeValid("transforms.ReadCounts", p)
	return beam.ParDo2(s, &readFn{Params: p}, beam.Reshuffle(s, createSingles(s, files)))
}

// CreateTotals creates a PCollection<[]byte> of the Totals of existing counts.
func CreateTotals(s beam.Scope, classes []modelio.Class) beam.PCollection {
	t := Totals{Classes: map[string]ClassTotal{}}
	for _, c := range classes {
		total := ClassTotal{Tokens: c.Tokens, Postings: c.Postings}
		if c.Documents != nil {
			total.Documents = *c.Documents
		}
		t.Classes[c.Label] = total
	}
	pieces, err := t.pieces()
	if err != nil {
		panic("transforms.CreateTotals: " + err.Error())
	}
	return createSingles(s, pieces)
}

func createSingles[T any](s beam.Scope, values []T) beam.PCollection {
	var singles []any
	for _, v := range values {
		b, err := encode(v)
		if err != nil {
			panic("transforms.createSingles: " + err.Error())
		}
		singles = append(singles, b)
	}
	return beam.Create(s, singles...)
}

type readFn struct {
	Params ReadParams

	workers *pool.Pool[tableio.FileSum]
}

func (f *readFn) StartBundle(context.Context, func([]byte), func([]byte)) { f.abandon() }

func (f *readFn) Teardown() { f.abandon() }

func (f *readFn) abandon() {
	f.workers.Abandon()
	f.workers = nil
}

func (f *readFn) ProcessElement(ctx context.Context, file []byte, emitPart, emitPairs func([]byte)) error {
	if f.workers == nil {
		if err := modelio.Claim(ctx, f.Params.Output, f.Params.Run); err != nil {
			return err
		}
		f.workers = pool.Start(ctx, f.Params.Threads, pool.Each(f.read))
	}
	sum, err := decode[tableio.FileSum](file)
	if err != nil {
		return err
	}
	return f.workers.Do(sum, pool.Outputs(emitPart, emitPairs))
}

func (f *readFn) FinishBundle(_ context.Context, emitPart, emitPairs func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emitPart, emitPairs))
}

func (f *readFn) read(ctx context.Context, sum tableio.FileSum, emit pool.Emitter) error {
	emitPart := func(b []byte) { emit(0, b) }
	part := Part{FileSum: sum}
	classes := countio.ClassesOf(selection.Labels(f.Params.Classes))
	sums := countio.NewClassSums(classes)
	hist := histogram.New()
	var counts []float64
	if f.Params.Source.Table == "" { // a custom table was checked before the job
		if err := f.Params.Source.VerifyPart(ctx, sum); err != nil {
			return emitDamaged(emitPart, part, err)
		}
	}
	err := f.Params.Source.Each(ctx, sum.Name, classes, func(feat *countio.Feature) error {
		part.Features++
		sums.Add(feat)
		counts = feat.Counts(counts[:0], f.Params.Documents)
		hist.AddPresent(feat.Classes, counts)
		return nil
	})
	if err != nil {
		return emitDamaged(emitPart, part, err)
	}
	if n := len(f.Params.Classes); n < len(classes.Labels) {
		return fmt.Errorf("%s: has counts of %s, which no document had", sum.Name, selection.ListLabels(classes.Labels[n:]))
	}
	totals := make([]ClassTotal, len(classes.Labels))
	for i, label := range classes.Labels {
		totals[i].Tokens, totals[i].Postings = sums.Of(label)
	}
	part.sum(totals)
	hist.Pack(MaxElement, func(b []byte) { emit(1, b) })
	return emitRecord(emitPart, part)
}

// emitDamaged emits a damaged part, which Reconcile reports. It returns other errors.
func emitDamaged(emit func([]byte), part Part, err error) error {
	var damaged *countio.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	return emitRecord(emit, Part{FileSum: part.FileSum, Damaged: damaged.Error()})
}
