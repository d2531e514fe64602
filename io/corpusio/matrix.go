package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/parquetio"
)

// matrix is the format of dense matrices: a document is a row of a CSV or Parquet file, and a feature is a column. It is
// never detected, because a table of numbers may be anything.
type matrix struct{}

// The layouts of matrices.
const (
	inCSV     = "csv"
	inParquet = "parquet"
)

func (matrix) Name() string { return "matrix" }

func (matrix) readsParquet() {}

func (matrix) Detect(Head, Reading) bool { return false }

func (matrix) Describe(ctx context.Context, h Head, reading Reading) (string, error) {
	if h.File.Size == 0 {
		return "", nil
	}
	if isParquet(h) {
		return inParquet, withTable(ctx, h.File, func(t *parquetio.Table) error {
			_, err := tableMatrix(h.File, t, reading)
			return err
		})
	}
	_, err := readMatrixHeader(ctx, h.File, reading)
	return inCSV, err
}

func (matrix) Split(ctx context.Context, f File, size int64, _ Reading) ([]Range, error) {
	if f.Layout == inParquet {
		return splitTable(ctx, f, size)
	}
	return splitLines(f, size), nil
}

func (matrix) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	if r.File.Layout == inParquet {
		return openTableMatrix(ctx, r, o)
	}
	return openTextMatrix(ctx, r, o)
}

// matrixColumns are the columns of a matrix, numbered from 0.
type matrixColumns struct {
	columns
	features []int
}

// findMatrixColumns finds the label and the columns that flags name. All others are features.
func findMatrixColumns(f File, names []string, reading Reading) (c matrixColumns, err error) {
	seen := map[string]bool{}
	for i, name := range names {
		switch {
		case name == "", name == "__index_level_0__", name == "Unnamed: 0":
			return c, &LayoutError{f.Name, fmt.Sprintf("column %d is named %q; it is probably the index of a data frame, which pandas writes without index=False; remove the column", i+1, name)}
		case seen[name]:
			return c, &LayoutError{f.Name, fmt.Sprintf("two columns are named %.60q; rename one of them", name)}
		}
		seen[name] = true
	}
	if len(reading.TextColumns) > 0 {
		return c, &LayoutError{f.Name, "a matrix has no text; remove --text_column"}
	}
	c.columns = noColumns
	if f.Label == "" {
		// A feature may have such a name too, as a word has.
		usual := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(labelColumns, columnName(name)) })
		if reading.LabelColumn == "" && len(usual) > 1 {
			return c, &LayoutError{f.Name, fmt.Sprintf("several columns may be the label: %s; name it with --label_column", listColumns(usual))}
		}
		if len(usual) > 0 || !reading.guessesLabel(f) {
			if c.label, err = findColumn(f, names, "label_column", reading.LabelColumn, "labels", labelColumns); err != nil {
				return c, err
			}
		}
	}
	if err := c.findNamed(f, names, reading); err != nil {
		return c, err
	}
	for i := range names {
		if i != c.label && i != c.weight && i != c.id && i != c.group {
			c.features = append(c.features, i)
		}
	}
	if len(c.features) == 0 {
		return c, &LayoutError{f.Name, fmt.Sprintf("a matrix has a column for each feature; the columns are %s", listColumns(names))}
	}
	return c, nil
}

// tableMatrix finds the columns of a matrix in a table.
func tableMatrix(f File, t *parquetio.Table, reading Reading) (c matrixColumns, err error) {
	names := columnNames(t)
	if c, err = findMatrixColumns(f, names, reading); err != nil {
		return c, err
	}
	numbers := c.features
	if c.weight >= 0 {
		numbers = append(slices.Clip(numbers), c.weight)
	}
	for _, i := range numbers {
		if !t.Columns[i].Numeric() {
			return c, &LayoutError{f.Name, fmt.Sprintf("column %.60q has no numbers; a matrix has the label and columns of numbers; remove the other columns", names[i])}
		}
	}
	for _, i := range []int{c.label, c.id, c.group} {
		if i >= 0 && t.Columns[i].Problem != "" {
			return c, &LayoutError{f.Name, fmt.Sprintf("column %q %s", names[i], t.Columns[i].Problem)}
		}
	}
	return c, nil
}

// matrixReader reads documents from the rows of a table.
type matrixReader struct {
	*tableRows
	options       Options
	label, weight int // places in the cells of a row; -1 if there is none
	id, group     int // places; -1 if there is none
	places        []int
	names         [][]byte // of the features, as places
	features      []feature.Value

	labelText, idText, groupText []byte
}

