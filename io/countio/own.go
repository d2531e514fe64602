package countio

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/solver"
)

// Own is a table of the user's own: a column named feature, and a column of counts for each class. It is CSV, or TSV
// without quotes, or Parquet, told by the first bytes and by the header.
type Own struct {
	Name    string
	Classes []string  // in the order of the columns
	Sums    []float64 // of the columns
	Largest []float64 // number in each column
}

// Error is a table that cannot be used as counts; trying again would not help.
type Error struct {
	File string
	Row  int64 // counted from 1, without the header; 0 where it is not about a row
	What string
}

// Error is one line with the file, the row and the cause.
func (e *Error) Error() string {
	if e.Row > 0 {
		return fmt.Sprintf("%s: row %d: %s", e.File, e.Row, e.What)
	}
	return fmt.Sprintf("%s: %s", e.File, e.What)
}

// VisitOwn is called with a feature and its counts, in the order of the classes; both are valid during the call only.
type VisitOwn func(classes []string, name []byte, counts []float64) error

// ReadOwn visits every feature of the table. Counts are finite and not negative; features are not empty, but may
// repeat.
func ReadOwn(ctx context.Context, name string, visit VisitOwn) (own Own, err error) {
	store, err := fileio.For(name)
	if err != nil {
		return own, err
	}
	f, err := store.Open(ctx, name)
	if err != nil {
		return own, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	info, err := f.Info()
	if err != nil {
		return own, err
	}
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return own, err
	}
	r := &ownReader{own: Own{Name: name}, visit: visit}
	if string(head) == "PAR1" {
		err = r.readParquet(f, info)
	} else {
		err = r.readText(bufio.NewReaderSize(io.NewSectionReader(f, 0, info.Size), 1<<20))
	}
	return r.own, err
}

// CheckOwn reads the whole table, and fails if a feature comes twice.
func CheckOwn(ctx context.Context, name string) (Own, error) {
	type identity struct {
		key   uint64
		check uint32
	}
	row, first := int64(0), map[identity]int64{}
	return ReadOwn(ctx, name, func(_ []string, feat []byte, _ []float64) error {
		row++
		key, check := feature.Hash(feat)
		if before, ok := first[identity{key, check}]; ok {
			return &Error{name, row, fmt.Sprintf("the feature %q stands in row %d already", feat, before)}
		}
		first[identity{key, check}] = row
		return nil
	})
}

type ownReader struct {
	own    Own
	row    int64
	column int   // of the features
	counts []int // columns of the counts
	values []float64
	visit  VisitOwn
}

func (r *ownReader) fail(format string, args ...any) error {
	return &Error{r.own.Name, r.row, fmt.Sprintf(format, args...)}
}

// header finds the columns.
func (r *ownReader) header(names []string) error {
	r.column = -1
	for i, name := range names {
		switch {
		case name == "feature" && r.column >= 0:
			return r.fail("two columns are named feature")
		case name == "feature":
			r.column = i
		case name == "":
			return r.fail("column %d has no name", i+1)
		case slices.Contains(r.own.Classes, name):
			return r.fail("two columns are named %s", name)
		default:
			r.own.Classes = append(r.own.Classes, name)
			r.counts = append(r.counts, i)
		}
	}
	if r.column < 0 {
		return r.fail("no column is named feature; found: %s", strings.Join(names, ", "))
	}
	if len(r.own.Classes) == 0 {
		return r.fail("there is no column of counts beside feature")
	}
	r.values = make([]float64, len(r.own.Classes))
	r.own.Sums = make([]float64, len(r.own.Classes))
	r.own.Largest = make([]float64, len(r.own.Classes))
	return nil
}

// maxFeature is the longest name, in bytes; words from text have the same limit.
const maxFeature = math.MaxUint16

// emit checks a row and passes it on.
func (r *ownReader) emit(name []byte) error {
	if len(name) == 0 {
		return r.fail("the feature is empty")
	}
	if len(name) > maxFeature {
		return r.fail("the feature has %d bytes, %d are the most", len(name), maxFeature)
	}
	for i, v := range r.values {
		if !solver.InRange(v) {
			return r.fail("the count of %q in class %s is %v; it must be zero or a number from %g to %g", name, r.own.Classes[i], v, solver.Least, solver.Most)
		}
		r.values[i] = v + 0 // -0 becomes 0
		r.own.Sums[i] += v
		r.own.Largest[i] = max(r.own.Largest[i], v)
	}
	return r.visit(r.own.Classes, name, r.values)
}

