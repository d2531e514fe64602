package countio

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/parquetio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

type parquetRows struct {
	file   *parquetio.File
	names  []string
	types  []parquet.Type
	reader parquet.Rows
	batch  []parquet.Row
	ahead  []parquet.Row // the current row and the rest of the batch
	err    error         // after the batch
	read   int64         // rows
}

func openParquet(f fileio.File, info fileio.Info) (*parquetRows, error) {
	file, err := tableio.Open(f, info.Size)
	if err != nil {
		return nil, err
	}
	r := &parquetRows{file: file, batch: make([]parquet.Row, 256)}
	return r, file.Do(func() error {
		for _, column := range file.Schema().Columns() {
			r.names = append(r.names, column[0])
		}
		for _, field := range file.Schema().Fields() {
			r.types = append(r.types, field.Type())
		}
		r.reader = parquet.NewReader(file.File)
		return nil
	})
}

func (r *parquetRows) header() []string { return r.names }

// numeric is false for decimals, dates and times, whose stored number is not the value.
func (r *parquetRows) numeric(column int) (kind string, ok bool) {
	t := r.types[column]
	logical := t.LogicalType()
	if logical == nil {
		return t.String(), true
	}
	_, ok = logical.Value.(*format.IntType)
	return t.String(), ok
}

func (r *parquetRows) next() error {
	if len(r.ahead) > 0 {
		r.ahead = r.ahead[1:]
	}
	for len(r.ahead) == 0 {
		if r.err != nil {
			return r.err
		}
		r.fill()
	}
	if n := len(r.ahead[0]); n != len(r.names) {
		return fmt.Errorf("has %d values, but there are %d columns", n, len(r.names))
	}
	return nil
}

func (r *parquetRows) fill() {
	r.err = r.file.Do(func() error {
		n, err := r.reader.ReadRows(r.batch)
		r.ahead = r.batch[:n]
		if n == 0 && err == nil {
			err = io.ErrNoProgress
		}
		if err == io.EOF {
			err = cmp.Or(r.reader.Close(), io.EOF)
		}
		return err
	})
	r.read += int64(len(r.ahead))
	if err := r.file.CheckRows(r.read, int64(unsafe.Sizeof(cell{}))); err != nil {
		r.ahead, r.err = nil, err
	}
}

// text accepts whole numbers, as CSV does: labels and features may be numbers.
func (r *parquetRows) text(column int) (string, bool) {
	v := r.ahead[0][column]
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray()), true
	case parquet.Int32, parquet.Int64:
		_, ok := r.numeric(column)
		if r.unsigned(column) {
			return strconv.FormatUint(unsigned(v), 10), ok
		}
		return strconv.FormatInt(signed(v), 10), ok
	}
	return "", false
}

func (r *parquetRows) number(column int) (float64, bool) {
	v := r.ahead[0][column]
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		if r.unsigned(column) {
			return float64(unsigned(v)), true
		}
		return float64(signed(v)), true
	case parquet.Float:
		return float64(v.Float()), true
	case parquet.Double:
		return v.Double(), true
	}
	return 0, false
}

// unsigned reports whether a column has an unsigned type; its values are stored as signed numbers.
func (r *parquetRows) unsigned(column int) bool {
	logical := r.types[column].LogicalType()
	if logical == nil {
		return false
	}
	number, ok := logical.Value.(*format.IntType)
	return ok && !number.IsSigned
}

func signed(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unsigned(v parquet.Value) uint64 {
	if v.Kind() == parquet.Int32 {
		return uint64(v.Uint32())
	}
	return v.Uint64()
}

func (r *parquetRows) shown(column int) string { return printable(r.ahead[0][column].String()) }
