package transforms

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&vectorizeFn{})
}

// Layout is how a matrix is written.
type Layout string

// The layouts.
const (
	Lists    Layout = "lists"    // Parquet: a row has a list of columns and one of values
	Wide     Layout = "wide"     // Parquet: a column for each feature
	SVMlight Layout = "svmlight" // text: label index:value …
)

// Layouts are all layouts.
var Layouts = []Layout{Lists, Wide, SVMlight}

// MaxWide is the largest number of features with the layout Wide.
const MaxWide = 1000

// MatrixParams are the parameters of Vectorize.
type MatrixParams struct {
	Scan   ScanParams
	Model  ModelParams // the columns are the features of its decisions
	Rows   RowsParams
	Layout Layout
}

// Validate returns an error that names the first invalid field.
func (p MatrixParams) Validate() error {
	if !slices.Contains(Layouts, p.Layout) {
		return fmt.Errorf("invalid Layout: %q", p.Layout)
	}
	return errors.Join(p.Scan.Validate(), p.Model.Validate(), p.Rows.Validate())
}

// Table returns the name of the table with the rows.
func (l Layout) Table() string {
	if l == SVMlight {
		return modelio.SVMlightFile
	}
	return modelio.RowsFile
}

// Tables returns the names of the tables that describe the matrix.
func (l Layout) Tables() []string {
	if l == SVMlight {
		return []string{modelio.ColumnsFile, modelio.ClassesFile}
	}
	return []string{modelio.ColumnsFile}
}

// Vectorize turns documents into rows of the features that a model has selected, and writes them. It takes a
// PCollection<[]byte> of ranges, and returns a PCollection<KV<int, []byte>> of pieces for WriteMatrix and a
// PCollection<[]byte> of totals. It panics if p is invalid.
func Vectorize(s beam.Scope, ranges beam.PCollection, p MatrixParams) (pieces, totals beam.PCollection) {
	s = s.Scope("transforms.Vectorize")
	mustBeValid("transforms.Vectorize", p)
	return beam.ParDo2(s, &vectorizeFn{Params: p}, ranges)
}

// WriteMatrix writes the pieces of Vectorize, and the tables that describe the matrix. See writeRows for the rest.
func WriteMatrix(s beam.Scope, pieces, classes beam.PCollection, p MatrixParams) beam.PCollection {
	s = s.Scope("transforms.WriteMatrix")
	return writeRows(s, pieces, classes, &writeRowsFn{Rows: p.Rows, Matrix: &p})
}

type vectorizeFn struct {
	Params MatrixParams

	scan    scan
	columns *kernel.Columns
	numbers map[string]int // of classes, in SVMlight; else nil
}

func (f *vectorizeFn) Setup() { f.scan.setup() }

func (f *vectorizeFn) StartBundle(context.Context, func(int, []byte), func([]byte)) { f.scan.abandon() }

func (f *vectorizeFn) Teardown() { f.scan.abandon() }

func (f *vectorizeFn) ProcessElement(ctx context.Context, element []byte, emitPiece func(int, []byte), _ func([]byte)) error {
	begin := func() error {
		if f.columns == nil {
			m, err := f.Params.Model.open(ctx)
			if err != nil {
				return err
			}
			if f.Params.Layout == SVMlight {
				f.numbers = map[string]int{}
				for i, class := range selection.Labels(m.Manifest().Classes) {
					f.numbers[class] = i
				}
			}
			f.columns = m.Columns(f.Params.Model.Keeps)
		}
		return emitEmpty(f.Params.Rows.Shards, emitPiece)
	}
	return f.scan.process(ctx, f.Params.Scan, element, begin, func(emit pool.Emitter) visitor {
		return &matrixVisitor{
			vectorizer: f.columns.NewVectorizer(), numbers: f.numbers, ids: f.Params.Scan.Reading.IDColumn != "",
			rows: rowSender[matrixRows]{shards: f.Params.Rows.Shards, emit: emit},
		}
	}, emitPiece)
}

func (f *vectorizeFn) FinishBundle(_ context.Context, emitPiece func(int, []byte), emitTotals func([]byte)) error {
	return f.scan.finish(emitPiece, emitTotals)
}

// matrixRows are those of consecutive documents, in columns.
type matrixRows struct {
	Offsets     []int64  // a document each
	IDs, Labels []string // a document each; no IDs without a column of them. In SVMlight, labels are numbers
	Sizes       []int32  // a document each: how many of the following it has
	Columns     []int32
	Values      []float64
}

type matrixVisitor struct {
	vectorizer *kernel.Vectorizer
	numbers    map[string]int
	ids        bool
	rows       rowSender[matrixRows]
}

func (v *matrixVisitor) document(r corpusio.Range, d *corpusio.Document) error {
	row, err := rowOf(v.vectorizer, d)
	if err != nil {
		return err
	}
	labels := LabelsOf(d)
	if v.numbers != nil {
		if labels, err = v.numbersOf(labels); err != nil {
			return err
		}
	}
	label := strings.Join(labels, ",")
	rows, err := v.rows.at(r, d, len(d.ID)+len(label)+12*len(row.Columns)+24)
	if err != nil {
		return err
	}
	rows.Offsets, rows.Labels = append(rows.Offsets, d.Offset), append(rows.Labels, label)
	if v.ids {
		rows.IDs = append(rows.IDs, strings.ToValidUTF8(string(d.ID), "\ufffd"))
	}
	rows.Sizes = append(rows.Sizes, int32(len(row.Columns)))
	rows.Columns, rows.Values = append(rows.Columns, row.Columns...), append(rows.Values, row.Values...)
	return nil
}

