package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sparsenb/sparsenb/internal/hostile"
)

// readAll reads all rows, up to a limit, as tables of counts are read.
func readAll(b []byte, most int) (rows []parquet.Row, err error) {
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var r *parquet.Reader //lint:ignore SA1019 it reads rows without a type
	if err := f.Do(func() error { r = parquet.NewReader(f.File); return nil }); err != nil {
		return nil, err
	}
	batch := make([]parquet.Row, 64)
	for len(rows) < most {
		var n int
		err := f.Do(func() (err error) {
			if n, err = r.ReadRows(batch); n == 0 && err == nil {
				err = io.ErrNoProgress
			}
			return err
		})
		for _, row := range batch[:n] {
			rows = append(rows, row.Clone())
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// seekAll reads the first column page by page, as names are read.
func seekAll(b []byte) error {
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for g, group := range f.RowGroups() {
		for row := int64(0); row < min(group.NumRows(), 1000); row += 7 {
			pages, err := f.Seek(g, 0, row)
			if err != nil {
				return err
			}
			err = f.Do(func() error {
				page, err := pages.ReadPage()
				parquet.Release(page)
				return err
			})
			if err != nil {
				return err
			}
			if err := pages.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestHostileFiles(t *testing.T) {
	for what, b := range hostile.Files() {
		var err error
		if n := hostile.Allocated(func() { _, err = readAll(b, 1<<20) }); n > hostile.MostMemory {
			t.Errorf("%s: %d MB were taken", what, n>>20)
		}
		// A wrong number of rows is tolerated, anything else is not.
		if err == nil && what != "a number of rows" {
			t.Errorf("%s: no error", what)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
		if n := hostile.Allocated(func() { _ = seekAll(b) }); n > hostile.MostMemory {
			t.Errorf("%s: to seek took %d MB", what, n>>20)
		}
	}
}

type numbered struct {
	Feature string   `parquet:"feature"`
	Plain   int64    `parquet:"plain"`
	Delta   int64    `parquet:"delta,delta"`
	Narrow  int32    `parquet:"narrow,delta"`
	Coded   string   `parquet:"coded,dict"`
	Many    string   `parquet:"many,dict"`
	Prefix  string   `parquet:"prefix,delta"`
	Maybe   *float64 `parquet:"maybe,optional"`
	Seldom  *int64   `parquet:"seldom,optional,dict"`
	Split   float64  `parquet:"split,split"`
	Fixed   [3]byte  `parquet:"fixed"`
	Yes     bool     `parquet:"yes"`
}

func someNumbered(n int) (rows []numbered) {
	for i := range n {
		r := numbered{
			Feature: fmt.Sprint("word ", i), Plain: int64(i), Delta: int64(i) * int64(i) << 20, Narrow: int32(-i), Coded: fmt.Sprint(i % 7), Many: fmt.Sprintf("%020d", i), Prefix: fmt.Sprintf("%08d", i),
			Split: float64(i) / 3, Fixed: [3]byte{byte(i), byte(i >> 8), 3}, Yes: i%3 == 0,
		}
		if i%5 > 0 {
			x := float64(i) / 7
			r.Maybe = &x
		}
		if i%100 == 50 {
			x := int64(i % 11)
			r.Seldom = &x
		}
		rows = append(rows, r)
	}
	return rows
}

func encoded(t testing.TB, rows []numbered, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[numbered](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// variants are ways to write a file.
func variants() iter.Seq2[string, []parquet.WriterOption] {
	return func(yield func(string, []parquet.WriterOption) bool) {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
			for _, version := range []int{1, 2} {
				for _, rows := range []int64{50, 100_000} {
					options := []parquet.WriterOption{
						parquet.Compression(codec), parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(rows), parquet.PageBufferSize(300),
					}
					if !yield(fmt.Sprintf("%s, version %d, row groups of %d", codec, version, rows), options) {
						return
					}
				}
			}
		}
	}
}

// Files with every codec and encoding are read.
func TestValidFiles(t *testing.T) {
	rows, schema := someNumbered(700), parquet.SchemaOf(numbered{})
	for what, options := range variants() {
		b := encoded(t, rows, options...)
		got, err := readAll(b, 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i, row := range got {
			if !row.Equal(schema.Deconstruct(nil, &rows[i])) {
				t.Fatalf("%s: row %d is %v", what, i, row)
			}
		}
		if len(got) != len(rows) {
			t.Fatalf("%s: %d rows", what, len(got))
		}
		if err := seekAll(b); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// parquet-go reads a dictionary when it has read the first page of data, and goes on behind that page: whether its buffer
// has more of the file by then or not.
func TestLateDictionaries(t *testing.T) {
	type coded struct {
		Name string `parquet:"name,dict"`
		Text string `parquet:"text,dict"`
	}
	var rows []coded
	for i := range 40_000 {
		rows = append(rows, coded{fmt.Sprint("word ", i), fmt.Sprint(i % 3)})
	}
	for _, size := range []int{1000, 5000, 20_000, 60_000} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[coded](&b, parquet.PageBufferSize(size), parquet.Compression(&parquet.Snappy))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(b.Bytes(), 1<<20)
		if err != nil || len(got) != len(rows) {
			t.Fatalf("pages of %d bytes: %d rows, %v", size, len(got), err)
		}
		for i, row := range got {
			if row[0].String() != rows[i].Name || row[1].String() != rows[i].Text {
				t.Fatalf("pages of %d bytes: row %d is %v", size, i, row)
			}
		}
	}
}

// A changed byte is an error or another value, and takes no more memory.
func TestEveryByteChanged(t *testing.T) {
	for _, options := range [][]parquet.WriterOption{
		{parquet.Compression(&parquet.Uncompressed), parquet.DataPageVersion(1)},
		{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(2)},
	} {
		b := encoded(t, someNumbered(12), options...)
		step := 1
		if testing.Short() {
			step = 7
		}
		for i := 0; i < len(b); i += step {
			flip := []byte{1, 0x80, 0xff}[i%3]
			b[i] ^= flip
			n := hostile.Allocated(func() {
				if _, err := readAll(b, 1000); err != nil && strings.Contains(err.Error(), "\n") {
					t.Error(err)
				}
				_ = seekAll(b)
			})
			if n > hostile.MostMemory {
				t.Errorf("byte %d: %d MB", i, n>>20)
			}
			b[i] ^= flip
		}
	}
}

// failing is a disk that fails after some byte.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("input/output error")

func (f failing) ReadAt(b []byte, offset int64) (int, error) {
	if offset+int64(len(b)) > f.from && offset < f.from+8 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, offset)
}

// A disk error is not reported as damaged data.
func TestStorageErrors(t *testing.T) {
	b := encoded(t, someNumbered(100))
	step := int64(13)
	if testing.Short() {
		step = 101
	}
	for from := int64(0); from < int64(len(b)); from += step {
		f, err := Open(failing{bytes.NewReader(b), from}, int64(len(b)))
		if err == nil {
			r := parquet.NewReader(f.File)
			batch := make([]parquet.Row, 1000)
			for err == nil {
				err = f.Do(func() (err error) { _, err = r.ReadRows(batch); return err })
			}
		}
		if errors.As(err, new(*InvalidError)) || err != io.EOF && err != errDisk {
			t.Fatalf("byte %d: %v", from, err)
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		b    string
		want string // the error, or none
	}{
		{"\x00", ""},
		{"\x15\x02\x00", ""},
		{"\x05\x02\x02\x00", ""},                         // with the number of the field
		{"\x11\x12\x00", ""},                             // truth values take no more
		{"\x19\x21\x01\x02\x00", ""},                     // but in lists they do
		{"\x1b\x02\x85\x01a\x02\x01b\x04\x00", ""},       // a map
		{"\x1b\x00\x00", ""},                             // an empty one
		{"\x17\x01\x02\x03\x04\x05\x06\x07\x08\x00", ""}, // a double
		{"", "truncated"},
		{"\x15", "truncated"},
		{"\x15\x02", "truncated"},
		{"\x18\x05abc\x00", "truncated"},
		{"\x19\xf5\xff\xff\xff\xff\x0f\x00", "truncated"},
		{"\x1b\xff\xff\xff\xff\x0f\x55\x00", "truncated"},
		{"\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", "more than 64 bits"},
		{"\x1e\x00", "unknown type 14"},
		{strings.Repeat("\x1c", 31) + strings.Repeat("\x00", 32), ""},
		{strings.Repeat("\x1c", 32) + strings.Repeat("\x00", 33), "nested more than 32"},
		{strings.Repeat("\x19\x19", 40), "nested more than 32"},
	} {
		m, err := measure([]byte(c.b))
		if c.want == "" && (err != nil || m.bytes != len(c.b)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %+v, %v; want %q", c.b, m, err, c.want)
		}
	}
}

// FuzzMeasure checks that the library decodes what measure accepts, to the same length or to an error.
func FuzzMeasure(f *testing.F) {
	for _, rows := range []int{0, 3} {
		b := encoded(f, someNumbered(rows))
		n := len(b) - 8 - int(uint32(b[len(b)-8])|uint32(b[len(b)-7])<<8)
		f.Add(b[n : len(b)-8])
	}
	f.Add([]byte("\x1b\x02\x85\x01a\x02\x01b\x04\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		m, err := measure(b)
		if err != nil || m.structs > maxStructs {
			return
		}
		for _, v := range []any{&format.FileMetaData{}, &format.PageHeader{}, &format.OffsetIndex{}} {
			if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b[:m.bytes], v); err != nil && strings.Contains(err.Error(), "trailing") {
				t.Errorf("%d bytes: %v", m.bytes, err)
			}
		}
	})
}

// FuzzFile checks that reading any file returns rows or an error, in little memory.
func FuzzFile(f *testing.F) {
	files := hostile.Files()
	for _, what := range slices.Sorted(maps.Keys(files)) {
		if b := files[what]; len(b) < 100_000 {
			f.Add(b)
		}
	}
	for _, options := range variants() {
		f.Add(encoded(f, someNumbered(12), options...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := hostile.Allocated(func() {
			if _, err := readAll(b, 10_000); err != nil && strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
			_ = seekAll(b)
		})
		if n > 2*hostile.MostMemory {
			t.Errorf("%d MB were taken", n>>20)
		}
	})
}
