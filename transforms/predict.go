package transforms

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&predictFn{})
}

// ModelParams say which model is applied, and which of its decisions.
type ModelParams struct {
	Dir       string // the output folder of the run, which all workers can read
	SHA256    string // of its manifest: workers fail if it is another one by then
	Decisions []DecisionKey
}

// DecisionKey identifies a decision of a model.
type DecisionKey struct {
	Problem   string
	Smoothing float64
	K         int64
	Requested string // tells a decision with different ks for its problems from others
}

// KeyOf returns the key of a decision.
func KeyOf(d model.Decision) DecisionKey {
	return DecisionKey{d.Problem, d.Smoothing, d.K, d.Requested}
}

// Keeps reports whether the decision is one of those to be made.
func (p ModelParams) Keeps(d model.Decision) bool { return slices.Contains(p.Decisions, KeyOf(d)) }

// Validate returns an error that names the first invalid field.
func (p ModelParams) Validate() error {
	if p.Dir == "" || p.SHA256 == "" || len(p.Decisions) == 0 {
		return errors.New("missing Dir, SHA256 or Decisions")
	}
	return nil
}

// openModels are the models that this process has opened last, by the checksum of the manifest. Each step and each shard needs
// one, and opening it reads its files twice.
var openModels = struct {
	sync.Mutex
	bySHA256 map[string]*model.Model
}{bySHA256: map[string]*model.Model{}}

// maxOpenModels are those of a run: a model, and the one that it is compared with.
const maxOpenModels = 2

// open returns the model in a worker.
func (p ModelParams) open(ctx context.Context) (*model.Model, error) {
	openModels.Lock()
	defer openModels.Unlock()
	if m := openModels.bySHA256[p.SHA256]; m != nil {
		return m, nil
	}
	m, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if len(openModels.bySHA256) == maxOpenModels {
		clear(openModels.bySHA256)
	}
	openModels.bySHA256[p.SHA256] = m
	return m, nil
}

func (p ModelParams) read(ctx context.Context) (*model.Model, error) {
	m, err := model.Open(ctx, p.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w; workers must be able to read the folder of the model", err)
	}
	if m.SHA256() != p.SHA256 {
		return nil, fmt.Errorf("%s: the model has changed since the command was started; run it again", p.Dir)
	}
	return m, nil
}

// PredictParams are the parameters of Predict.
type PredictParams struct {
	Scan    ScanParams
	Model   ModelParams
	Rows    RowsParams
	Reasons int // how many features are listed that weighed most in a decision
}

// Validate returns an error that names the first invalid field.
func (p PredictParams) Validate() error {
	if p.Reasons < 0 {
		return fmt.Errorf("invalid Reasons: %d; it must not be negative", p.Reasons)
	}
	return errors.Join(p.Scan.Validate(), p.Model.Validate(), p.Rows.Validate())
}

// Predict applies a model to documents and writes predictions.parquet, or a folder of such files. It takes a
// PCollection<[]byte> of ranges, and returns a PCollection<KV<int, []byte>> of pieces for WritePredictions and a
// PCollection<[]byte> of totals. It panics if p is invalid.
func Predict(s beam.Scope, ranges beam.PCollection, p PredictParams) (pieces, totals beam.PCollection) {
	s = s.Scope("transforms.Predict")
	mustBeValid("transforms.Predict", p)
	return beam.ParDo2(s, &predictFn{Params: p}, ranges)
}

// WritePredictions writes the pieces of Predict. See writeRows for the rest.
func WritePredictions(s beam.Scope, pieces, classes beam.PCollection, p PredictParams) beam.PCollection {
	s = s.Scope("transforms.WritePredictions")
	return writeRows(s, pieces, classes, &writeRowsFn{Rows: p.Rows, Predictions: &p})
}

type predictFn struct {
	Params PredictParams

	scan  scan
	model *model.Model
}

func (f *predictFn) Setup() { f.scan.setup() }

func (f *predictFn) StartBundle(context.Context, func(int, []byte), func([]byte)) { f.scan.abandon() }

func (f *predictFn) Teardown() { f.scan.abandon() }

func (f *predictFn) ProcessElement(ctx context.Context, element []byte, emitPiece func(int, []byte), _ func([]byte)) error {
	begin := func() (err error) {
		if f.model == nil {
			if f.model, err = f.Params.Model.open(ctx); err != nil {
				return err
			}
		}
		return emitEmpty(f.Params.Rows.Shards, emitPiece)
	}
	return f.scan.process(ctx, f.Params.Scan, element, begin, func(emit pool.Emitter) visitor {
		return &predictVisitor{
			params: f.Params, predictor: f.model.NewPredictor(f.Params.Model.Keeps),
			rows: rowSender[predictions]{shards: f.Params.Rows.Shards, emit: emit},
		}
	}, emitPiece)
}

func (f *predictFn) FinishBundle(_ context.Context, emitPiece func(int, []byte), emitTotals func([]byte)) error {
	return f.scan.finish(emitPiece, emitTotals)
}

