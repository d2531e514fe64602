package countio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// CustomTable summarizes a table of counts that the user supplies. The first bytes and the header determine its format: CSV, TSV
// without quotes, or Parquet; and its layout: wide, one row for each feature, or long, one row for each feature and class.
type CustomTable struct {
	Classes        []string // sorted
	Sums           *ClassSums
	DocumentsKnown bool // it has documents beside the counts
}

// Constraints limit the document counts of a custom table.
type Constraints struct {
	Documents          map[string]int64 // the number of documents by class: no feature may have more
	CountsAreDocuments bool             // if the table has no documents column
}

// TableError is an unusable custom table. A retry does not help, unless Cause is an I/O error.
type TableError struct {
	File  string
	Row   int64 // from 1, without the header; 0 if the error is not about a row
	What  string
	Cause error // the read error; may be nil
}

// Error is one line: the file, the row and the problem.
func (e *TableError) Error() string {
	if e.Row > 0 {
		return fmt.Sprintf("%s: row %d: %s", e.File, e.Row, e.What)
	}
	return fmt.Sprintf("%s: %s", e.File, e.What)
}

// Unwrap returns the cause.
func (e *TableError) Unwrap() error { return e.Cause }

// ValidateTable reads a whole custom table and returns a [*TableError] for the first error in it.
func ValidateTable(ctx context.Context, name string, c Constraints) (table CustomTable, err error) {
	var numbered Classes
	table.Sums = NewClassSums(&numbered)
	t := &tableReader{constraints: c, first: map[identity]int64{}, numbered: &numbered}
	r, err := openReader(ctx, name, t)
	if err != nil {
		return table, err
	}
	defer r.Close() // it is only read
	for {
		f, err := r.Next()
		if err == io.EOF {
			table.Classes, table.DocumentsKnown = slices.Sorted(slices.Values(t.classes)), t.feature.DocumentsKnown
			return table, nil
		}
		if err != nil {
			return table, err
		}
		table.Sums.Add(f)
	}
}

// identity is the hash of a name. Only long names can share one, and not by chance. Wide tables keep no names and reject
// such a name as a duplicate; groups compare names.
type identity struct {
	key   uint64
	check uint64
}

func identityOf(name string) identity {
	key, check := feature.Hash([]byte(name))
	return identity{key, check}
}

func (id identity) featureID() int64 { return feature.ID(id.key) }

type tableReader struct {
	name        string
	constraints Constraints
	sorted      bool               // features come in the order of a part
	first       map[identity]int64 // the row of each feature of a wide table; nil disables the duplicate check
	rows        rows
	row         int64    // from 1
	names       []string // of the columns
	classes     []string
	numbered    *Classes
	feature     Feature

	wide wideColumns

	groups  *groups // of a long or sorted table
	place   int     // of the next feature, in order if the table is sorted, else in groups
	order   []int
	numbers []int32 // by class in groups
	buffer  []uint32
}

// rows are the rows of a table of any format. Columns count from 0.
type rows interface {
	header() []string
	numeric(column int) (kind string, ok bool) // false if the column type cannot hold counts
	next() error                               // advances to the next row, or returns io.EOF
	text(column int) (string, bool)
	number(column int) (float64, bool)
	shown(column int) string // for error messages
}

func (t *tableReader) open(f fileio.File, info fileio.Info) error {
	t.name = info.Name
	if err := t.detectFormat(f, info); err != nil {
		return err
	}
	if err := t.checkHeader(); err != nil {
		return err
	}
	if isLong(t.names) {
		return t.readLong()
	}
	if err := t.findWideColumns(); err != nil || !t.sorted {
		return err
	}
	return t.groupWide()
}

func (t *tableReader) next() (*Feature, error) {
	if t.groups != nil {
		return t.nextGroup()
	}
	return t.nextWide()
}

func (t *tableReader) close() {}

func (t *tableReader) detectFormat(f fileio.File, info fileio.Info) (err error) {
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	switch {
	case n == 0:
		return t.fail("the file is empty")
	case string(head) == "PAR1":
		t.rows, err = openParquet(f, info)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return t.fail("the text is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), string(head) == "\x28\xb5\x2f\xfd":
		return t.fail("the table is compressed; decompress it with gunzip or unzstd")
	default:
		t.rows, err = openText(io.NewSectionReader(f, 0, info.Size))
	}
	if err != nil {
		return t.unreadable(err)
	}
	return nil
}

func (t *tableReader) nextRow() error {
	err := t.rows.next()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	t.row++
	if err != nil {
		return t.unreadable(err)
	}
	return nil
}

func (t *tableReader) fail(format string, args ...any) error { return t.failAt(t.row, format, args...) }

func (t *tableReader) failAt(row int64, format string, args ...any) error {
	return &TableError{t.name, row, fmt.Sprintf(format, args...), nil}
}

func (t *tableReader) unreadable(err error) error {
	return &TableError{t.name, t.row, strings.ReplaceAll(err.Error(), "\n", " "), err}
}
