package transforms

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&evaluateFn{})
	dofn.Register(&writeEvaluationFn{})
}

// EvaluateParams are the parameters of Evaluate and WriteEvaluation.
type EvaluateParams struct {
	Run     modelio.Run
	Output  string
	Scan    ScanParams // labels are optional: documents without one are counted
	Model   ModelParams
	Against *ModelParams // the model to compare with; default none
}

// Validate returns an error that names the first invalid field.
func (p EvaluateParams) Validate() error {
	if p.Run.ID == "" || p.Output == "" {
		return errors.New("missing Run or Output")
	}
	if p.Against != nil {
		return errors.Join(p.Scan.Validate(), p.Model.Validate(), p.Against.Validate())
	}
	return errors.Join(p.Scan.Validate(), p.Model.Validate())
}

// Evaluate applies a model to labeled documents and tallies what it decides. It takes a PCollection<[]byte> of ranges, and
// returns a PCollection<KV<int, []byte>> of pieces for WriteEvaluation, all with the key 0, and a PCollection<[]byte> of totals.
// It panics if p is invalid.
func Evaluate(s beam.Scope, ranges beam.PCollection, p EvaluateParams) (pieces, totals beam.PCollection) {
	s = s.Scope("transforms.Evaluate")
	mustBeValid("transforms.Evaluate", p)
	return beam.ParDo2(s, &evaluateFn{Params: p}, ranges)
}

// WriteEvaluation adds up the pieces of Evaluate and writes evaluation.parquet. It also takes, as side input, a
// PCollection<[]byte> of ClassLists, which tell of a verdict, and returns a PCollection<[]byte> of one Part.
func WriteEvaluation(s beam.Scope, pieces, classes beam.PCollection, p EvaluateParams) beam.PCollection {
	s = s.Scope("transforms.WriteEvaluation")
	return beam.ParDo(s, &writeEvaluationFn{p}, beam.GroupByKey(s, pieces), beam.SideInput{Input: classes})
}

// judges are a model and the model to compare it with, as both are used in a worker.
type judges struct {
	model, against *model.Model // against is nil if there is none
	decisions      []model.Decision
	others         []model.Decision // of against
	pairs          []int            // by decision, the index of the one in others to compare with, or -1
	known          []string         // labels
	knownOthers    []string
}

func (p EvaluateParams) open(ctx context.Context) (j judges, err error) {
	if j.model, err = p.Model.open(ctx); err != nil {
		return j, err
	}
	j.known, j.decisions = selection.Labels(j.model.Manifest().Classes), p.Model.kept(j.model)
	if p.Against != nil {
		if j.against, err = p.Against.open(ctx); err != nil {
			return j, err
		}
		j.knownOthers, j.others = selection.Labels(j.against.Manifest().Classes), p.Against.kept(j.against)
	}
	for _, d := range j.decisions {
		j.pairs = append(j.pairs, j.pair(d))
	}
	return j, nil
}

// pair returns the index in others of the decision to compare d with, or -1.
func (j judges) pair(d model.Decision) int {
	if j.against == nil {
		return -1
	}
	all := j.against.Decisions()
	i := evaluation.Pair(d, all)
	if i < 0 {
		return -1
	}
	return slices.IndexFunc(j.others, func(o model.Decision) bool { return KeyOf(o) == KeyOf(all[i]) })
}

// kept returns the decisions of the model that are to be made.
func (p ModelParams) kept(m *model.Model) (list []model.Decision) {
	for _, d := range m.Decisions() {
		if p.Keeps(d) {
			list = append(list, d)
		}
	}
	return list
}

type evaluateFn struct {
	Params EvaluateParams

	scan      scan
	judges    *judges
	evaluated *evaluated // by all goroutines of a bundle
}

func (f *evaluateFn) Setup() { f.scan.setup() }

func (f *evaluateFn) StartBundle(context.Context, func(int, []byte), func([]byte)) { f.abandon() }

func (f *evaluateFn) Teardown() { f.abandon() }

func (f *evaluateFn) abandon() {
	f.scan.abandon()
	f.evaluated = nil
}

