package transforms

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

func init() {
	dofn.Register(&documentsFn{})
	dofn.Register(&fitFn{})
}

// FitParams are the parameters of FitClassifier.
type FitParams struct {
	Run      modelio.Run
	Scan     ScanParams
	Analyzer modelio.Analyzer // of the model
	C        float64

	// With the weights tfidf: where the inverse document frequencies are, in how many parts, and the job that shares them.
	Output string
	Shards int
	Job    spill.Params
}

// FitClassifier reads the documents again, as rows of the selected features, and fits the classifier of every model to them in
// one worker. It takes PCollections<[]byte> of ranges, of selection.Solved and of selection.Selected, and returns one of
// selection.Solved with the fitted parameters, or a verdict. Its memory is limited by selection.MaxFitBytes. The result does not
// depend on how the input was split.
func FitClassifier(s beam.Scope, ranges, solved, selected beam.PCollection, p FitParams) beam.PCollection {
	s = s.Scope("transforms.FitClassifier")
	mustBeValid("transforms.FitClassifier", p.Scan)
	documents := beam.ParDo(s, &documentsFn{Params: p}, ranges, beam.SideInput{Input: selected})
	return beam.ParDo(s, &fitFn{Params: p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, solved), beam.AddFixedKey(s, selected), documents))
}

// tooMany reports whether the counts show that the documents take too much memory. Otherwise this is found after reading.
func (p FitParams) tooMany(c selection.Columns) bool {
	return p.Scan.Reading.WeightColumn == "" && c.FitBytes() > selection.MaxFitBytes
}

// documentsFn makes rows of documents.
type documentsFn struct {
	Params FitParams

	scan    scan
	job     *spill.Job
	columns *kernel.Columns // nil if no features are selected, or the documents are too many
	ready   bool            // columns is set
}

func (f *documentsFn) Setup() {
	f.scan.again = true
	f.scan.setup()
	f.job = spill.Open(f.Params.Job)
}

func (f *documentsFn) StartBundle(context.Context, func(*[]byte) bool, func(int, []byte)) {
	f.scan.abandon()
}

func (f *documentsFn) Teardown() { f.scan.abandon() }

func (f *documentsFn) ProcessElement(ctx context.Context, element []byte, selected func(*[]byte) bool, emit func(int, []byte)) error {
	if !f.ready {
		if err := f.prepare(ctx, selected); err != nil {
			return err
		}
		f.ready = true
	}
	if f.columns == nil {
		return nil
	}
	return f.scan.process(ctx, f.Params.Scan, element, func() error { return nil }, func(emit pool.Emitter) visitor {
		return &documentsVisitor{vectorizer: f.columns.NewVectorizer(), labels: map[string]int32{}, emit: emit}
	}, emit)
}

func (f *documentsFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emit func(int, []byte)) error {
	return f.scan.finish(emit, func([]byte) {}) // the totals are known
}

// prepare finds the columns.
func (f *documentsFn) prepare(ctx context.Context, selected func(*[]byte) bool) error {
	var all selection.Columns
	if err := each(selected, func(s selection.Selected) error { all.Add(s); return nil }); err != nil {
		return err
	}
	names := all.Names()
	if len(names) == 0 || f.Params.tooMany(all) {
		return nil
	}
	config, err := kernel.FromAnalyzer(f.Params.Analyzer)
	if err != nil {
		return err
	}
	if config.Weights.Scheme == kernel.TFIDF {
		idf := weighFn{Output: f.Params.Output}
		table, err := f.job.Load(func() (any, int, error) { return idf.load(ctx, IDFNames(f.Params.Shards)) })
		if err != nil {
			return err
		}
		config.IDF = table.(*kernel.IDF)
	}
	f.columns, err = kernel.NewColumns(config, names)
	return err
}

