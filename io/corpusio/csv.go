package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// csv is the format of tables with a delimiter: rows as in RFC 4180, after a header with the names of the columns.
type csv struct{}

func (csv) Name() string { return "csv" }

// Detect reports whether the columns that the flags name, or columns with usual names, are in the first row. A file of two
// columns label<TAB>text is TSV.
func (csv) Detect(h Head, reading Reading) bool {
	if len(h.Bytes) == 0 || checkEncoding("", h.Bytes) != nil {
		return false
	}
	if reading.namesColumn() {
		return true // other formats have no columns
	}
	line, _, _ := bytes.Cut(h.Bytes, []byte{'\n'})
	name := strings.TrimSuffix(h.File.Name, path.Ext(h.File.Name)) // it may be .csv.gz
	if path.Ext(h.File.Name) == ".csv" || path.Ext(name) == ".csv" {
		if !bytes.ContainsRune(line, '\t') {
			return true
		}
	}
	t := detectTable(h, reading)
	switch {
	case len(t.names) < 2:
		return false
	case t.delimiter != '\t' && slices.ContainsFunc(t.names, func(name string) bool { return strings.Contains(name, "\t") }):
		return false
	case reading.Header == Absent:
		return false
	case t.err == nil && h.File.Label != "": // one usual name is little evidence
		return t.odd == 0
	case reading.guessesLabel(h.File) && t.label < 0:
		return t.isHeaderWithoutLabel(line, reading)
	case t.err == nil && t.delimiter == '\t' && len(t.names) == 2:
		return t.label > t.texts[0] && t.bytes[t.texts[0]] > t.bytes[t.label] // or else only the header is swapped
	case t.err == nil:
		return t.delimiter != '\t' || t.isEven()
	}
	// Describe reports which column it lacks. A text whose label is elsewhere needs no columns.
	return h.File.Label == "" && t.delimiter != '\t' && slices.ContainsFunc(t.names, isUsualName)
}

func (csv) Describe(_ context.Context, h Head, reading Reading) (string, error) {
	if len(h.Bytes) == 0 { // the file is empty, or corrupt, which the reading reports
		return csvLayout{delimiter: ',', columns: noColumns, header: -1}.String(), nil
	}
	if err := checkEncoding(h.File.Name, h.Bytes); err != nil {
		return "", err
	}
	if line, _, ok := bytes.Cut(h.Bytes, []byte{'\r'}); ok && !bytes.ContainsRune(h.Bytes, '\n') && len(line)+1 < len(h.Bytes) {
		return "", &CorruptError{h.File.Name, 0, returnsAlone}
	}
	t := detectTable(h, reading)
	var layout *LayoutError
	if flag := reading.valueFlag(); errors.As(t.err, &layout) && flag != "" && reading.Format == "" {
		reading.IDColumn, reading.GroupColumn = "", ""
		if !(csv{}).Detect(h, reading) {
			layout.Problem += fmt.Sprintf(" (read as csv because of --%s; only %s have columns)", flag, strings.Join(formatsWithColumns, ", "))
		}
	}
	return t.String(), t.err
}

func (csv) Split(ctx context.Context, f File, size int64, reading Reading) ([]Range, error) {
	layout, err := parseCSVLayout(f)
	if err != nil {
		return nil, err
	}
	if layout.inLine || f.Compression != Plain || f.Size <= size {
		return splitLines(f, max(size, 1)), nil
	}
	// A newline may be part of a quoted field, and only the rows before it can tell. So all rows are parsed here.
	layout.width = 0
	rows, err := openCSVRows(ctx, Range{f, 0, f.Size}, layout, reading)
	if err != nil {
		return nil, err
	}
	var ranges []Range
	start := int64(0)
	for ctx.Err() == nil && rows.skipTo((start/size+1)*size) {
		ranges = append(ranges, Range{f, start, rows.position})
		start = rows.position
	}
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), rows.Abandon())
	}
	return append(ranges, Range{f, start, f.Size}), rows.Close()
}

func (csv) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	layout, err := parseCSVLayout(r.File)
	if err != nil {
		return nil, err
	}
	rows, err := openCSVRows(ctx, r, layout, o.Reading)
	if err != nil {
		return nil, err
	}
	return &csvReader{csvRows: rows, layout: layout, options: o}, nil
}

func openCSVRows(ctx context.Context, r Range, layout csvLayout, reading Reading) (*csvRows, error) {
	l, err := openLines(ctx, r, reading)
	if err != nil {
		return nil, err
	}
	return &csvRows{lines: l, delimiter: layout.delimiter, inLine: layout.inLine, keep: layout.width}, nil
}

type csvReader struct {
	*csvRows
	layout  csvLayout
	options Options
	skipped Skipped
	text    []byte // of several columns
}

func (r *csvReader) Skipped() Skipped { return r.skipped }

