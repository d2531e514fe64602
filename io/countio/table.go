// Package countio reads and writes counts: the parts that a run writes, and tables of the user's own.
package countio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/parquetio"
)

// FormatVersion is the version of all Parquet files that the project writes. It stands in their metadata.
//
//	1  the first; the encodings of parts may change within it
//	2  feature_id is of another hash: the first took some names for one that were much alike
//	3  feature_id is of another hash: names could be made for which the second forgot eight bytes
const FormatVersion = "3"

// WriterOptions are what makes equal rows equal bytes: nothing in a file depends on the machine, the time or the build.
func WriterOptions() []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.CreatedBy("sparsenb", "format", FormatVersion),
		parquet.KeyValueMetadata("sparsenb.format_version", FormatVersion),
		parquet.Compression(codec),
		parquet.DataPageVersion(1),       // which every reader knows
		parquet.PageBufferSize(64 << 10), // the default, four times as much, costs each of 64 parts 300 KB of memory
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
	}
}

// codec keeps its encoders from one file to the next; each takes half a megabyte to begin.
var codec = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}

// rowsPerGroup keeps a row group of counts, the widest of the tables, below 16 MB in memory.
const rowsPerGroup = 1 << 18

// bytesPerGroup does so where names are long.
const bytesPerGroup = 16 << 20

// FileSum is what is known of a file that was written.
type FileSum struct {
	Name   string `json:"name"` // under the output folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
}

// output is a file while it is written, and what will be known of it.
type output struct {
	ctx  context.Context
	dir  string
	sum  FileSum
	file fileio.Writer
	hash hash.Hash
}

// create starts the file of the given name under dir.
func create(ctx context.Context, dir, name string, held fileio.Held) (*output, error) {
	store, err := fileio.For(dir)
	if err != nil {
		return nil, err
	}
	f, err := store.Create(ctx, fileio.Join(dir, name), fileio.Condition{Absent: true, Held: held})
	if err != nil {
		return nil, err
	}
	return &output{ctx: ctx, dir: dir, sum: FileSum{Name: name}, file: f, hash: sha256.New()}, nil
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	o.hash.Write(p[:n]) // never fails
	o.sum.Size += int64(n)
	return n, err
}

// commit puts the file, to which all has been written, in its place. It replaces nothing: another attempt at the same run
// may have put the same bytes there, and with them the work is done.
func (o *output) commit() (FileSum, error) {
	o.sum.SHA256 = hex.EncodeToString(o.hash.Sum(nil))
	err := o.file.Commit()
	if errors.Is(err, fs.ErrExist) {
		err = o.compare()
	}
	if err != nil {
		return FileSum{}, err
	}
	return o.sum, nil
}

// compare holds that the file which has the name has the same bytes.
func (o *output) compare() error {
	return fileio.With(o.ctx, fileio.Join(o.dir, o.sum.Name), func(f fileio.File, info fileio.Info) error {
		hash := sha256.New()
		if info.Size == o.sum.Size {
			if _, err := io.Copy(hash, io.NewSectionReader(f, 0, info.Size)); err != nil {
				return err
			}
		}
		if hex.EncodeToString(hash.Sum(nil)) != o.sum.SHA256 {
			return fmt.Errorf("%s: is there already, with other bytes: %w", info.Name, fileio.ErrTaken)
		}
		return nil
	})
}

// TableWriter writes rows of type T to a Parquet file.
type TableWriter[T any] struct {
	out    *output
	table  *parquet.GenericWriter[T]
	buffer []T
}

// CreateTable starts the file of the given name under dir, while that is held.
func CreateTable[T any](ctx context.Context, dir, name string, held fileio.Held) (*TableWriter[T], error) {
	out, err := create(ctx, dir, name, held)
	if err != nil {
		return nil, err
	}
	return &TableWriter[T]{out, parquet.NewGenericWriter[T](out, WriterOptions()...), make([]T, 0, 128)}, nil
}

// SetMetadata adds a text to the metadata of the file.
func (w *TableWriter[T]) SetMetadata(key, value string) { w.table.SetKeyValueMetadata(key, value) }

// Write adds a row.
func (w *TableWriter[T]) Write(row T) error {
	w.buffer = append(w.buffer, row)
	if len(w.buffer) < cap(w.buffer) {
		return nil
	}
	return w.flush()
}

func (w *TableWriter[T]) flush() error {
	n, err := w.table.Write(w.buffer)
	w.out.sum.Rows += int64(n)
	w.buffer = w.buffer[:0]
	return err
}

// Commit finishes the file and puts it in its place, where one of the same bytes may be.
func (w *TableWriter[T]) Commit() (FileSum, error) {
	if err := w.flush(); err != nil {
		return FileSum{}, err
	}
	if err := w.table.Close(); err != nil {
		return FileSum{}, err
	}
	return w.out.commit()
}

// Abort leaves nothing behind. After Commit it does nothing.
func (w *TableWriter[T]) Abort() { w.out.file.Abort() }

// ReadTable calls visit with every row of a Parquet file that has the columns of T.
func ReadTable[T any](ctx context.Context, name string, visit func(*T) error) error {
	return fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error { return readTable(f, info, visit) })
}

func readTable[T any](f fileio.File, info fileio.Info, visit func(*T) error) error {
	file, err := parquetio.Open(f, info.Size)
	if err != nil {
		return named(info.Name, err)
	}
	var r *parquet.GenericReader[T]
	err = file.Do(func() error {
		schema := parquet.SchemaOf(new(T))
		for _, column := range schema.Columns() {
			if _, ok := file.Schema().Lookup(column...); !ok {
				return fmt.Errorf("it has no column %q", column[0])
			}
		}
		r = parquet.NewGenericReader[T](file.File, schema)
		return nil
	})
	if err != nil {
		return named(info.Name, err)
	}
	rows := make([]T, 1024)
	total, most := int64(0), file.MostRows(int64(reflect.TypeFor[T]().Size()))
	for {
		var n int
		err := file.Do(func() (err error) {
			if n, err = r.Read(rows); n == 0 && err == nil {
				err = io.ErrNoProgress
			}
			return err
		})
		if total += int64(n); total > most {
			return named(info.Name, tooManyRows(most, info))
		}
		for i := range rows[:n] {
			if err := visit(&rows[i]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return named(info.Name, file.Do(r.Close))
		}
		if err != nil {
			return named(info.Name, err)
		}
	}
}

// Metadata returns a text from the metadata of a Parquet file, or "" if it has none under the key.
func Metadata(ctx context.Context, name, key string) (value string, err error) {
	err = fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error {
		file, err := parquetio.Open(f, info.Size)
		if err != nil {
			return named(info.Name, err)
		}
		value, _ = file.Lookup(key)
		return nil
	})
	return value, err
}

// tooManyRows is what a table is that was made to fill the memory. Rows that differ take more of a file.
func tooManyRows(most int64, info fileio.Info) error {
	return &parquetio.InvalidError{Err: fmt.Errorf("it has more than %d rows in %d bytes", most, info.Size)}
}

// named names the file, which the errors of storage do themselves.
func named(name string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