func (f *evaluateFn) ProcessElement(ctx context.Context, element []byte, emitPiece func(int, []byte), _ func([]byte)) error {
	var all *evaluated // of the goroutines that this call starts, if it does
	begin := func() error {
		if f.judges == nil {
			j, err := f.Params.open(ctx)
			if err != nil {
				return err
			}
			f.judges = &j
		}
		all = newEvaluated(*f.judges)
		f.evaluated = all
		return emitEmpty(1, emitPiece)
	}
	return f.scan.process(ctx, f.Params.Scan, element, begin, func(pool.Emitter) visitor {
		v := &evaluateVisitor{all: all, own: newEvaluated(*f.judges), predictor: f.judges.model.NewPredictor(f.Params.Model.Keeps)}
		if f.judges.against != nil {
			v.other = f.judges.against.NewPredictor(f.Params.Against.Keeps)
		}
		return v
	}, emitPiece)
}

func (f *evaluateFn) FinishBundle(_ context.Context, emitPiece func(int, []byte), emitTotals func([]byte)) error {
	defer f.abandon()
	if err := f.scan.finish(emitPiece, emitTotals); err != nil || f.evaluated == nil {
		return err
	}
	pieces, err := f.evaluated.pieces()
	return emitRecords(func(b []byte) { emitPiece(0, b) }, pieces, err)
}

// evaluateVisitor is the work of one goroutine. It adds what it found to that of all when it is much, so that the memory does
// not grow with the number of goroutines.
type evaluateVisitor struct {
	all, own         *evaluated
	predictor, other *model.Predictor
}

func (v *evaluateVisitor) document(_ corpusio.Range, d *corpusio.Document) error {
	e := v.own
	if e.documents++; e.documents%1000 == 0 && e.size() > evaluation.MaxScores/16 {
		v.merge()
		e = v.own
	}
	times := int64(d.Weight)
	if times == 0 {
		return nil
	}
	all := LabelsOf(d)
	if len(all) == 0 {
		e.labels.Without += times
		return nil
	}
	e.moreLabels += times * int64(len(d.MoreLabels))
	var labels []string // that the model knows
	for _, label := range all {
		if _, ok := slices.BinarySearch(e.known, label); !ok {
			e.labels.Unknown.Add(label, times)
			continue
		}
		e.labels.Known += times
		labels = append(labels, label)
	}
	if len(labels) == 0 {
		return nil
	}
	scores, err := scoresOf(v.predictor, d)
	if err != nil {
		return err
	}
	var others []model.Scores
	if v.other != nil {
		if others, err = scoresOf(v.other, d); err != nil {
			return err
		}
	}
	for _, label := range labels {
		e.add(label, scores, others, times)
	}
	return nil
}

func (v *evaluateVisitor) endRange() error { return nil }

func (v *evaluateVisitor) end() error {
	v.merge()
	return nil
}

// merge adds what was found to that of all goroutines, and starts again.
func (v *evaluateVisitor) merge() {
	for _, t := range v.own.tallies {
		t.Compact()
	}
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	v.all.merge(v.own.documents, v.own.moreLabels, v.own.labels)
	for i, t := range v.own.tallies {
		v.all.tallies[i].Merge(t)
	}
	v.own = newEvaluated(v.own.judges)
}

type writeEvaluationFn struct {
	Params EvaluateParams
}

func (f *writeEvaluationFn) ProcessElement(ctx context.Context, _ int, pieces, classes func(*[]byte) bool, emit func([]byte)) error {
	list, err := readClasses(classes)
	if err != nil || list == nil { // a verdict
		return err
	}
	j, err := f.Params.open(ctx)
	if err != nil {
		return err
	}
	sum := newEvaluated(j)
	err = each(pieces, func(p EvaluationPiece) error {
		sum.merge(p.Documents, p.MoreLabels, p.Labels)
		for _, t := range p.Tallies {
			sum.tallies[t.Decision].Merge(t.Tally)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	part := Part{FileSum: tableio.FileSum{Name: modelio.EvaluationFile}}
	part.scanned(sum.documents)
	if part.Refused = sum.refusal(); part.Refused != "" {
		return emitRecord(emit, part)
	}
	rows := sum.rows()
	part.Warnings = sum.warnings(rows)
	part.FileSum, err = modelio.WriteEvaluation(ctx, modelio.NewGuard(f.Params.Output, f.Params.Run), f.Params.Output, rows)
	if err != nil {
		return err
	}
	return emitRecord(emit, part)
}