func (r *csvReader) Next(d *Document) bool {
	for {
		offset, reason, ok := r.next()
		switch {
		case !ok:
			return false
		case reason == "" && r.count == 0:
			r.skipped.Blank++
			continue
		case offset == r.layout.header:
			r.skipped.Headers++
			continue
		case reason == "" && r.count != r.layout.width:
			reason = WrongColumns
		case reason == "":
			d.Weight, reason = r.weight()
		}
		if reason != "" {
			var record []byte
			if reason == WrongColumns || reason == BadWeight { // else there is no row
				record = r.row
			}
			r.options.reject(r.Span().File.Name, offset, reason, record)
			continue
		}
		d.Offset, d.Label, d.Text = offset, nil, r.joinTexts()
		if r.layout.label >= 0 {
			d.Label = bytes.TrimSpace(r.value(r.layout.label))
		}
		if r.layout.id >= 0 {
			d.ID = r.value(r.layout.id)
		}
		if r.layout.group >= 0 {
			d.Group = r.value(r.layout.group)
		}
		return true
	}
}

// weight returns the weight of the row, or 1 if the file has none.
func (r *csvReader) weight() (weight float64, reason Reason) {
	if r.layout.weight < 0 {
		return 1, ""
	}
	weight, err := strconv.ParseFloat(string(bytes.TrimSpace(r.value(r.layout.weight))), 64)
	if err != nil || !(weight >= 0) || math.IsInf(weight, 1) {
		return 0, BadWeight
	}
	return weight, ""
}

// joinTexts returns the texts of the row, joined by a space.
func (r *csvReader) joinTexts() []byte {
	if len(r.layout.texts) == 1 {
		return r.value(r.layout.texts[0])
	}
	r.text = r.text[:0]
	for i, column := range r.layout.texts {
		if i > 0 {
			r.text = append(r.text, ' ')
		}
		r.text = append(r.text, r.value(column)...)
	}
	return r.text
}

// csvLayout is what File.Layout says, such as "delimiter=comma columns=4 label=1 text=2,3 header=0". Columns are
// numbered from 1 there.
type csvLayout struct {
	columns
	delimiter byte
	width     int   // the number of columns
	inLine    bool  // a row is a line, "rows=lines"
	header    int64 // where the header starts; -1 if there is none
}

// delimiters in the order of preference.
var delimiters = []struct {
	byte
	name string
}{{',', "comma"}, {'\t', "tab"}, {';', "semicolon"}, {'|', "pipe"}}

func (l csvLayout) String() string {
	var b strings.Builder
	for _, d := range delimiters {
		if d.byte == l.delimiter {
			fmt.Fprintf(&b, "delimiter=%s columns=%d", d.name, l.width)
		}
	}
	if l.label >= 0 {
		fmt.Fprintf(&b, " label=%d", l.label+1)
	}
	for i, text := range l.texts {
		b.WriteString([]string{" text=", ","}[min(i, 1)] + strconv.Itoa(text+1))
	}
	if l.weight >= 0 {
		fmt.Fprintf(&b, " weight=%d", l.weight+1)
	}
	if l.id >= 0 {
		fmt.Fprintf(&b, " id=%d", l.id+1)
	}
	if l.group >= 0 {
		fmt.Fprintf(&b, " group=%d", l.group+1)
	}
	if l.header >= 0 {
		fmt.Fprintf(&b, " header=%d", l.header)
	}
	if l.inLine {
		b.WriteString(" rows=lines")
	}
	return b.String()
}

// parseCSVLayout returns the layout of a file, which may come from another version of the program.
func parseCSVLayout(f File) (l csvLayout, err error) {
	unknown := fmt.Errorf("%s: unknown layout %q", f.Name, f.Layout)
	l.columns, l.header = noColumns, -1
	for _, part := range strings.Fields(f.Layout) {
		key, value, _ := strings.Cut(part, "=")
		var numbers []int
		for _, number := range strings.Split(value, ",") {
			n, _ := strconv.Atoi(number)
			numbers = append(numbers, n)
		}
		n := numbers[0]
		switch key {
		case "delimiter":
			for _, d := range delimiters {
				if d.name == value {
					l.delimiter = d.byte
				}
			}
		case "columns":
			l.width = n
		case "label":
			l.label = n - 1
		case "text":
			for _, n := range numbers {
				l.texts = append(l.texts, n-1)
			}
		case "weight":
			l.weight = n - 1
		case "id":
			l.id = n - 1
		case "group":
			l.group = n - 1
		case "header":
			l.header = int64(n)
		case "rows":
			l.inLine = value == "lines"
		default:
			return l, unknown
		}
	}
	least, most := min(l.label, l.weight, l.id, l.group), max(l.label, l.weight, l.id, l.group)
	if len(l.texts) > 0 {
		least, most = min(least, slices.Min(l.texts)), max(most, slices.Max(l.texts))
	}
	if l.delimiter == 0 || least < -1 || slices.Contains(l.texts, -1) || most >= l.width {
		return l, unknown
	}
	return l, nil
}

