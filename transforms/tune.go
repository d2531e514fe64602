package transforms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
	"github.com/sparsenb/sparsenb/transforms/spill"
	"github.com/sparsenb/sparsenb/tuning"
)

func init() {
	dofn.Register(&solveFoldsFn{})
	dofn.Register(&scoreFoldsFn{})
	dofn.Register(&commitTuningFn{})
}

// TuneParams are the parameters of the steps that tune.
type TuneParams struct {
	Run      modelio.Run
	Output   string // the folder of the run, which has the counts
	Grid     tuning.Grid
	Folds    tuning.Folds
	Metric   tuning.Metric
	Counting CountParams // those of CountFeatures, whose Folds are set
	Scan     ScanParams
	Analyzer *modelio.Analyzer
}

// weights returns the name of the weights of the counts.
func (p TuneParams) weights() string {
	return cmp.Or(string(p.Counting.Weights.Scheme), "count")
}

// SolveFolds solves the models of the grid for each fold. It takes a PCollection<[]byte> of one Reconciled, whose Folds are
// set, and returns a PCollection<[]byte> of the pieces of a tuning.Plan, and one of one Tuned. Both are empty after a verdict.
// It runs on one worker, and reads the counts there.
func SolveFolds(s beam.Scope, reconciled beam.PCollection, p TuneParams) (plan, tuned beam.PCollection) {
	s = s.Scope("transforms.SolveFolds")
	return beam.ParDo2(s, &solveFoldsFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, reconciled)))
}

// Tuned is what SolveFolds found, or a verdict on the data.
type Tuned struct {
	Verdict  *modelio.Verdict
	Outline  tuning.Outline
	Warnings []string
}

type solveFoldsFn struct {
	Params TuneParams

	problems beam.Counter
}

func (f *solveFoldsFn) Setup() { f.problems = beam.NewCounter(CounterNamespace, CounterProblems) }

func (f *solveFoldsFn) ProcessElement(ctx context.Context, _ int, outcome func(*[]byte) bool, emitPlan, emitTuned func([]byte)) error {
	a, err := joinReconciled(outcome)
	if err != nil || a.Verdict != nil {
		return err
	}
	problems := f.Params.Grid.Settings[0].Strategy.Problems(len(a.Classes), "")
	f.problems.Inc(ctx, problems*int64(f.Params.Folds.Number*len(f.Params.Grid.Settings)))
	counts := tuning.Counts{Classes: a.Folds, Each: func(ctx context.Context, visit func(*countio.Feature) error) error {
		for _, file := range a.Files {
			if !countio.IsPart(file.Name) {
				continue
			}
			classes := countio.ClassesOf(selection.Labels(a.Folds))
			if err := (countio.Source{Dir: f.Params.Output}).Each(ctx, file.Name, classes, visit); err != nil {
				return err
			}
		}
		return nil
	}}
	plan, warnings, err := tuning.Solve(ctx, f.Params.Grid, f.Params.Folds, counts)
	var failed *modelio.Error
	if errors.As(err, &failed) {
		return emitRecord(emitTuned, Tuned{Verdict: &modelio.Verdict{Run: f.Params.Run.ID, Exit: failed.Exit, Message: err.Error()}})
	}
	if err != nil {
		return err
	}
	b, err := encode(plan)
	if err != nil {
		return err
	}
	n := 0
	for piece := range slices.Chunk(b, MaxElement) {
		if err := emitRecord(emitPlan, planPiece{n, len(b), piece}); err != nil {
			return err
		}
		n++
	}
	return emitRecord(emitTuned, Tuned{Outline: plan.Outline(), Warnings: warnings})
}

// planPiece is a piece of an encoded plan, which has Total bytes.
type planPiece struct {
	Number, Total int
	Bytes         []byte
}

// joinPlan joins the pieces of a plan. It returns nil if there are none.
func joinPlan(next func(*[]byte) bool) (*tuning.Plan, error) {
	var pieces []planPiece
	if err := each(next, func(p planPiece) error { pieces = append(pieces, p); return nil }); err != nil || len(pieces) == 0 {
		return nil, err
	}
	slices.SortFunc(pieces, func(a, b planPiece) int { return cmp.Compare(a.Number, b.Number) })
	var all []byte
	for _, p := range pieces {
		all = append(all, p.Bytes...)
	}
	if len(all) != pieces[0].Total {
		return nil, fmt.Errorf("received %d of %d bytes of the models of the folds", len(all), pieces[0].Total)
	}
	plan := &tuning.Plan{}
	return plan, gob.NewDecoder(bytes.NewReader(all)).Decode(plan)
}

// ScoreFolds reads the documents again and applies the models of its fold to each. It takes a PCollection<[]byte> of ranges, and
// as side input one of the pieces of a plan, and returns a PCollection<[]byte> of pieces of tuning.Tally.
func ScoreFolds(s beam.Scope, ranges, plan beam.PCollection, p TuneParams) beam.PCollection {
	s = s.Scope("transforms.ScoreFolds")
	return beam.ParDo(s, &scoreFoldsFn{Params: p}, ranges, beam.SideInput{Input: plan})
}

type scoreFoldsFn struct {
	Params TuneParams

	scan   scan
	job    *spill.Job
	scorer func() *tuning.Scorer
}