// documentsVisitor collects the rows of documents, and sends them in pieces.
type documentsVisitor struct {
	vectorizer *kernel.Vectorizer
	labels     map[string]int32 // their numbers in rows, by the bytes in the file
	rows       selection.Rows
	size       int // of rows when encoded, about
	emit       pool.Emitter
}

func (v *documentsVisitor) document(_ corpusio.Range, d *corpusio.Document) error {
	var row kernel.Vector
	var err error
	if d.Features != nil {
		row, err = v.vectorizer.Features(d.Features)
	} else {
		row, err = v.vectorizer.Text(d.Text)
	}
	if err != nil {
		return fmt.Errorf("the document at %d: %w; it was counted, so the file has probably changed", d.Offset, err)
	}
	if d.Weight == 0 {
		return nil
	}
	v.add(d.Label, d.Weight, row)
	for _, label := range d.MoreLabels { // a document counts in each of its classes
		v.add(label, d.Weight, row)
	}
	if v.size >= MaxElement {
		return v.send()
	}
	return nil
}

func (v *documentsVisitor) add(label []byte, weight float64, row kernel.Vector) {
	number, ok := v.labels[string(label)]
	if !ok {
		number = int32(len(v.labels))
		v.labels[string(label)] = number
		v.rows.Labels = append(v.rows.Labels, kernel.CleanLabel(label))
		v.size += len(label) + 4
	}
	r := &v.rows
	r.Label, r.Weight, r.Entries = append(r.Label, number), append(r.Weight, weight), append(r.Entries, int32(len(row.Columns)))
	r.Columns, r.Values = append(r.Columns, row.Columns...), append(r.Values, row.Values...)
	v.size += 12 + len(row.Columns)*(4+9)
}

func (v *documentsVisitor) send() error {
	if len(v.rows.Label) == 0 {
		return nil
	}
	err := emitRecord(func(b []byte) { v.emit(0, b) }, v.rows)
	v.rows, v.size = selection.Rows{}, 0
	clear(v.labels)
	return err
}

func (v *documentsVisitor) endRange() error { return nil }

func (v *documentsVisitor) end() error { return v.send() }

// fitFn fits classifiers to all documents.
type fitFn struct {
	Params FitParams
}

func (f *fitFn) ProcessElement(ctx context.Context, _ int, solved, selected, documents func(*[]byte) bool, emit func([]byte)) error {
	fitted, err := f.fit(ctx, solved, selected, documents)
	var tooMany *selection.TooManyError
	var data *modelio.Error
	switch {
	case errors.As(err, &tooMany):
		return f.refuse(emit, fmt.Errorf("a fitted classifier: %w; train with fewer documents or a smaller --k, or pass the rows of \"sparsenb transform\" to another learner", err))
	case errors.As(err, &data):
		return f.refuse(emit, data)
	case err != nil:
		return err
	}
	for i := range fitted {
		if err := emitRecord(emit, selection.Solved{Fitted: &fitted[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fitFn) refuse(emit func([]byte), err error) error {
	return emitRecord(emit, selection.Solved{Verdict: &modelio.Verdict{Run: f.Params.Run.ID, Exit: modelio.ExitData, Message: err.Error()}})
}

// fit returns nothing after a verdict.
func (f *fitFn) fit(ctx context.Context, solved, selected, pieces func(*[]byte) bool) ([]selection.FittedModel, error) {
	var tables selection.Tables
	if err := each(solved, func(s selection.Solved) error { tables.Collect(s); return nil }); err != nil || tables.Verdict != nil {
		return nil, err
	}
	var columns selection.Columns
	err := each(selected, func(s selection.Selected) error {
		columns.Add(s)
		tables.Add(s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Params.tooMany(columns) {
		return nil, &selection.TooManyError{}
	}
	if err := tables.Rank(); err != nil {
		return nil, err
	}
	documents := selection.NewDocuments(columns.Names())
	if err := each(pieces, documents.Add); err != nil {
		return nil, err
	}
	return tables.Fit(ctx, documents, f.Params.C)
}
