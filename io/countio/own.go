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

// Own is a table of the user's own. It is CSV, or TSV without quotes, or Parquet, told by the first bytes and by the
// header; and it is wide, with a row for each feature, or long, with a row for each feature and class.
type Own struct {
	Classes []string // sorted
	Sums    *ClassSums
}

// Rules are what the counts of a table must keep to, beside being counts.
type Rules struct {
	Documents          map[string]int64 // how many there are of a class: no feature is in more
	CountsAreDocuments bool             // in a table that has no column for them
}

// Error is a table that cannot be used as counts; trying again would not help, unless its cause is that of an unwell disk.
type Error struct {
	File  string
	Row   int64 // counted from 1, without the header; 0 where it is not about a row
	What  string
	Cause error // of a failure to read; may be nil
}

// Error is one line with the file, the row and the cause.
func (e *Error) Error() string {
	if e.Row > 0 {
		return fmt.Sprintf("%s: row %d: %s", e.File, e.Row, e.What)
	}
	return fmt.Sprintf("%s: %s", e.File, e.What)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// CheckOwn reads the whole table, and fails on the first thing in it that is wrong.
func CheckOwn(ctx context.Context, name string, rules Rules) (Own, error) {
	var numbered Classes
	own := Own{Sums: NewClassSums(&numbered)}
	t := &ownTable{name: name, rules: rules, first: map[identity]int64{}, numbered: &numbered}
	err := t.read(ctx, func(f *Feature) error { own.Sums.Add(f); return nil })
	own.Classes = slices.Sorted(slices.Values(t.classes))
	return own, err
}

// ReadOwn visits every feature of a table that was checked before.
func ReadOwn(ctx context.Context, name string, classes *Classes, visit func(*Feature) error) error {
	return (&ownTable{name: name, numbered: classes}).read(ctx, visit)
}

// identity is what a feature is known by. Two names have one only if they are long, which nobody meets by chance. A wide
// table, of which no names are kept, is refused then; groups compare names.
type identity struct {
	key   uint64
	check uint64
}

func identityOf(name string) identity {
	key, check := feature.Hash([]byte(name))
	return identity{key, check}
}

func (id identity) featureID() int64 { return feature.ID(id.key) }

// ownTable is a table while it is read.
type ownTable struct {
	name     string
	rules    Rules
	first    map[identity]int64 // the row of each feature of a wide table; nil where nothing is checked
	rows     rows
	row      int64    // counted from 1
	names    []string // of the columns
	classes  []string // of a wide table from the start, of a long one as they come
	numbered *Classes
}

// rows are the rows of a table in some format. Columns are counted from 0.
type rows interface {
	header() []string
	numeric(column int) (kind string, ok bool) // false if the type of the column says that it holds no numbers
	next() error                               // goes to the first row, or to the next; io.EOF if there is none
	text(column int) (string, bool)            // of this row, and so are the next
	number(column int) (float64, bool)
	shown(column int) string // for a message
}

func (t *ownTable) read(ctx context.Context, visit func(*Feature) error) error {
	return fileio.With(ctx, t.name, func(f fileio.File, info fileio.Info) error {
		if err := t.open(f, info); err != nil {
			return err
		}
		if err := t.checkHeader(); err != nil {
			return err
		}
		if isLong(t.names) {
			return t.readLong(visit)
		}
		return t.readWide(visit)
	})
}

// open finds the format of the table.
func (t *ownTable) open(f fileio.File, info fileio.Info) (err error) {
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
		return t.fail("the text is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), string(head) == "\x28\xb5\x2f\xfd":
		return t.fail("the table is compressed; decompress it first: gunzip, or unzstd")
	default:
		t.rows, err = openText(io.NewSectionReader(f, 0, info.Size))
	}
	if err != nil {
		return t.unreadable(err)
	}
	return nil
}

// next goes to the next row.
func (t *ownTable) next() error {
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

func (t *ownTable) fail(format string, args ...any) error { return t.failAt(t.row, format, args...) }

func (t *ownTable) failAt(row int64, format string, args ...any) error {
	return &Error{t.name, row, fmt.Sprintf(format, args...), nil}
}

func (t *ownTable) unreadable(err error) error {
	return &Error{t.name, t.row, strings.ReplaceAll(err.Error(), "\n", " "), err}
}