// readText reads CSV, or TSV if the header has a tab. TSV knows no quotes: a feature may be one.
func (r *ownReader) readText(in *bufio.Reader) error {
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(head), "\ufeff"), "\n")
	if strings.HasPrefix(string(head), "\ufeff") {
		if _, err := in.Discard(len("\ufeff")); err != nil {
			return err
		}
	}
	if line == "" {
		return r.fail("the file is empty")
	}
	next := csvRows(in)
	if strings.Contains(line, "\t") {
		next = tsvRows(in)
	}
	names, err := next()
	if err != nil {
		return r.fail("%v", err)
	}
	if err := r.header(names); err != nil {
		return err
	}
	width := len(names)
	for {
		fields, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		r.row++
		if err != nil {
			return r.fail("%v", err)
		}
		if len(fields) != width {
			return r.fail("has %d fields, the header %d", len(fields), width)
		}
		for i, column := range r.counts {
			field := strings.TrimSpace(fields[column])
			if r.values[i], err = strconv.ParseFloat(field, 64); err != nil {
				return r.fail("the count of %q in class %s is %q, not a number", fields[r.column], r.own.Classes[i], field)
			}
		}
		if err := r.emit([]byte(fields[r.column])); err != nil {
			return err
		}
	}
}

func csvRows(in io.Reader) func() ([]string, error) {
	c := csv.NewReader(in)
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	return func() ([]string, error) {
		fields, err := c.Read()
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return fields, err
	}
}

// tsvRows reads lines of any length, and passes over empty ones, as csv does.
func tsvRows(in *bufio.Reader) func() ([]string, error) {
	return func() ([]string, error) {
		for {
			line, err := in.ReadString('\n')
			if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
				return nil, err
			}
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				return strings.Split(line, "\t"), nil
			}
		}
	}
}

// readParquet reads a flat Parquet table whose columns of counts are numbers.
func (r *ownReader) readParquet(f fileio.File, info fileio.Info) (err error) {
	visiting := false // as in readTable
	defer func() {
		if visiting {
			return
		}
		if p := recover(); p != nil {
			err = r.fail("not a readable Parquet file: %v", p)
		}
	}()
	file, err := parquet.OpenFile(f, info.Size)
	if err != nil {
		return r.fail("not a readable Parquet file: %v", err)
	}
	var names []string
	for _, column := range file.Schema().Columns() {
		if len(column) > 1 {
			return r.fail("column %s is nested; counts are a flat table", path.Join(column...))
		}
		names = append(names, column[0])
	}
	if err := r.header(names); err != nil {
		return err
	}
	for i, field := range file.Schema().Fields() {
		if slices.Contains(r.counts, i) && !isNumber(field.Type()) {
			return r.fail("the column %s is a %s; cast it to BIGINT or DOUBLE", names[i], field.Type())
		}
	}
	reader := parquet.NewReader(file)
	rows := make([]parquet.Row, 256)
	for {
		n, err := reader.ReadRows(rows)
		visiting = true
		for _, row := range rows[:n] {
			r.row++
			if err := r.parquetRow(row, len(names)); err != nil {
				return err
			}
		}
		visiting = false
		if errors.Is(err, io.EOF) {
			return reader.Close()
		}
		if err != nil {
			return r.fail("%v", err)
		}
	}
}

// isNumber knows the types whose stored number is the number meant: not decimals, dates or times.
func isNumber(t parquet.Type) bool {
	logical := t.LogicalType()
	if logical == nil {
		return true
	}
	_, ok := logical.Value.(*format.IntType)
	return ok
}

func (r *ownReader) parquetRow(row parquet.Row, width int) error {
	if len(row) != width {
		return r.fail("has %d values for %d columns; repeated columns are no counts", len(row), width)
	}
	name := row[r.column]
	if k := name.Kind(); name.IsNull() || k != parquet.ByteArray && k != parquet.FixedLenByteArray {
		return r.fail("the feature is not a string")
	}
	for i, column := range r.counts {
		switch v := row[column]; v.Kind() {
		case parquet.Int32:
			r.values[i] = float64(v.Int32())
		case parquet.Int64:
			r.values[i] = float64(v.Int64())
		case parquet.Float:
			r.values[i] = float64(v.Float())
		case parquet.Double:
			r.values[i] = v.Double()
		default:
			return r.fail("the count of %q in class %s is %v, not a number", name.ByteArray(), r.own.Classes[i], v)
		}
	}
	return r.emit(name.ByteArray())
}