func rowOf(v *kernel.Vectorizer, d *corpusio.Document) (row kernel.Vector, err error) {
	if d.Features != nil {
		row, err = v.Features(d.Features)
	} else {
		row, err = v.Text(d.Text)
	}
	if err != nil {
		return row, &unusableError{err}
	}
	return row, nil
}

// numbersOf returns the numbers of labels; -1 if there are none.
func (v *matrixVisitor) numbersOf(labels []string) (numbers []string, err error) {
	if len(labels) == 0 {
		return []string{"-1"}, nil
	}
	for _, label := range labels {
		number, ok := v.numbers[label]
		if !ok {
			return nil, &unusableError{fmt.Errorf("the label %.40q is not a class of the model, so it has no number in svmlight; rename it with --label_map, leave it out with --classes, or use --layout=lists", label)}
		}
		numbers = append(numbers, strconv.Itoa(number))
	}
	return numbers, nil
}

// endRange sends the piece: the next range of this goroutine need not be the next one of the file.
func (v *matrixVisitor) endRange() error { return v.rows.send() }

func (v *matrixVisitor) end() error { return nil }

func (p *MatrixParams) write(ctx context.Context, guard *modelio.Guard, output string, shard int, pieces [][]byte) (tableio.FileSum, int64, error) {
	name := modelio.ShardName(p.Layout.Table(), shard, p.Rows.Shards)
	switch p.Layout {
	case Wide:
		m, err := p.Model.open(ctx)
		if err != nil {
			return tableio.FileSum{}, 0, err
		}
		return writeWide(ctx, guard, output, name, pieces, m.Columns(p.Model.Keeps).Names())
	case SVMlight:
		return writeSVMlight(ctx, guard, output, name, pieces)
	}
	return writeLists(ctx, guard, output, name, pieces)
}

// each calls visit with each row in turn.
func (rows matrixRows) each(visit func(i int, row kernel.Vector) error) error {
	at := 0
	for i, size := range rows.Sizes {
		end := at + int(size)
		if err := visit(i, kernel.Vector{Columns: rows.Columns[at:end], Values: rows.Values[at:end]}); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// valuesPerGroup limits the values in a row group, and so the memory that it takes: about 12 bytes a value.
const valuesPerGroup = 2 << 20

func writeLists(ctx context.Context, guard *modelio.Guard, output, name string, pieces [][]byte) (sum tableio.FileSum, documents int64, err error) {
	w, err := tableio.Create[modelio.MatrixRow](ctx, output, name, guard.Check)
	if err != nil {
		return sum, 0, err
	}
	defer w.Abort()
	values := 0
	documents, err = eachPiece(ctx, pieces, func(at place, rows matrixRows) error {
		return rows.each(func(i int, row kernel.Vector) error {
			if values += len(row.Values); values > valuesPerGroup {
				if err := w.EndGroup(); err != nil {
					return err
				}
				values = len(row.Values)
			}
			out := modelio.MatrixRow{Source: at.File, Offset: rows.Offsets[i], Indices: row.Columns, Values: row.Values}
			if rows.IDs != nil {
				out.ID = &rows.IDs[i]
			}
			if rows.Labels[i] != "" {
				out.Label = &rows.Labels[i]
			}
			return w.Write(out)
		})
	})
	if err != nil {
		return sum, 0, err
	}
	sum, err = w.Commit()
	return sum, documents, err
}

// writeSVMlight writes lines as scikit-learn's dump_svmlight_file does with zero_based=False.
func writeSVMlight(ctx context.Context, guard *modelio.Guard, output, name string, pieces [][]byte) (sum tableio.FileSum, documents int64, err error) {
	w, err := tableio.CreateFile(ctx, output, name, guard.Check)
	if err != nil {
		return sum, 0, err
	}
	defer w.Abort()
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	documents, err = eachPiece(ctx, pieces, func(_ place, rows matrixRows) error {
		return rows.each(func(i int, row kernel.Vector) error {
			line = append(line[:0], rows.Labels[i]...)
			for j, column := range row.Columns {
				line = strconv.AppendInt(append(line, ' '), int64(column)+1, 10)
				line = strconv.AppendFloat(append(line, ':'), row.Values[j], 'g', -1, 64)
			}
			_, err := out.Write(append(line, '\n'))
			return err
		})
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return sum, 0, err
	}
	sum, err = w.Commit(documents)
	return sum, documents, err
}

// describe writes the tables of the columns, and of the classes in SVMlight.
func (p *MatrixParams) describe(ctx context.Context, emit func([]byte)) error {
	m, err := p.Model.open(ctx)
	if err != nil {
		return err
	}
	guard := modelio.NewGuard(p.Rows.Output, p.Rows.Run)
	var columns []modelio.ColumnRow
	keys := kernel.Keys(m.Manifest().Analyzer.HashBits)
	for i, name := range m.Columns(p.Model.Keeps).Names() {
		columns = append(columns, modelio.ColumnRow{Column: int32(i), Feature: name, FeatureID: feature.ID(keys([]byte(name)))})
	}
	if err := writeTable(ctx, guard, p.Rows.Output, modelio.ColumnsFile, columns, emit); err != nil || p.Layout != SVMlight {
		return err
	}
	var classes []modelio.ClassRow
	for i, class := range selection.Labels(m.Manifest().Classes) {
		classes = append(classes, modelio.ClassRow{Number: int32(i), Class: class})
	}
	return writeTable(ctx, guard, p.Rows.Output, modelio.ClassesFile, classes, emit)
}

// writeTable writes a table and emits its Part.
func writeTable[R any](ctx context.Context, guard *modelio.Guard, output, name string, rows []R, emit func([]byte)) error {
	w, err := tableio.Create[R](ctx, output, name, guard.Check)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return err
		}
	}
	sum, err := w.Commit()
	if err != nil {
		return err
	}
	return emitRecord(emit, Part{FileSum: sum})
}
