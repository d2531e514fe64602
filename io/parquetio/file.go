// Package parquetio opens untrusted Parquet files. Parquet files state their own lengths and counts. parquet-go allocates
// memory for these numbers, recurses into nested metadata, and panics on inconsistent data: a file of ten kilobytes can end
// the process. This package reads every footer, index and page first, and passes it to parquet-go only if it is consistent
// and needs little memory. [Table] reads single columns without parquet-go.
package parquetio

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File is a Parquet file with a flat table. It is used by one goroutine.
type File struct {
	*parquet.File
	in      io.ReaderAt
	size    int64
	footer  int64    // its offset
	columns []*pages // of all row groups, by offset
	indexes []region // the offset indexes, by offset
	failed  error    // of the storage
	taken   []taken  // by column of the table
	total   int64    // of taken
	last    []*pages // the last read, by column
	scratch []byte
}

// taken is the memory, in bytes, of the current page of a column and of its dictionary.
type taken struct{ page, dictionary int64 }

// InvalidError is a file that is malformed or not supported. A retry does not help.
type InvalidError struct{ Err error }

// Error is one line.
func (e *InvalidError) Error() string {
	return "not a readable Parquet file: " + strings.ReplaceAll(e.Err.Error(), "\n", " ")
}

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// Open opens a file with size bytes. It ignores page statistics and Bloom filters.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{in: r, size: size}
	return f, f.Do(func() error {
		metadata, start, err := readFooter(storage{f}, size)
		if err != nil {
			return err
		}
		if err := checkSchema(metadata.Schema); err != nil {
			return err
		}
		chunks, indexes, err := findChunks(metadata, metadata.Schema[1:], start)
		if err != nil {
			return err
		}
		if err := checkCodecs(metadata); err != nil {
			return err
		}
		for _, c := range chunks {
			f.columns = append(f.columns, &pages{chunk: c, file: f})
		}
		f.footer, f.indexes = start, indexes
		f.taken, f.last = make([]taken, len(metadata.Schema)-1), make([]*pages, len(metadata.Schema)-1)
		f.File, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
}

// Do calls read, which may only read from the file through parquet-go. The error is nil, [io.EOF], the error of storage, or
// an [*InvalidError]. Panics of parquet-go become an *InvalidError too.
func (f *File) Do(read func() error) (err error) {
	// Some decoders are in assembly. A fault there must be a panic, which can be recovered.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet library panicked: %v", p)
		}
		switch {
		case err == nil || err == io.EOF && f.failed == nil:
		case f.failed != nil:
			err = f.failed
		default:
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				err = &InvalidError{err}
			}
		}
	}()
	return read()
}

// ReadAt is for parquet-go. It returns only bytes that were checked.
func (f *File) ReadAt(b []byte, offset int64) (int, error) {
	switch {
	case offset < 0:
		return 0, fmt.Errorf("read at negative offset %d", offset)
	case offset >= f.footer, offset+int64(len(b)) <= int64(len(magic)):
		return storage{f}.ReadAt(b, offset)
	}
	if at, ok := slices.BinarySearchFunc(f.columns, offset, func(p *pages, offset int64) int { return p.compare(offset) }); ok {
		return f.columns[at].ReadAt(b, offset)
	}
	at, ok := slices.BinarySearchFunc(f.indexes, offset, func(r region, offset int64) int { return r.compare(offset) })
	if !ok || offset != f.indexes[at].start || offset+int64(len(b)) != f.indexes[at].end {
		return 0, fmt.Errorf("no page or index at byte %d", offset)
	}
	n, err := storage{f}.ReadAt(b, offset)
	if n == len(b) {
		if err = checkThrift(b); err != nil {
			return 0, fmt.Errorf("index at byte %d: %w", offset, err)
		}
	}
	return n, err
}

// Seek returns the pages of a column in a row group, starting with the page that has the given row. The column must have no
// dictionary. The caller closes the pages.
func (f *File) Seek(group, column int, row int64) (found *parquet.FilePages, err error) {
	return found, f.Do(func() error {
		c := f.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
		if _, err := c.OffsetIndex(); err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
			return err
		}
		meta := &f.Metadata().RowGroups[group].Columns[column].MetaData
		at := slices.IndexFunc(f.columns, func(p *pages) bool { return p.column == column && p.data == meta.DataPageOffset })
		if at < 0 {
			return errors.New("a column has no pages")
		}
		// A separate reader has an empty buffer, so the offset from the index is read, and checked, as the start of a page.
		found = c.PagesFrom(&pages{chunk: f.columns[at].chunk, file: f, seeks: true})
		return found.SeekToRow(row)
	})
}

// storage reads the file without checks, and records errors of storage.
type storage struct{ *File }

func (s storage) ReadAt(b []byte, offset int64) (int, error) {
	n, err := s.in.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

func readFull(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// fits fails if a page with this much memory, with the current pages of all other columns, exceeds the limit for the file.
func (f *File) fits(p *pages, memory int64) error {
	memory += f.total - f.taken[p.column].page
	if most := max(leastMemory, min(maxRatio*f.size, mostMemory)); memory > most {
		return fmt.Errorf("its pages need %d bytes of memory; the limit is %d for a file of %d bytes; write it with smaller pages or row groups",
			memory, most, f.size)
	}
	return nil
}

// take records the memory of a page.
func (f *File) take(p *pages, h *format.PageHeader, memory int64) error {
	err := f.fits(p, memory)
	now := &f.taken[p.column].page
	if h.Type == format.DictionaryPage {
		now = &f.taken[p.column].dictionary
	}
	f.total += memory - *now
	*now = memory
	return err
}

// Rows that a reader keeps may take maxRowBytes of memory for each byte of the file, and leastRowBytes for any file.
const (
	maxRowBytes   = 32 << 10
	leastRowBytes = 256 << 20
)

// CheckRows returns an [*InvalidError] if so far more rows were read than a file of this size may have, when the reader
// keeps each of them in the given number of bytes. A few bytes of Parquet can encode billions of equal rows.
func (f *File) CheckRows(rows, bytesPerRow int64) error {
	if most := max(maxRowBytes*f.size, leastRowBytes) / bytesPerRow; rows > most {
		return &InvalidError{fmt.Errorf("it has more than %d rows in %d bytes", most, f.size)}
	}
	return nil
}
