// Package countio reads and writes counts: the parts that a run writes, and tables of the user's own.
package countio

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/sparsenb/sparsenb/io/fileio"
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

func readTable[T any](f fileio.File, info fileio.Info, visit func(*T) error) (err error) {
	// What is not a Parquet file, or a damaged one, may also make the library panic. A panic of visit, which is how Beam
	// stops a bundle, is not ours.
	visiting := false
	defer func() {
		if visiting {
			return
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: not a readable Parquet file: %v", info.Name, p)
		}
	}()
	file, err := openFile(f, info)
	if err != nil {
		return fmt.Errorf("%s: not a readable Parquet file: %w", info.Name, err)
	}
	schema := parquet.SchemaOf(new(T))
	for _, column := range schema.Columns() {
		if _, ok := file.Schema().Lookup(column...); !ok {
			return fmt.Errorf("%s: has no column %q", info.Name, column[0])
		}
	}
	r := parquet.NewGenericReader[T](file, schema)
	rows := make([]T, 1024)
	for {
		n, err := r.Read(rows)
		visiting = true
		for i := range rows[:n] {
			if err := visit(&rows[i]); err != nil {
				return err
			}
		}
		visiting = false
		if err == io.EOF {
			return r.Close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
}

// Metadata returns a text from the metadata of a Parquet file, or "" if it has none under the key.
func Metadata(ctx context.Context, name, key string) (value string, err error) {
	err = fileio.With(ctx, name, func(f fileio.File, info fileio.Info) (err error) {
		defer unpanic(&err)
		file, err := openFile(f, info)
		if err != nil {
			return err
		}
		value, _ = file.Lookup(key)
		return nil
	})
	return value, err
}

// openFile opens a Parquet file whose footer is no longer than the file: the library would believe a damaged one, and take
// up to 4 GB of memory for it.
func openFile(f fileio.File, info fileio.Info) (*parquet.File, error) {
	const magics = 4 + 4 + 4 // at the start, and at the end behind the length of the footer
	if info.Size < magics {
		return nil, fmt.Errorf("it has %d bytes only", info.Size)
	}
	var length [4]byte
	if _, err := f.ReadAt(length[:], info.Size-8); err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(length[:]); int64(n) > info.Size-magics {
		return nil, fmt.Errorf("its footer is said to have %d bytes, and the whole file has %d", n, info.Size)
	}
	return parquet.OpenFile(f, info.Size)
}