func openTableMatrix(ctx context.Context, r Range, o Options) (Reader, error) {
	rows, err := openRows(ctx, r, o)
	if err != nil {
		return nil, err
	}
	c, err := tableMatrix(r.File, rows.table, o.Reading)
	if err != nil {
		return nil, errors.Join(err, rows.Abandon())
	}
	m := &matrixReader{tableRows: rows, options: o, features: make([]feature.Value, 0, len(c.features))}
	m.places = rows.readAll(c.features)
	m.label, m.weight = rows.readOptional(c.label), rows.readOptional(c.weight)
	m.id, m.group = rows.readOptional(c.id), rows.readOptional(c.group)
	for _, i := range c.features {
		m.names = append(m.names, []byte(rows.table.Columns[i].Name))
	}
	return m, nil
}

func (r *matrixReader) Next(d *Document) bool {
	for {
		cells, row, ok := r.next()
		if !ok {
			return false
		}
		d.MoreLabels, d.Text, d.Offset = nil, nil, row
		var reason Reason
		if d.Label, reason = r.labelOf(cells, r.label, &r.labelText); reason == "" {
			d.Weight, reason = r.weightOf(cells, r.weight)
		}
		d.ID, _ = r.valueOf(cells, r.id, &r.idText)
		d.Group, _ = r.valueOf(cells, r.group, &r.groupText)
		if reason != "" {
			r.options.reject(r.span.File.Name, row, reason, nil)
			continue
		}
		if problem := r.read(cells); problem != "" {
			r.fail(r.span.File.Fault(row, problem))
			continue
		}
		d.Features = r.features
		return true
	}
}

// read reads the features of a row. It returns why they cannot be counted, or "".
func (r *matrixReader) read(cells [][]byte) (problem string) {
	r.features = r.features[:0]
	for i, place := range r.places {
		if cells[place] == nil {
			return "column " + shownName(r.names[i]) + " is null; a matrix needs a number in each cell; fill it, such as with 0"
		}
		value := r.columnAt(place).Number(cells[place])
		if !(value >= 0) || math.IsInf(value, 0) {
			return badValue("column "+shownName(r.names[i]), value)
		}
		if value != 0 {
			r.features = append(r.features, feature.Value{Name: r.names[i], Value: value})
		}
	}
	return ""
}

// matrixHeader is the first line of a matrix in CSV.
type matrixHeader struct {
	matrixColumns
	names     [][]byte
	separator byte
}

// readMatrixHeader reads the first line of a file.
func readMatrixHeader(ctx context.Context, f File, reading Reading) (*matrixHeader, error) {
	if reading.Header == Absent {
		return nil, &LayoutError{f.Name, "--header=false: a matrix needs a first line that names the columns, which are the features"}
	}
	l, err := openLines(ctx, Range{f, 0, f.Size}, reading)
	if err != nil {
		return nil, err
	}
	line, _, ok := l.next()
	if !ok { // no content, or not to be decompressed
		return &matrixHeader{matrixColumns: matrixColumns{columns: noColumns}}, l.Close()
	}
	line = bytes.Clone(line)
	if err := l.Abandon(); err != nil {
		return nil, err
	}
	if line == nil {
		return nil, &LayoutError{f.Name, "the first line, which names the columns, is longer than --max_record_bytes"}
	}
	h := &matrixHeader{separator: separatorOf(line)}
	var names []string
	for rest, more := line, true; more; {
		var cell []byte
		if cell, rest, more, ok = cutCell(rest, h.separator); !ok {
			return nil, &LayoutError{f.Name, "the first line, which names the columns, has an unclosed quote"}
		}
		h.names = append(h.names, bytes.TrimSpace(cell))
		names = append(names, string(bytes.TrimSpace(cell)))
	}
	h.matrixColumns, err = findMatrixColumns(f, names, reading)
	return h, err
}

// separatorOf returns the separator of a line that has the most: comma, tab or semicolon.
func separatorOf(line []byte) (separator byte) {
	separator = ','
	for _, other := range []byte("\t;") {
		if bytes.Count(line, []byte{other}) > bytes.Count(line, []byte{separator}) {
			separator = other
		}
	}
	return separator
}

