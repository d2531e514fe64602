package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/parquetio"
)

// parquet is the format of Parquet files with a document a row. Offsets of documents are row numbers, from 0.
type parquet struct{}

func (parquet) Name() string { return "parquet" }

func (parquet) readsParquet() {}

func (parquet) Detect(h Head, _ Reading) bool { return isParquet(h) }

func (parquet) Describe(ctx context.Context, h Head, reading Reading) (string, error) {
	return "", withTable(ctx, h.File, func(t *parquetio.Table) error {
		_, err := tableColumns(h.File, t, reading)
		return err
	})
}

func (parquet) Split(ctx context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitTable(ctx, f, size)
}

func (parquet) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	rows, err := openRows(ctx, r, o)
	if err != nil {
		return nil, err
	}
	c, err := tableColumns(r.File, rows.table, o.Reading)
	if err != nil {
		return nil, errors.Join(err, rows.Abandon())
	}
	reader := &parquetReader{tableRows: rows, options: o}
	reader.texts = rows.read(c.texts...)
	reader.label, reader.weight = rows.readOptional(c.label), rows.readOptional(c.weight)
	reader.id, reader.group = rows.readOptional(c.id), rows.readOptional(c.group)
	return reader, nil
}

// tableColumns finds the columns of a document in a table.
func tableColumns(f File, t *parquetio.Table, reading Reading) (c columns, err error) {
	names := columnNames(t)
	if c, err = findColumns(f, names, reading); err != nil {
		if numeric(t) && len(reading.TextColumns) == 0 {
			err = &LayoutError{f.Name, "the columns are numbers; if each is a feature, use --format=matrix; the columns are " + listColumns(names)}
		}
		return c, err
	}
	if reading.guessesLabel(f) && c.label >= 0 && t.Columns[c.label].Problem != "" {
		c.label = -1
	}
	for _, i := range append([]int{c.label, c.weight, c.id, c.group}, c.texts...) {
		if i >= 0 && t.Columns[i].Problem != "" {
			return c, &LayoutError{f.Name, fmt.Sprintf("column %q %s; choose columns of strings, numbers, booleans or dates; the columns are %s",
				names[i], t.Columns[i].Problem, listColumns(names))}
		}
	}
	if c.weight >= 0 && !t.Columns[c.weight].Numeric() {
		return c, &LayoutError{f.Name, fmt.Sprintf("column %q (--weight_column) has no numbers", names[c.weight])}
	}
	return c, nil
}

// numeric reports whether a table has numbers, except in one column at most.
func numeric(t *parquetio.Table) bool {
	numbers := 0
	for i := range t.Columns {
		if t.Columns[i].Numeric() {
			numbers++
		}
	}
	return numbers >= 2 && numbers >= len(t.Columns)-1
}

// parquetReader reads documents from the columns of a table.
type parquetReader struct {
	*tableRows
	options       Options
	label, weight int   // places in the cells of a row; -1 if there is none
	id, group     int   // places; -1 if there is none
	texts         []int // places

	labelText, idText, groupText, joined []byte
}

func (r *parquetReader) Next(d *Document) bool {
	for {
		cells, row, ok := r.next()
		if !ok {
			return false
		}
		if reason := r.read(d, cells); reason != "" {
			r.options.reject(r.span.File.Name, row, reason, nil)
			continue
		}
		d.Offset = row
		return true
	}
}

func (r *parquetReader) read(d *Document, cells [][]byte) (reason Reason) {
	d.MoreLabels, d.Features = nil, nil
	if d.Label, reason = r.labelOf(cells, r.label, &r.labelText); reason != "" {
		return reason
	}
	if d.Weight, reason = r.weightOf(cells, r.weight); reason != "" {
		return reason
	}
	d.ID, _ = r.valueOf(cells, r.id, &r.idText)
	d.Group, _ = r.valueOf(cells, r.group, &r.groupText)
	if len(r.texts) == 1 && r.columnAt(r.texts[0]).IsText() {
		d.Text = cells[r.texts[0]]
	} else {
		d.Text = r.join(cells)
	}
	switch {
	case d.Text == nil:
		return NoText
	case len(d.Label)+len(d.Text)+len(d.ID)+len(d.Group) > r.options.MaxRecordBytes:
		return TooLong
	}
	return ""
}

// join joins the texts that are not null by a space. It returns nil if all are.
func (r *parquetReader) join(cells [][]byte) []byte {
	r.joined = r.joined[:0]
	any := false
	for _, at := range r.texts {
		if cells[at] == nil {
			continue
		}
		if any {
			r.joined = append(r.joined, ' ')
		}
		r.joined, _ = r.columnAt(at).AppendText(r.joined, cells[at])
		any = true
	}
	if !any {
		return nil
	}
	return slices.Clip(r.joined)
}

