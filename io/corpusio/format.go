// Package corpusio reads labeled documents from files of any store.
//
// It has four layers. A stream (stream.go) is the content of a file, decompressed and with its checksum. Lines (lines.go) are
// those of a range of a file. A [Format] turns a range into documents, one file each, such as tsv.go. Labels (labels.go) are
// then renamed, chosen and validated in the same way for every format. [Reading] configures all of it.
//
// The unit of work is a [Range] of a file. Ranges of any size give every document once.
package corpusio

import (
	"context"
	"fmt"
	"strings"

	"github.com/sparsenb/sparsenb/feature"
)

// Format is how documents are written in a file.
type Format interface {
	// Name is the value of --format.
	Name() string

	// Detect reports whether a file is probably of this format.
	Detect(h Head, reading Reading) bool

	// Describe finds what a range in the middle of the file needs to know, such as its columns, and stores it in
	// File.Layout. Its error is a *LayoutError if the file lacks what reading asks for.
	Describe(ctx context.Context, h Head, reading Reading) (layout string, err error)

	// Split cuts a file into ranges of about size bytes that can be read independently. They cover the file without gaps. An
	// empty file has none.
	Split(ctx context.Context, f File, size int64, reading Reading) ([]Range, error)

	// Open opens a range that Split returned. The reader sets Document.Label as it is in the record.
	Open(ctx context.Context, r Range, o Options) (Reader, error)
}

// Head is the start of a file.
type Head struct {
	File  File
	Bytes []byte // decompressed; at most headBytes
}

// LayoutError is a file that does not have the columns or the format that the flags say.
type LayoutError struct{ File, Problem string }

func (e *LayoutError) Error() string { return e.File + ": " + e.Problem }

// formats are asked in this order whether a file is theirs. TSV comes last, since any text may be TSV.
var formats = []Format{
	parquet{},
	warc{"wet", "conversion"},
	warc{"warc", "response"},
	jsonl{},
	fastText{},
	svmlight{},
	csv{},
	matrix{},
	wholeFile{},
	plainText{},
	tsv{},
}

// FormatNames returns the values of --format.
func FormatNames() (names []string) {
	for _, format := range formats {
		names = append(names, format.Name())
	}
	return names
}

func formatOf(f File) (Format, error) {
	name := f.Format
	if name == "" {
		name = tsv{}.Name()
	}
	if format := formatNamed(name); format != nil {
		return format, nil
	}
	return nil, fmt.Errorf("%s: unknown format %q", f.Name, f.Format)
}

func formatNamed(name string) Format {
	for _, format := range formats {
		if format.Name() == name {
			return format
		}
	}
	return nil
}

// Split cuts a file that [List] found into ranges of about size bytes. An empty file has none.
func Split(ctx context.Context, f File, size int64, reading Reading) ([]Range, error) {
	format, err := formatOf(f)
	if err != nil || f.Size == 0 {
		return nil, err
	}
	return format.Split(ctx, f, size, reading)
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
	reader, err := format.Open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return newLabeledReader(reader, r.File, o), nil
}

// Options are what a reader needs to know beside the range.
type Options struct {
	Reading
	Reject func(Rejection)     // called for every malformed record; nil ignores them
	Sample func(record []byte) // called after Reject with the record, or nil if it is not in memory; nil ignores them

	anyLabel bool // accept every document with a label, whatever else is wrong with it
}

// Document is a labeled text, or a list of labeled features. Its bytes are valid until the next call of Reader.Next.
type Document struct {
	Offset     int64    // where the record starts, in the decompressed content; a row number in formats that say so
	Label      []byte   // without surrounding spaces, at most MaxLabelBytes; empty only with Reading.LabelOptional
	MoreLabels [][]byte // the document counts in these classes, too

	Weight float64 // how often the document counts, 0 to MaxWeight: 1 unless Reading.WeightColumn says otherwise

	ID    []byte // of Reading.IDColumn; nil without
	Group []byte // of Reading.GroupColumn; nil without

	Text     []byte          // may be empty, and need not be valid UTF-8
	Features []feature.Value // instead of the text; nil for formats of text
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

// Skipped counts records that are neither documents nor malformed.
type Skipped struct {
	Blank, Headers int64 // lines
	Records        int64 // of a web archive: requests, images, errors of servers

	OtherClasses int64       // documents that have no label of Reading.Classes
	OtherLabels  LabelCounts // documents by the labels that were left out
}

// FirstLabel returns the first 256 bytes of the first label of a file, or "" if there is none.
func FirstLabel(ctx context.Context, f File, reading Reading) (label string, err error) {
	const maxRecord, longest = 1 << 20, 256
	reading.MaxRecordBytes = maxRecord
	ranges, err := Split(ctx, f, f.Size, reading)
	if err != nil || len(ranges) == 0 {
		return "", err
	}
	r, err := Open(ctx, ranges[0], Options{Reading: reading, anyLabel: true})
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