// cutCell returns the first cell of a line, without quotes, and the rest of the line after its separator. A cell with quotes
// ends at the next quote that is not doubled; it has no line break. It returns false if that is missing.
func cutCell(line []byte, separator byte) (cell, rest []byte, more, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		cell, rest, more = bytes.Cut(line, []byte{separator})
		return cell, rest, more, true
	}
	for line = line[1:]; ; {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			return nil, nil, false, false
		}
		if cell == nil {
			cell = line[:i:i]
		} else {
			cell = append(cell, line[:i]...)
		}
		if line = line[i+1:]; len(line) == 0 || line[0] != '"' {
			break
		}
		cell, line = append(cell, '"'), line[1:]
	}
	if len(line) == 0 {
		return cell, nil, false, true
	}
	return cell, line[1:], true, line[0] == separator
}

// textMatrixReader reads documents from the lines of a CSV file.
type textMatrixReader struct {
	records
	*matrixHeader
	isColumn []columnUse
	features []feature.Value
}

// columnUse is what a column is.
type columnUse byte

const (
	asFeature columnUse = iota
	asLabel
	asWeight
	asOther // the identifier or the group
)

func openTextMatrix(ctx context.Context, r Range, o Options) (Reader, error) {
	header, err := readMatrixHeader(ctx, r.File, o.Reading)
	if err != nil {
		return nil, err
	}
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	m := &textMatrixReader{records: l, matrixHeader: header, features: []feature.Value{}}
	m.isColumn = make([]columnUse, len(header.names))
	if header.label >= 0 {
		m.isColumn[header.label] = asLabel
	}
	if header.weight >= 0 {
		m.isColumn[header.weight] = asWeight
	}
	for _, i := range []int{header.id, header.group} {
		if i >= 0 && m.isColumn[i] == asFeature {
			m.isColumn[i] = asOther
		}
	}
	return m, nil
}

func (r *textMatrixReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		if !ok {
			return false
		}
		first := offset == 0
		switch {
		case first:
			r.skipped.Headers++
			continue
		case line == nil:
			r.reject(offset, TooLong, nil)
			continue
		case len(bytes.TrimSpace(line)) == 0:
			r.skipped.Blank++
			continue
		}
		d.Offset, d.MoreLabels, d.Text, d.Label, d.Weight = offset, nil, nil, nil, 1
		reason, problem := r.read(d, line)
		switch {
		case problem != "":
			r.fail(&CorruptError{r.Span().File.Name, offset, problem})
			return false
		case reason != "":
			r.reject(offset, reason, line)
			continue
		}
		return true
	}
}

// read reads a line. It returns a reason if there is no document in it, and a problem if a value cannot be counted.
func (r *textMatrixReader) read(d *Document, line []byte) (reason Reason, problem string) {
	r.features = r.features[:0]
	column := 0
	for more := true; more; column++ {
		var cell []byte
		var ok bool
		if cell, line, more, ok = cutCell(line, r.separator); !ok {
			return WrongColumns, ""
		}
		if column == len(r.names) {
			return WrongColumns, ""
		}
		if column == r.id {
			d.ID = cell
		}
		if column == r.group {
			d.Group = cell
		}
		cell = bytes.TrimSpace(cell)
		switch r.isColumn[column] {
		case asLabel:
			d.Label = cell
			continue
		case asOther:
			continue
		}
		value, ok := parseValue(cell)
		if r.isColumn[column] == asWeight {
			if d.Weight = value; !ok || !(value >= 0) || math.IsInf(value, 0) {
				reason = BadWeight
			}
			continue
		}
		if problem == "" && (!ok || !(value >= 0) || math.IsInf(value, 0)) {
			problem = badCell(r.names[column], cell, value, ok)
		}
		if value != 0 {
			r.features = append(r.features, feature.Value{Name: r.names[column], Value: value})
		}
	}
	if column != len(r.names) {
		return WrongColumns, ""
	}
	d.Features = r.features
	return reason, problem
}

// badCell is why the value of a cell cannot be counted.
func badCell(column, cell []byte, value float64, isNumber bool) string {
	name := shownName(column)
	switch {
	case len(cell) == 0:
		return "column " + name + " is empty; a matrix needs a number in each cell; fill it, such as with 0"
	case !isNumber:
		return fmt.Sprintf("column %s has %.40q, which is not a number; a matrix has the label and columns of numbers; remove the other columns", name, cell)
	}
	return badValue("column "+name, value)
}