func (f *scoreFoldsFn) Setup() {
	f.scan.again = true
	f.scan.setup()
	f.job = spill.Open(f.Params.Counting.Job)
}

func (f *scoreFoldsFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte)) {
	f.scan.abandon()
}

func (f *scoreFoldsFn) Teardown() { f.scan.abandon() }

func (f *scoreFoldsFn) ProcessElement(ctx context.Context, element []byte, plan func(*[]byte) bool, emit func([]byte)) error {
	if f.scorer == nil {
		loaded, err := f.job.Load(func() (any, int, error) { return f.load(plan) })
		if err != nil {
			return err
		}
		l := loaded.(*loadedPlan)
		if l == nil { // after a verdict
			return nil
		}
		f.scorer = func() *tuning.Scorer { return tuning.NewScorer(l.plan, l.columns) }
	}
	return f.scan.process(ctx, f.Params.Scan, element, func() error { return nil }, func(emit pool.Emitter) visitor {
		return &scoreVisitor{f.scorer(), emit}
	}, pool.Outputs(emit))
}

// loadedPlan is a plan and its columns. It does not change.
type loadedPlan struct {
	plan    *tuning.Plan
	columns *kernel.Columns
}

func (f *scoreFoldsFn) load(pieces func(*[]byte) bool) (*loadedPlan, int, error) {
	plan, err := joinPlan(pieces)
	if err != nil || plan == nil {
		return nil, 0, err
	}
	plan.Prepare()
	c := f.Params.Counting
	config := kernel.Config{Analyzer: c.Analyzer, HashBits: c.HashBits, Weights: c.Weights}
	for _, word := range c.StopWords {
		config.StopWords = append(config.StopWords, []byte(word))
	}
	columns, err := kernel.NewColumns(config, plan.Columns)
	return &loadedPlan{plan, columns}, plan.Bytes(), err
}

func (f *scoreFoldsFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emit func([]byte)) error {
	return f.scan.finish(pool.Outputs(emit), func([]byte) {}) // the totals are known
}

type scoreVisitor struct {
	scorer *tuning.Scorer
	emit   pool.Emitter
}

func (v *scoreVisitor) document(_ corpusio.Range, d *corpusio.Document) error {
	if err := v.scorer.Add(d); err != nil {
		return &unusableError{err}
	}
	return nil
}

func (v *scoreVisitor) endRange() error { return nil }

func (v *scoreVisitor) end() error {
	for _, piece := range v.scorer.Tally().Pieces() {
		if err := emitRecord(func(b []byte) { v.emit(0, b) }, piece); err != nil {
			return err
		}
	}
	return nil
}

// CommitTuning publishes the comparison of the models. It takes PCollections<[]byte> of one Reconciled, of one Tuned, and of
// tallies.
func CommitTuning(s beam.Scope, reconciled, tuned, tallies beam.PCollection, p TuneParams) {
	s = s.Scope("transforms.CommitTuning")
	beam.ParDo0(s, &commitTuningFn{p}, beam.CoGroupByKey(s,
		beam.AddFixedKey(s, reconciled), beam.AddFixedKey(s, tuned), beam.AddFixedKey(s, tallies)))
}

type commitTuningFn struct {
	Params TuneParams
}

func (f *commitTuningFn) ProcessElement(ctx context.Context, _ int, outcome, tuned, tallies func(*[]byte) bool) error {
	if ctx.Err() != nil { // cancelled; earlier steps may not have noticed
		return context.Cause(ctx)
	}
	p := f.Params
	a, err := joinReconciled(outcome)
	if err != nil {
		return err
	}
	var found *Tuned
	if err := each(tuned, func(t Tuned) error { found = &t; return nil }); err != nil {
		return err
	}
	verdict := a.Verdict
	if found != nil && found.Verdict != nil {
		verdict = found.Verdict
	}
	if verdict != nil {
		return modelio.Refuse(ctx, p.Output, p.Run, *verdict)
	}
	if found == nil {
		return errors.New("received no models of the folds")
	}
	sum := found.Outline.NewTally()
	if err := each(tallies, func(t tuning.Tally) error { sum.Merge(&t); return nil }); err != nil {
		return err
	}
	if !found.Outline.Complete(sum) {
		return errors.New("the second reading has found other documents than the first; the input has probably changed; run the command again")
	}
	result := tuning.NewResult(p.Grid, p.Metric, found.Outline, sum)
	guard := modelio.NewGuard(p.Output, p.Run)
	table, err := modelio.WriteTable(ctx, guard, modelio.TuningFile, result.Rows(found.Outline, p.weights()))
	if err != nil {
		return err
	}
	chart, err := p.writeChart(ctx, guard, result)
	if err != nil {
		return err
	}
	m := CommitParams{Run: p.Run, Output: p.Output, Analyzer: p.Analyzer}.manifest(a)
	m.Warnings = append(m.Warnings, found.Warnings...)
	m.Files = append(m.Files, table, chart)
	return modelio.Publish(ctx, p.Output, m)
}

func (p TuneParams) writeChart(ctx context.Context, guard *modelio.Guard, r tuning.Result) (sum tableio.FileSum, err error) {
	w, err := tableio.CreateFile(ctx, p.Output, modelio.TuningChart, guard.Check)
	if err != nil {
		return sum, err
	}
	defer w.Abort()
	if err := r.WriteChart(w); err != nil {
		return sum, err
	}
	return w.Commit(0)
}
