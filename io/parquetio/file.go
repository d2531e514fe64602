// Package parquetio opens Parquet files that nobody vouches for. A Parquet file says of itself how much there is of
// everything, and parquet-go takes memory for what is said, calls itself for what is nested, and panics where the rest
// does not fit: ten kilobytes may end the process. This package reads ahead of the library. It hands over a footer, an
// index or a page when these have been found to be what they say, and to need little memory.
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

// File is a Parquet file with a flat table. It is read by one goroutine.
type File struct {
	*parquet.File
	in      io.ReaderAt
	size    int64
	footer  int64    // where it starts
	columns []*pages // of all row groups, in the order in which they stand in the file
	indexes []region // the same of the offset indexes
	failed  error    // of the storage
	taken   []taken  // by column of the table
	last    []*pages // that were read, by column
	scratch []byte
}

// taken is the memory for a page of a column and for its dictionary.
type taken struct{ page, dictionary int64 }

// InvalidError is a file that cannot be read, and that no other attempt will read.
type InvalidError struct{ Err error }

// Error says why.
func (e *InvalidError) Error() string {
	return "not a readable Parquet file: " + strings.ReplaceAll(e.Err.Error(), "\n", " ")
}

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// Open opens a file of the given size. Its page index and Bloom filters are not read.
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
		chunks, indexes, err := findChunks(metadata, start)
		if err != nil {
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

// Do calls read, which reads from the file through parquet-go and does nothing else. The error is nil, io.EOF, one of the
// storage, or an *InvalidError: a panic of the library is one, too.
func (f *File) Do(read func() error) (err error) {
	// Some decoders of the library are in assembly: where they read beyond their memory, that shall be a panic as well.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it makes the Parquet library panic: %v", p)
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

// ReadAt reads for parquet-go, which gets to see what has been checked.
func (f *File) ReadAt(b []byte, offset int64) (int, error) {
	switch {
	case offset < 0:
		return 0, fmt.Errorf("it is read at byte %d", offset)
	case offset >= f.footer, offset+int64(len(b)) <= int64(len(magic)):
		return storage{f}.ReadAt(b, offset)
	}
	if at, ok := slices.BinarySearchFunc(f.columns, offset, func(p *pages, offset int64) int { return p.compare(offset) }); ok {
		return f.columns[at].ReadAt(b, offset)
	}
	at, ok := slices.BinarySearchFunc(f.indexes, offset, func(r region, offset int64) int { return r.compare(offset) })
	if !ok || offset != f.indexes[at].start || offset+int64(len(b)) != f.indexes[at].end {
		return 0, fmt.Errorf("it has nothing of the table at byte %d", offset)
	}
	n, err := storage{f}.ReadAt(b, offset)
	if n == len(b) {
		if err = checkThrift(b); err != nil {
			return 0, fmt.Errorf("its index at byte %d: %w", offset, err)
		}
	}
	return n, err
}

// Seek returns the pages of a column in a row group from that on which has a row. They are for columns without a
// dictionary, and are closed by the caller.
func (f *File) Seek(group, column int, row int64) (found *parquet.FilePages, err error) {
	return found, f.Do(func() error {
		c := f.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
		if _, err := c.OffsetIndex(); err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
			return err
		}
		meta := &f.Metadata().RowGroups[group].Columns[column].MetaData
		at := slices.IndexFunc(f.columns, func(p *pages) bool { return p.column == column && p.data == meta.DataPageOffset })
		if at < 0 {
			return errors.New("it has no pages in a column")
		}
		// These pages have a reader of their own, which has nothing in a buffer: what the index says is a start is read
		// as one, and is checked as one.
		found = c.PagesFrom(&pages{chunk: f.columns[at].chunk, file: f, seeks: true})
		return found.SeekToRow(row)
	})
}

// storage is the file as it is. It remembers if it could not be read.
type storage struct{ *File }

func (s storage) ReadAt(b []byte, offset int64) (int, error) {
	n, err := s.in.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// readFull fills b from an offset.
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

// fits holds that so much memory for a page of a column, beside that for the others, is not too much for the file.
func (f *File) fits(p *pages, memory int64) error {
	for column, t := range f.taken {
		memory += t.dictionary
		if column != p.column {
			memory += t.page
		}
	}
	if most := max(leastMemory, min(maxRatio*f.size, mostMemory)); memory > most {
		return fmt.Errorf("its pages take %d bytes of memory, and at most %d are used for a file of %d bytes; write it with smaller pages or row groups",
			memory, most, f.size)
	}
	return nil
}

// take notes the memory for a page.
func (f *File) take(p *pages, h *format.PageHeader, memory int64) error {
	err := f.fits(p, memory)
	if h.Type == format.DictionaryPage {
		f.taken[p.column].dictionary = memory
	} else {
		f.taken[p.column].page = memory
	}
	return err
}

// maxRowBytes is how much memory rows may take for each byte of the file, and leastRowBytes what they may in any case.
const (
	maxRowBytes   = 32 << 10
	leastRowBytes = 256 << 20
)

// MostRows is how many rows a file may have if each of them takes so many bytes of memory for good.
func (f *File) MostRows(bytes int64) int64 {
	return max(maxRowBytes*f.size, leastRowBytes) / bytes
}
