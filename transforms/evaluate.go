package transforms

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dustin/go-humanize"

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

// evaluated is what was found in documents.
type evaluated struct {
	judges
	documents, moreLabels int64
	labels                evaluation.Labels
	tallies               []*evaluation.Tally // by decision

	mu sync.Mutex // of merge
}

func newEvaluated(j judges) *evaluated {
	e := &evaluated{judges: j, tallies: make([]*evaluation.Tally, len(j.decisions))}
	for i, d := range j.decisions {
		e.tallies[i] = evaluation.New(d, evaluation.MaxScores/len(j.decisions))
	}
	return e
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
	all := labelsOf(d)
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

// add adds a document of a class.
func (e *evaluated) add(label string, scores, others []model.Scores, times int64) {
	for i, d := range e.decisions {
		class := evaluation.ClassOf(d, e.known, label)
		if class < 0 {
			continue
		}
		e.tallies[i].Add(class, scores[i], times)
		if pair := e.pairs[i]; pair >= 0 {
			other := evaluation.ClassOf(e.others[pair], e.knownOthers, label)
			e.tallies[i].Against.Add(scores[i].Class == class, others[pair].Class == other, times)
		}
	}
}

func (e *evaluated) size() (n int) {
	for _, t := range e.tallies {
		n += t.Size()
	}
	return n
}

func (e *evaluated) merge(documents, moreLabels int64, labels evaluation.Labels) {
	e.documents += documents
	e.moreLabels += moreLabels
	e.labels.Merge(labels)
}

// EvaluationPiece is a piece of what was found in documents.
type EvaluationPiece struct {
	Documents, MoreLabels int64
	Labels                evaluation.Labels
	Tallies               []DecisionTally
}

// DecisionTally is a piece of the tally of a decision, by its index in those that are made.
type DecisionTally struct {
	Decision int
	Tally    *evaluation.Tally
}

// pieces cuts what was found into pieces that add up to it.
func (e *evaluated) pieces() ([]EvaluationPiece, error) {
	rest := EvaluationPiece{Documents: e.documents, MoreLabels: e.moreLabels, Labels: e.labels}
	rest.Labels.Unknown.ByName = nil
	unknown, err := cut(slices.Sorted(maps.Keys(e.labels.Unknown.ByName)), func(labels []string) EvaluationPiece {
		piece := EvaluationPiece{Labels: evaluation.Labels{Unknown: corpusio.LabelCounts{ByName: map[string]int64{}}}}
		for _, label := range labels {
			piece.Labels.Unknown.ByName[label] = e.labels.Unknown.ByName[label]
		}
		return piece
	})
	if err != nil {
		return nil, err
	}
	pieces := append([]EvaluationPiece{rest}, unknown...)
	var next EvaluationPiece
	size := 0
	for i, t := range e.tallies {
		for _, piece := range t.Pieces() {
			if size += piece.Size(); size > evaluation.MaxPieceSize && next.Tallies != nil {
				pieces = append(pieces, next)
				next, size = EvaluationPiece{}, piece.Size()
			}
			next.Tallies = append(next.Tallies, DecisionTally{i, piece})
		}
	}
	return append(pieces, next), nil
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

func (e *evaluated) rows() (rows []modelio.EvaluationRow) {
	for i, t := range e.tallies {
		rows = append(rows, evaluation.Figures(t, e.labels)...)
		if pair := e.pairs[i]; pair >= 0 {
			rows = append(rows, evaluation.AgainstFigures(t, e.others[pair])...)
		}
	}
	slices.SortFunc(rows, modelio.EvaluationRow.Compare)
	return rows
}

// refusal says why nothing can be evaluated, or "".
func (e *evaluated) refusal() string {
	if e.labels.Known > 0 {
		return ""
	}
	if unknown := e.labels.UnknownDocuments(); unknown > 0 {
		return fmt.Sprintf("no document has a label that the model knows: the documents have %s; the classes of the model are %s; rename labels with --label_map=FILE, or choose their column with --label_column",
			e.unknown(), selection.ListLabels(e.known))
	}
	if e.labels.Without > 0 {
		return "no document has a label, so there is nothing to compare the predictions with; choose the column of the labels with --label_column, or give the label of files with --class=LABEL=GLOB; \"sparsenb predict\" needs no labels"
	}
	return "all documents have the weight 0"
}

// unknown lists the labels that the model does not know.
func (e *evaluated) unknown() string {
	return modelio.NewOtherClasses(e.labels.UnknownDocuments(), e.labels.Unknown).String()
}

// warnings says what limits the figures.
func (e *evaluated) warnings(rows []modelio.EvaluationRow) (list []string) {
	if n := e.labels.UnknownDocuments(); n > 0 {
		list = append(list, fmt.Sprintf("not evaluated: %s with labels that the model does not know: %s; its classes are %s; --label_map renames labels",
			countOf(n, "document"), e.unknown(), selection.ListLabels(e.known)))
	}
	if n := e.labels.Without; n > 0 {
		list = append(list, fmt.Sprintf("not evaluated: %s without a label", countOf(n, "document")))
	}
	if e.moreLabels > 0 {
		list = append(list, fmt.Sprintf("documents have %s beyond their first; a document is evaluated once for each of its labels, and at most one of them can be predicted", countOf(e.moreLabels, "label")))
	}
	var missing []string
	for _, row := range rows {
		if row.Metric == evaluation.Support && row.Value == 0 {
			missing = append(missing, row.Class)
		}
	}
	slices.Sort(missing)
	if missing = slices.Compact(missing); len(missing) > 0 {
		list = append(list, fmt.Sprintf("no document has the label %s, so there is no AUC, and balanced accuracy is the mean of the other classes", selection.ListLabels(missing)))
	}
	tooMany := 0
	for _, t := range e.tallies {
		if t.TooManyScores {
			tooMany++
		}
	}
	if tooMany > 0 {
		list = append(list, fmt.Sprintf("no AUC for %d of %d models: they have more than %s distinct scores each; evaluate a sample, or fewer models at once with --k",
			tooMany, len(e.tallies), humanize.Comma(int64(evaluation.MaxScores/len(e.tallies)))))
	}
	return list
}

// countOf is a number with its noun.
func countOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}