// table is how the start of a file looks with a delimiter.
type table struct {
	csvLayout
	names []string // of the columns
	bytes []int    // of each column, in the other rows
	odd   int      // how many of the other rows have another number of columns or are malformed
	rows  int      // how many other rows there are
	err   error    // why it cannot be read: a *LayoutError
}

// isHeaderWithoutLabel reports whether the first line is probably the header of a table without labels. A line of prose may
// begin with a usual name, and a label may be one.
func (t table) isHeaderWithoutLabel(line []byte, reading Reading) bool {
	if bytes.Contains(line, []byte{t.delimiter, ' '}) {
		return false
	}
	if t.delimiter == '\t' && len(t.names) == 2 {
		return t.err == nil && reading.Header == Present
	}
	usual := t.err == nil || t.delimiter != '\t' && slices.ContainsFunc(t.names, isUsualName) // Describe reports what it lacks
	return usual && t.rows > 0 && t.odd == 0
}

// isEven reports whether most rows have as many columns as the first.
func (t table) isEven() bool { return 2*t.odd <= t.rows }

// detectTable finds the delimiter: one with which the columns that reading names are there, the number of columns is the same
// in most rows, and the first row has the most columns.
func detectTable(h Head, reading Reading) (best table) {
	score := func(t table) int {
		score := 0
		if len(t.names) > 1 {
			score = len(t.names)
		}
		if t.isEven() && !(isOnlyText(t.names, reading) && t.odd > 0) { // a text may have delimiters
			score += headBytes
		}
		if t.err == nil {
			score += 2 * headBytes
		}
		return score
	}
	for _, d := range delimiters {
		t := parseHead(h, reading, d.byte, false)
		if d.byte == '\t' && reading.Format != (csv{}).Name() {
			// Few writers of tab-separated files quote fields. Those that do are told by rows of several lines.
			if lines := parseHead(h, reading, d.byte, true); lines.odd <= t.odd {
				t = lines
			}
		}
		if best.delimiter == 0 || score(t) > score(best) {
			best = t
		}
	}
	return best
}

// parseHead parses the start of a file.
func parseHead(h Head, reading Reading, delimiter byte, inLine bool) (t table) {
	head := h.Bytes
	whole := len(head) < headBytes
	if !bytes.ContainsRune(head, '\n') {
		head = bytes.ReplaceAll(head, []byte{'\r'}, []byte{'\n'})
	}
	rows := &csvRows{
		lines:     &lines{buffer: bytes.Clone(head), end: len(head), limit: -1, ended: true, maxBytes: len(head)},
		delimiter: delimiter, inLine: inLine, keep: len(head),
	}
	t.delimiter, t.inLine = delimiter, inLine
	for {
		offset, reason, ok := rows.next()
		if !ok || rows.atEnd && !whole { // the last row may be incomplete
			break
		}
		switch {
		case rows.count == 0 && reason == "":
		case t.width == 0 && reason != "":
			t.err = &LayoutError{h.File.Name, "the first row is malformed: " + reason.Sentence()}
			return t
		case t.width == 0:
			t.width, t.header = rows.count, offset
			for i := range rows.fields {
				t.names = append(t.names, strings.TrimSpace(string(rows.value(i))))
			}
			t.bytes = make([]int, t.width)
		default:
			if t.rows++; rows.count != t.width || reason != "" {
				t.odd++
				break
			}
			for i, field := range rows.fields {
				t.bytes[i] += field.end - field.start
			}
		}
	}
	if t.width == 0 {
		t.err = &LayoutError{h.File.Name, fmt.Sprintf("the first %d bytes have no complete row; the first row must be shorter", len(head))}
		return t
	}
	if reading.Header == Absent {
		t.header = -1
		t.names, reading = numberColumns(t.width, h.File, reading)
	}
	t.columns, t.err = findColumns(h.File, t.names, reading)
	if reading.Header == Unknown && isOnlyText(t.names, reading) && !reading.namesColumn() && !isTextColumn(t.names[0]) {
		t.err = &LayoutError{h.File.Name, fmt.Sprintf("the first row has one column, %s; use --header if that is its name, --header=false if it is a document",
			listColumns(t.names))}
	}
	return t
}

// numberColumns returns numbers as names of columns, and chooses label and text if there can be no doubt.
func numberColumns(width int, f File, reading Reading) (names []string, _ Reading) {
	for i := range width {
		names = append(names, strconv.Itoa(i+1))
	}
	if reading.LabelColumn == "" && len(reading.TextColumns) == 0 {
		switch {
		case width == 2 && f.Label == "" && reading.IDColumn == "" && reading.GroupColumn == "":
			reading.LabelColumn, reading.TextColumns = "1", []string{"2"}
		case width == 1 && f.Label != "":
			reading.TextColumns = []string{"1"}
		}
	}
	return names, reading
}
