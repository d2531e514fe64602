package tableio

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/parquetio"
)

// Open opens a Parquet file and checks its format version. Errors do not name the file, except those of storage; a file
// that cannot be read is a [*parquetio.InvalidError] or a [*VersionError].
func Open(f fileio.File, size int64) (*parquetio.File, error) {
	file, err := parquetio.Open(f, size)
	if err != nil {
		return nil, err
	}
	version, _ := file.Lookup(versionKey)
	return file, CheckVersion(version)
}

// Extended is implemented by types of rows with columns that were added later: files that were written before lack them.
type Extended interface {
	AddedColumns() []string
}

// Read calls visit with every row of a Parquet file that has the columns of T, in file order. A file may lack the added
// columns of an [Extended] T, which are then zero. Errors name the file.
func Read[T any](ctx context.Context, name string, visit func(*T) error) error {
	return with(ctx, name, func(file *parquetio.File) error {
		var r *parquet.GenericReader[T]
		err := file.Do(func() error {
			schema := parquet.SchemaOf(new(T))
			var added []string
			if e, ok := any(*new(T)).(Extended); ok {
				added = e.AddedColumns()
			}
			for _, column := range schema.Columns() {
				if _, ok := file.Schema().Lookup(column...); !ok && !slices.Contains(added, column[0]) {
					return fmt.Errorf("column %q is missing", column[0])
				}
			}
			r = parquet.NewGenericReader[T](file.File, schema)
			return nil
		})
		if err != nil {
			return err
		}
		rows, total := make([]T, 1024), int64(0)
		for {
			var n int
			err := file.Do(func() (err error) {
				if n, err = r.Read(rows); n == 0 && err == nil {
					err = io.ErrNoProgress
				}
				return err
			})
			total += int64(n)
			if err := file.CheckRows(total, int64(reflect.TypeFor[T]().Size())); err != nil {
				return err
			}
			for i := range rows[:n] {
				if err := visit(&rows[i]); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return file.Do(r.Close)
			}
			if err != nil {
				return err
			}
		}
	})
}

// Metadata returns the value of a key in the metadata of a Parquet file, or "" if the key is missing.
func Metadata(ctx context.Context, name, key string) (value string, err error) {
	err = with(ctx, name, func(file *parquetio.File) error {
		value, _ = file.Lookup(key)
		return nil
	})
	return value, err
}

// with opens a table for use, and names it in the error if that does not yet.
func with(ctx context.Context, name string, use func(*parquetio.File) error) error {
	err := fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error {
		file, err := Open(f, info.Size)
		if err != nil {
			return err
		}
		return use(file)
	})
	if err == nil || strings.HasPrefix(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