// isParquet reports whether a file starts as Parquet files do, also encrypted ones. A text may start with the same letters.
func isParquet(h Head) bool {
	b, plain := bytes.CutPrefix(h.Bytes, []byte("PAR1"))
	if plain {
		return len(b) == 0 || b[0] < ' ' && b[0] != '\t' && b[0] != '\n' && b[0] != '\r'
	}
	b, encrypted := bytes.CutPrefix(h.Bytes, []byte("PARE"))
	return encrypted && len(b) >= 4 && b[3] == 0 // the length of a block, in little-endian order
}

// withTable opens a table for use.
func withTable(ctx context.Context, f File, use func(*parquetio.Table) error) error {
	in, t, err := openTable(ctx, f)
	if err != nil {
		return err
	}
	err = use(t)
	return errors.Join(err, in.Close())
}

func openTable(ctx context.Context, f File) (fileio.File, *parquetio.Table, error) {
	if f.Compression != Plain {
		return nil, nil, &LayoutError{f.Name, fmt.Sprintf("a Parquet file compressed with %s cannot be read; decompress it", f.Compression)}
	}
	store, err := fileio.For(f.Name)
	if err != nil {
		return nil, nil, err
	}
	in, err := store.Open(ctx, f.Name)
	if err != nil {
		return nil, nil, err
	}
	t, err := parquetio.OpenTable(in, f.Size)
	if err != nil {
		var invalid *parquetio.InvalidError
		if errors.As(err, &invalid) {
			err = &CorruptError{f.Name, 0, invalid.Error()}
		}
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, t, nil
}

func columnNames(t *parquetio.Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// splitTable cuts a file before row groups, so that a range is the row groups that start in it.
func splitTable(ctx context.Context, f File, size int64) (ranges []Range, err error) {
	err = withTable(ctx, f, func(t *parquetio.Table) error {
		var starts []int64
		for _, g := range t.Groups {
			starts = append(starts, g.Start)
		}
		slices.Sort(starts)
		start := int64(0)
		for i, at := range starts {
			next := f.Size
			if i+1 < len(starts) {
				next = starts[i+1]
			}
			// Cut before a group with which the range would be too long, unless the range has none yet.
			if next-start > size && at > start && i > 0 && starts[i-1] < at {
				ranges = append(ranges, Range{f, start, at})
				start = at
			}
		}
		ranges = append(ranges, Range{f, start, f.Size})
		return nil
	})
	return ranges, err
}

// tableRows are the rows of the row groups that start in a range. Only the columns that are asked for are read.
type tableRows struct {
	options Options
	file    fileio.File
	table   *parquetio.Table
	span    Span
	columns []int // to be read

	group     int // the next
	rows, row int64
	first     int64 // the number of the first row of the group
	values    []*parquetio.Values
	cells     [][]byte // of a row
	left      int64    // bytes that the row group may still have
	done      int64    // bytes of groups
	err       error
}

func openRows(ctx context.Context, r Range, o Options) (*tableRows, error) {
	in, t, err := openTable(ctx, r.File)
	if err != nil {
		return nil, err
	}
	return &tableRows{options: o, file: in, table: t, span: Span{File: r.File, Start: r.Start, End: r.End, NoCRC: true}}, nil
}

// read adds columns to those that are read. It returns their places in the cells of a row.
func (r *tableRows) read(columns ...int) (places []int) {
	for _, c := range columns {
		i := slices.Index(r.columns, c)
		if i < 0 {
			i = len(r.columns)
			r.columns = append(r.columns, c)
		}
		places = append(places, i)
	}
	r.cells = make([][]byte, len(r.columns))
	return places
}

// readAll is read for different columns, of which none is read yet.
func (r *tableRows) readAll(columns []int) (places []int) {
	for i := range columns {
		places = append(places, len(r.columns)+i)
	}
	r.columns = append(r.columns, columns...)
	r.cells = make([][]byte, len(r.columns))
	return places
}

func (r *tableRows) readOptional(column int) (place int) {
	if column < 0 {
		return -1
	}
	return r.read(column)[0]
}

func (r *tableRows) columnAt(place int) *parquetio.Column { return &r.table.Columns[r.columns[place]] }

// labelOf returns the label in a cell, if the file has none. It may use memory.
func (r *tableRows) labelOf(cells [][]byte, place int, memory *[]byte) (label []byte, reason Reason) {
	if place < 0 {
		return nil, ""
	}
	label, ok := r.valueOf(cells, place, memory)
	if !ok && !r.options.LabelOptional {
		return nil, NoLabel
	}
	return bytes.TrimSpace(label), ""
}

// valueOf returns the text of a cell. It returns false for null, NaN, or if there is no cell. It may use memory.
func (r *tableRows) valueOf(cells [][]byte, place int, memory *[]byte) (text []byte, ok bool) {
	if place < 0 || cells[place] == nil {
		return nil, false
	}
	if *memory, ok = r.columnAt(place).AppendText((*memory)[:0], cells[place]); !ok {
		return nil, false
	}
	return *memory, true
}

// weightOf returns the weight in a cell, or 1 if the file has none.
func (r *tableRows) weightOf(cells [][]byte, place int) (weight float64, reason Reason) {
	if place < 0 {
		return 1, ""
	}
	if cells[place] != nil {
		weight = r.columnAt(place).Number(cells[place])
	}
	if cells[place] == nil || !(weight >= 0) || math.IsInf(weight, 0) {
		return 0, BadWeight
	}
	return weight, ""
}

// next returns the cells of the next row, nil for null, and its number in the file. The cells are valid until the next call.
func (r *tableRows) next() (cells [][]byte, row int64, ok bool) {
	for {
		for r.row == r.rows {
			if r.values != nil {
				r.endGroup()
			}
			if r.err != nil && !r.options.SkipCorrupt || !r.nextGroup() {
				return nil, 0, false
			}
		}
		if err := r.readRow(); err != nil {
			r.fail(err)
			continue
		}
		r.row++
		return r.cells, r.first + r.row - 1, true
	}
}

func (r *tableRows) readRow() (err error) {
	r.left -= rowBytes
	for i, v := range r.values {
		if r.cells[i], err = v.Next(); err != nil {
			return r.errorAt(r.first+r.row, err)
		}
		r.left -= int64(len(r.cells[i]))
	}
	if r.left < 0 {
		return r.span.File.Fault(r.first+r.row, fmt.Sprintf("a row group has more than %d times its size in values; if the file is trusted, raise --max_expansion_ratio",
			r.expansion()))
	}
	return nil
}

func (r *tableRows) expansion() int64 {
	if n := r.options.MaxExpansion; n > 0 {
		return int64(n)
	}
	return DefaultMaxExpansion
}

// rowBytes is how many bytes of text take as long to count as a document without text.
const rowBytes = 8

// leastExpanded is how many bytes of values any file may have.
const leastExpanded = 64 << 20

// nextGroup goes to the next row group of the range.
func (r *tableRows) nextGroup() bool {
	r.first += r.rows
	r.rows, r.row, r.values = 0, 0, nil
	for ; r.group < len(r.table.Groups); r.group++ {
		g := r.table.Groups[r.group]
		if r.span.Start <= g.Start && g.Start < r.span.End {
			break
		}
		r.first += g.Rows
	}
	if r.group == len(r.table.Groups) {
		return false
	}
	g := r.table.Groups[r.group]
	r.rows = g.Rows
	r.left = r.expansion()*g.Bytes + leastExpanded/int64(len(r.table.Groups))
	for _, c := range r.columns {
		r.values = append(r.values, r.table.Values(r.group, c))
	}
	r.group++
	return true
}

// endGroup checks that no values are left.
func (r *tableRows) endGroup() {
	for _, v := range r.values {
		if err := v.Done(); err != nil && r.err == nil {
			r.err = r.errorAt(r.first+r.rows, err)
		}
	}
	r.done += r.table.Groups[r.group-1].Bytes
}

// fail ends the row group with an error. With SkipCorrupt the other row groups are read, in whatever range they are.
func (r *tableRows) fail(err error) {
	var corrupt *CorruptError
	if r.err == nil || !errors.As(err, &corrupt) {
		r.err = err
	}
	r.first += r.rows
	r.rows, r.row, r.values = 0, 0, nil
	if !errors.As(err, &corrupt) {
		r.group = len(r.table.Groups)
	}
}

// errorAt returns a *CorruptError if the content is at fault, or else the error of the store.
func (r *tableRows) errorAt(row int64, err error) error {
	var invalid *parquetio.InvalidError
	if errors.As(err, &invalid) {
		return r.span.File.Fault(row, invalid.Error())
	}
	return err
}

func (r *tableRows) BytesRead() int64 {
	read := r.done
	if r.rows > 0 {
		g := r.table.Groups[r.group-1]
		read += int64(float64(g.Bytes) * float64(r.row) / float64(r.rows))
	}
	return min(read, r.span.End-r.span.Start)
}

func (r *tableRows) Close() error {
	err := r.err
	if e := checkUnchanged(r.file, r.span.File); e != nil {
		err = e
	}
	return errors.Join(err, r.Abandon())
}

func (r *tableRows) Abandon() error   { return r.file.Close() }
func (r *tableRows) Span() Span       { return r.span }
func (r *tableRows) Skipped() Skipped { return Skipped{} }
