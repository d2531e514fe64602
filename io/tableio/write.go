package tableio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// FileSum describes a written file.
type FileSum struct {
	Name   string `json:"name"` // relative to the output folder
	Size   int64  `json:"size"` // in bytes
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
}

// Checksum returns the size and the SHA-256 of a file. Name is as given; Rows is 0.
func Checksum(ctx context.Context, name string) (sum FileSum, err error) {
	err = fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error {
		hash := sha256.New()
		_, err := io.Copy(hash, io.NewSectionReader(f, 0, info.Size))
		sum = FileSum{Name: name, Size: info.Size, SHA256: hex.EncodeToString(hash.Sum(nil))}
		return err
	})
	return sum, err
}

// FileWriter writes the bytes of one file and computes their checksum.
type FileWriter struct {
	ctx  context.Context
	dir  string
	sum  FileSum
	file fileio.Writer
	hash hash.Hash
}

// CreateFile starts to write dir/name. held is checked again before the file appears.
func CreateFile(ctx context.Context, dir, name string, held fileio.Held) (*FileWriter, error) {
	store, err := fileio.For(dir)
	if err != nil {
		return nil, err
	}
	f, err := store.Create(ctx, fileio.Join(dir, name), fileio.Condition{Absent: true, Held: held})
	if err != nil {
		return nil, err
	}
	return &FileWriter{ctx: ctx, dir: dir, sum: FileSum{Name: name}, file: f, hash: sha256.New()}, nil
}

func (w *FileWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.hash.Write(p[:n]) // never fails
	w.sum.Size += int64(n)
	return n, err
}

// Commit makes the file visible. If the name exists with the same bytes, another attempt at the same run wrote it, and
// Commit succeeds. Other bytes are never replaced: the error wraps [fileio.ErrTaken].
func (w *FileWriter) Commit(rows int64) (FileSum, error) {
	w.sum.SHA256, w.sum.Rows = hex.EncodeToString(w.hash.Sum(nil)), rows
	err := w.file.Commit()
	if errors.Is(err, fs.ErrExist) {
		err = w.compare()
	}
	if err != nil {
		return FileSum{}, err
	}
	return w.sum, nil
}

// compare fails unless the existing file has the same bytes.
func (w *FileWriter) compare() error {
	name := fileio.Join(w.dir, w.sum.Name)
	store, err := fileio.For(name)
	if err != nil {
		return err
	}
	info, err := store.Stat(w.ctx, name)
	if err != nil {
		return err
	}
	if info.Size == w.sum.Size { // another size needs no reading
		found, err := Checksum(w.ctx, name)
		if err != nil || found.SHA256 == w.sum.SHA256 {
			return err
		}
	}
	return fmt.Errorf("%s: exists with different content: %w", name, fileio.ErrTaken)
}

// Abort removes what was written. After Commit it does nothing.
func (w *FileWriter) Abort() { w.file.Abort() }

// Writer writes rows of type T to a Parquet file. The struct tags of T are those of parquet-go.
type Writer[T any] struct {
	out    *FileWriter
	table  *parquet.GenericWriter[T]
	buffer []T
	rows   int64
}

// Create starts to write the table dir/name. held is checked again before the file appears.
func Create[T any](ctx context.Context, dir, name string, held fileio.Held) (*Writer[T], error) {
	out, err := CreateFile(ctx, dir, name, held)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{out: out, table: parquet.NewGenericWriter[T](out, WriterOptions()...), buffer: make([]T, 0, 128)}, nil
}

// SetMetadata adds a key and its value to the metadata of the file.
func (w *Writer[T]) SetMetadata(key, value string) { w.table.SetKeyValueMetadata(key, value) }

// Write adds a row.
func (w *Writer[T]) Write(row T) error {
	w.buffer = append(w.buffer, row)
	if len(w.buffer) < cap(w.buffer) {
		return nil
	}
	return w.flush()
}

func (w *Writer[T]) flush() error {
	n, err := w.table.Write(w.buffer)
	w.rows += int64(n)
	w.buffer = w.buffer[:0]
	return err
}

// EndGroup ends the row group, which limits the memory that large rows take.
func (w *Writer[T]) EndGroup() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.table.Flush()
}

// Commit finishes the table and makes it visible, as [FileWriter.Commit] does.
func (w *Writer[T]) Commit() (FileSum, error) {
	if err := w.flush(); err != nil {
		return FileSum{}, err
	}
	if err := w.table.Close(); err != nil {
		return FileSum{}, err
	}
	return w.out.Commit(w.rows)
}

// Abort removes what was written. After Commit it does nothing.
func (w *Writer[T]) Abort() { w.out.Abort() }
