package corpusio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// File is an input file as it was when the run began.
type File struct {
	fileio.Info
	Compression Compression `json:"compression,omitempty"`
	Format      string      `json:"format,omitempty"` // the name of a Format; empty for TSV
	Layout      string      `json:"layout,omitempty"` // what the format needs to know of the file, see Format.Describe
	Label       string      `json:"label,omitempty"`  // of all documents of the file; empty if each has its own
}

// hasRows reports whether offsets of documents are row numbers.
func (f File) hasRows() bool {
	return f.Format == (parquet{}).Name() || f.Format == (matrix{}).Name() && f.Layout == inParquet
}

// IsMatrix reports whether the documents of the file are features with values.
func (f File) IsMatrix() bool {
	return f.Format == (matrix{}).Name() || f.Format == (svmlight{}).Name()
}

// HasColumns reports whether the file has columns, which flags can name.
func (f File) HasColumns() bool {
	return slices.Contains(formatsWithColumns, f.Format)
}

var formatsWithColumns = []string{csv{}.Name(), jsonl{}.Name(), parquet{}.Name(), matrix{}.Name()}

// Place is where a document is in the file, such as "byte 17" or, in Parquet, "row 17".
func (f File) Place(offset int64) string {
	if f.hasRows() {
		return fmt.Sprintf("row %d", offset)
	}
	return fmt.Sprintf("byte %d", offset)
}

// Fault returns the error for the document at an offset.
func (f File) Fault(offset int64, problem string) *CorruptError {
	if f.hasRows() {
		problem = f.Place(offset) + ": " + problem
	}
	return &CorruptError{f.Name, offset, problem}
}

// Range is a part of a file: the documents that start in the bytes [Start, End). A compressed file is one range.
type Range struct {
	File       File
	Start, End int64
}

// ErrNoMatch is wrapped by the error of List for a pattern that matches no file.
var ErrNoMatch = errors.New("no file matches")

// Pattern matches files, and may give them a label.
type Pattern struct {
	Glob  string
	Label string // of all documents of the files; default: as Reading.LabelFrom says
}

// List returns the files that match the patterns, with absolute paths and sorted by them; a file that matches several
// patterns is listed once. It opens each file, so that an unreadable one is an error before any work is done.
func List(ctx context.Context, patterns []string, reading Reading) ([]File, error) {
	var list []Pattern
	for _, pattern := range patterns {
		list = append(list, Pattern{Glob: pattern})
	}
	return ListLabeled(ctx, list, reading)
}

// ListLabeled is List for patterns that have labels. A file that gets two labels is an error.
func ListLabeled(ctx context.Context, patterns []Pattern, reading Reading) ([]File, error) {
	var files []File
	for _, pattern := range patterns {
		store, err := fileio.For(pattern.Glob)
		if err != nil {
			return nil, err
		}
		infos, err := store.Glob(ctx, pattern.Glob)
		if err != nil {
			return nil, err
		}
		if len(infos) == 0 && pattern.Label != "" {
			return nil, fmt.Errorf("--class=%s=%s: %w", pattern.Label, pattern.Glob, ErrNoMatch)
		}
		if len(infos) == 0 {
			return nil, fmt.Errorf("%s: %w --input", pattern.Glob, ErrNoMatch)
		}
		found, err := describeAll(ctx, store, infos, pattern.Label, reading)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Label, b.Label)) })
	for i, f := range files[min(1, len(files)):] {
		switch before := files[i]; {
		case f.Name != before.Name || f.Label == before.Label:
		case before.Label == "":
			return nil, fmt.Errorf("%s: matches --input and --class=%s; it must match only one of them", f.Name, f.Label)
		default:
			return nil, fmt.Errorf("%s: is in two classes, %s and %s; a file must have one label", f.Name, before.Label, f.Label)
		}
	}
	return slices.CompactFunc(files, func(a, b File) bool { return a.Name == b.Name }), nil
}

// maxOpen is how many files are opened concurrently, since an object store has a latency for each.
const maxOpen = 32

func describeAll(ctx context.Context, store fileio.Store, infos []fileio.Info, label string, reading Reading) ([]File, error) {
	files := make([]File, len(infos))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxOpen)
	for i, info := range infos {
		group.Go(func() (err error) {
			files[i], err = describe(ctx, store, info, label, reading)
			return err
		})
	}
	return files, group.Wait()
}

func describe(ctx context.Context, store fileio.Store, info fileio.Info, label string, reading Reading) (f File, err error) {
	f.Compression, err = detectCompression(ctx, store, info.Name)
	if damaged := compressionNamed(info.Name); err != nil && reading.SkipCorrupt && damaged != Plain {
		f.Compression, err = damaged, nil // the reader finds the damage
	}
	if err != nil {
		return f, err
	}
	if !utf8.ValidString(info.Name) {
		return f, fmt.Errorf("%q: the file name is not UTF-8; rename the file, or create a symlink to it", info.Name)
	}
	f.Info = info
	if f.Name, err = fileio.Absolute(info.Name); err != nil {
		return f, err
	}
	if f.Label, err = fileLabel(f.Name, label, reading.LabelFrom); err != nil {
		return f, err
	}
	h := Head{File: f}
	if h.Bytes, err = readHead(ctx, f, reading); err != nil {
		return f, err
	}
	format := formatNamed(reading.Format)
	for i := 0; format == nil; i++ {
		if formats[i].Detect(h, reading) { // the last one does
			format = formats[i]
		}
	}
	if _, ok := format.(interface{ readsParquet() }); isParquet(h) && !ok {
		return f, &LayoutError{f.Name, fmt.Sprintf("is a Parquet file, not %s; use --format=parquet", format.Name())}
	}
	if suffix := path.Ext(f.Name); reading.Format == "" && suffix == ".parquet" && f.Size > 0 && format.Name() != (parquet{}).Name() {
		return f, &CorruptError{f.Name, 0, "the name ends in .parquet, but the file does not begin as Parquet does; it is damaged or encrypted"}
	}
	if format.Name() != (tsv{}).Name() { // files of version 1 name no format
		f.Format = format.Name()
	}
	if err := checkColumns(f, reading); err != nil && f.Size > 0 {
		return f, err
	}
	f.Layout, err = format.Describe(ctx, h, reading)
	return f, err
}

// checkColumns returns an error if flags name columns of values that the file cannot have.
func checkColumns(f File, reading Reading) error {
	if flag := reading.valueFlag(); flag != "" && !f.HasColumns() {
		return &LayoutError{f.Name, fmt.Sprintf("--%s: the format %s has no columns; %s have; a tab-separated file with a header is csv",
			flag, cmp.Or(f.Format, tsv{}.Name()), strings.Join(formatsWithColumns, ", "))}
	}
	return nil
}

// headBytes is how much of a file is read to detect its format.
const headBytes = 16 << 10

// readHead returns the start of the decompressed content. It ignores corrupt data, which the reading reports.
func readHead(ctx context.Context, f File, reading Reading) ([]byte, error) {
	if f.Size == 0 {
		return nil, nil
	}
	s, err := openStream(ctx, Range{f, 0, f.Size}, 0, reading)
	if err != nil {
		return nil, err
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(s, head)
	var corrupt *CorruptError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		err = nil
	}
	return head[:n], errors.Join(err, s.Abandon())
}