// predictions are those of consecutive documents, in columns.
type predictions struct {
	Offsets     []int64   // a document each
	IDs, Labels []string  // a document each; no IDs without a column of them
	Classes     []int32   // a document and a decision each, and so are the next three
	Scores      []float64 // finite or infinite
	LogProbs    []float64 // NaN if there are none
	Reasons     [][]modelio.ReasonRow
}

type predictVisitor struct {
	params    PredictParams
	predictor *model.Predictor
	rows      rowSender[predictions]
}

func (v *predictVisitor) document(r corpusio.Range, d *corpusio.Document) error {
	scores, err := scoresOf(v.predictor, d)
	if err != nil {
		return err
	}
	label := strings.Join(LabelsOf(d), ",")
	rows, err := v.rows.at(r, d, len(d.ID)+len(label)+len(scores)*24*(1+v.params.Reasons)+16)
	if err != nil {
		return err
	}
	rows.Offsets, rows.Labels = append(rows.Offsets, d.Offset), append(rows.Labels, label)
	if v.params.Scan.Reading.IDColumn != "" {
		rows.IDs = append(rows.IDs, strings.ToValidUTF8(string(d.ID), "\ufffd"))
	}
	for i, s := range scores {
		logProb := math.NaN()
		if s.LogProbs != nil {
			logProb = s.LogProbs[s.Class]
		}
		rows.Classes = append(rows.Classes, int32(s.Class))
		rows.Scores, rows.LogProbs = append(rows.Scores, s.Scores[s.Class]), append(rows.LogProbs, logProb)
		if v.params.Reasons > 0 {
			var reasons []modelio.ReasonRow
			for _, r := range v.predictor.Explain(i, v.params.Reasons) {
				reasons = append(reasons, modelio.ReasonRow(r))
			}
			rows.Reasons = append(rows.Reasons, reasons)
		}
	}
	return nil
}

// scoresOf applies a model to a document.
func scoresOf(p *model.Predictor, d *corpusio.Document) (scores []model.Scores, err error) {
	if d.Features != nil {
		scores, err = p.Features(d.Features)
	} else {
		scores, err = p.Text(d.Text)
	}
	if err != nil {
		return nil, &unusableError{err}
	}
	return scores, nil
}

func (v *predictVisitor) endRange() error { return v.rows.send() }

func (v *predictVisitor) end() error { return nil }

func (p *PredictParams) write(ctx context.Context, guard *modelio.Guard, output string, shard int, pieces [][]byte) (sum tableio.FileSum, documents int64, err error) {
	m, err := p.Model.open(ctx)
	if err != nil {
		return sum, 0, err
	}
	decisions := slices.DeleteFunc(slices.Clone(m.Decisions()), func(d model.Decision) bool { return !p.Model.Keeps(d) })
	name := modelio.ShardName(modelio.PredictionsFile, shard, p.Rows.Shards)
	if p.Reasons > 0 {
		return writePredictions(ctx, guard, output, name, pieces, decisions, func(row modelio.PredictionRow, reasons []modelio.ReasonRow) modelio.ExplainedRow {
			return modelio.ExplainedRow{PredictionRow: row, Reasons: reasons}
		})
	}
	return writePredictions(ctx, guard, output, name, pieces, decisions, func(row modelio.PredictionRow, _ []modelio.ReasonRow) modelio.PredictionRow { return row })
}

func writePredictions[R any](ctx context.Context, guard *modelio.Guard, output, name string, pieces [][]byte, decisions []model.Decision, rowOf func(modelio.PredictionRow, []modelio.ReasonRow) R) (sum tableio.FileSum, documents int64, err error) {
	w, err := tableio.Create[R](ctx, output, name, guard.Check)
	if err != nil {
		return sum, 0, err
	}
	defer w.Abort()
	documents, err = eachPiece(ctx, pieces, func(at place, rows predictions) error {
		next := 0
		for i, offset := range rows.Offsets {
			row := modelio.PredictionRow{Source: at.File, Offset: offset}
			if rows.IDs != nil {
				row.ID = &rows.IDs[i]
			}
			if rows.Labels[i] != "" {
				row.Label = &rows.Labels[i]
			}
			for _, d := range decisions {
				row.Problem, row.K, row.KRequested, row.Smoothing = d.Problem, d.K, d.Requested, d.Smoothing
				row.Predicted, row.Score = d.Classes[rows.Classes[next]], rows.Scores[next]
				if row.LogProbability = nil; d.Probable {
					row.LogProbability = &rows.LogProbs[next]
				}
				var reasons []modelio.ReasonRow
				if rows.Reasons != nil {
					reasons = rows.Reasons[next]
				}
				if err := w.Write(rowOf(row, reasons)); err != nil {
					return err
				}
				next++
			}
		}
		return nil
	})
	if err != nil {
		return sum, 0, err
	}
	sum, err = w.Commit()
	return sum, documents, err
}
