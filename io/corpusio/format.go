// Package corpusio reads labeled documents from files of any store.
//
// It has three layers. A stream (stream.go) is the content of a file, decompressed and with its checksum. Lines (lines.go)
// are those of a range of a file. A [Format] turns them into documents; tsv.go is the only one, label<TAB>text. Another
// format is another file like it, and an entry in formats.
//
// The unit of work is a [Range] of a file. Ranges of any size give every document once.
package corpusio

import (
	"context"
	"fmt"
	"strings"
)

// Format is how documents are written in a file.
type Format interface {
	// Name is stored in File.Format.
	Name() string

	// Detect reports whether a file is of this format. The file exists and can be read.
	Detect(ctx context.Context, f File) (bool, error)

	// Split cuts a file into ranges of about size bytes that can be read independently. An empty file has none.
	Split(f File, size int64) []Range

	// Open opens a range that Split returned.
	Open(ctx context.Context, r Range, o Options) (Reader, error)
}

// formats are asked in this order whether a file is theirs. TSV comes last, since any text may be TSV.
var formats = []Format{tsv{}}

func formatOf(f File) (Format, error) {
	for _, format := range formats {
		if format.Name() == f.Format {
			return format, nil
		}
	}
	return nil, fmt.Errorf("%s: unknown format %q", f.Name, f.Format)
}

// Split cuts a file that [List] found into ranges of about size bytes. An empty file has none.
func Split(f File, size int64) []Range {
	format, err := formatOf(f)
	if err != nil {
		panic("corpusio.Split: " + err.Error())
	}
	return format.Split(f, size)
}

// Open opens a range of a file. Close or Abandon must be called on the reader.
func Open(ctx context.Context, r Range, o Options) (Reader, error) {
	if o.Reject == nil {
		o.Reject = func(Rejection) {}
	}
	format, err := formatOf(r.File) // the range may come from another version of the program
	if err != nil {
		return nil, err
	}
	return format.Open(ctx, r, o)
}

// Options are what a reader needs to know beside the range.
type Options struct {
	MaxRecordBytes int             // longer records are rejected without being kept in memory
	Header         Header          // whether files begin with a line of column names
	Reject         func(Rejection) // called for every malformed record; nil ignores them

	anyLabel bool // accept every document with a label, whatever else is wrong with it
}

// Document is a labeled text. Its bytes are valid until the next call of Reader.Next. A format whose documents have
// several labels, or features with values instead of a text, adds fields.
type Document struct {
	Label []byte // not empty, without surrounding spaces, at most MaxLabelBytes
	Text  []byte // may be empty, and need not be valid UTF-8
}

// MaxLabelBytes is the length of the longest label.
const MaxLabelBytes = 1 << 10

// Reader reads the documents of a range.
//
//	var d Document
//	for r.Next(&d) {
//		use(d.Label, d.Text)
//	}
//	if err := r.Close(); err != nil { … }
type Reader interface {
	// Next reads the next document. It returns false at the end of the range and after an error, which Close returns.
	Next(d *Document) bool

	// BytesRead returns how many bytes of the range have been read so far, as they are stored.
	BytesRead() int64

	// Close reads the rest of the range for its checksum, and checks that the file has not changed. It returns the
	// first error: a *CorruptError or *HeaderError if the content is at fault, or else an error of the store.
	Close() error

	// Abandon closes the file without reading the rest.
	Abandon() error

	// Span returns the range and its checksum, and Skipped what was neither a document nor malformed. Call them
	// after Close.
	Span() Span
	Skipped() Skipped
}

// Skipped counts lines that are neither documents nor malformed.
type Skipped struct{ Blank, Headers int64 }

// FirstLabel returns the first 256 bytes of the first label of a file, or "" if there is none.
func FirstLabel(ctx context.Context, f File, header Header) (label string, err error) {
	const maxRecord, longest = 1 << 20, 256
	r, err := Open(ctx, Range{f, 0, f.Size}, Options{MaxRecordBytes: maxRecord, Header: header, anyLabel: true})
	if err != nil {
		return "", err
	}
	var d Document
	if !r.Next(&d) {
		return "", r.Close()
	}
	label = strings.ToValidUTF8(string(d.Label[:min(len(d.Label), longest)]), "")
	return label, r.Abandon()
}
