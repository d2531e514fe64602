package parquetio

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic    = "PAR1"
	trailing = 4 + len(magic) // the length of the footer and the magic follow it

	// maxFooter is the maximum length of a footer. It has about 100 bytes for each column of a row group.
	maxFooter = 16 << 20

	// maxStructs and maxValues limit the lists of a footer or of a page index, to 140 MB and 100 MB of memory. A table with
	// 1,000 columns reaches the first limit at 80 row groups.
	maxStructs = 1 << 18
	maxValues  = 1 << 22

	// maxFixed is the maximum length of FIXED_LEN_BYTE_ARRAY values.
	maxFixed = 1 << 16
)

// errEncrypted is the error for a file with an encrypted footer or column.
var errEncrypted = errors.New("the file is encrypted; decrypt it")

// readFooter returns the metadata of a file and their offset.
func readFooter(r io.ReaderAt, size int64) (m *format.FileMetaData, start int64, err error) {
	if size < int64(len(magic)+trailing) {
		return nil, 0, fmt.Errorf("the file has only %d bytes", size)
	}
	head, tail := make([]byte, len(magic)), make([]byte, trailing)
	if err := readFull(r, head, 0); err != nil {
		return nil, 0, err
	}
	if err := readFull(r, tail, size-int64(trailing)); err != nil {
		return nil, 0, err
	}
	switch end := string(tail[4:]); {
	case end == "PARE":
		return nil, 0, errEncrypted
	case end != magic && string(head) == magic:
		return nil, 0, fmt.Errorf("the file does not end with %s; it is probably truncated", magic)
	case string(head) != magic || end != magic:
		return nil, 0, fmt.Errorf("the file starts with %q and ends with %q, not with %s", head, end, magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	start = size - int64(trailing) - length
	if start < int64(len(magic)) {
		return nil, 0, fmt.Errorf("the footer length %d exceeds the file size %d", length, size)
	}
	if length > maxFooter {
		return nil, 0, fmt.Errorf("the footer has %d bytes; the maximum is %d; write the file with fewer, larger row groups", length, maxFooter)
	}
	b := make([]byte, length)
	if err := readFull(r, b, start); err != nil {
		return nil, 0, err
	}
	if err := checkThrift(b); err != nil {
		return nil, 0, fmt.Errorf("footer: %w", err)
	}
	m = &format.FileMetaData{}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b, m); err != nil {
		return nil, 0, fmt.Errorf("footer: %w", err)
	}
	return m, start, nil
}

// checkThrift fails unless b is one struct that can be decoded in little memory.
func checkThrift(b []byte) error {
	m, err := measure(b)
	switch {
	case err != nil:
		return err
	case m.bytes != len(b):
		return fmt.Errorf("%d bytes follow the Thrift metadata", len(b)-m.bytes)
	case m.structs > maxStructs || m.values > maxValues:
		return fmt.Errorf("lists with %d structs and %d values; the maximum is %d and %d; write the file with fewer, larger row groups or pages",
			m.structs, m.values, maxStructs, maxValues)
	}
	return nil
}

// checkSchema fails unless the table is flat: a root with columns directly below it.
func checkSchema(schema []format.SchemaElement) error {
	if len(schema) == 0 {
		return errors.New("the schema is missing")
	}
	if n := schema[0].NumChildren.V; int(n) != len(schema)-1 {
		for _, c := range schema[1:] {
			if c.NumChildren.V > 0 || !c.Type.Valid {
				return fmt.Errorf("column %s is nested; only flat tables can be read", shown(c.Name))
			}
		}
		return fmt.Errorf("the schema announces %d columns but has %d", n, len(schema)-1)
	}
	for _, c := range schema[1:] {
		switch {
		case c.NumChildren.V != 0 || !c.Type.Valid:
			return fmt.Errorf("column %s is nested; only flat tables can be read", shown(c.Name))
		case c.RepetitionType.V == format.Repeated:
			return fmt.Errorf("column %s is repeated; only flat tables can be read", shown(c.Name))
		case c.RepetitionType.V < 0 || c.RepetitionType.V > format.Repeated || c.Type.V < 0 || c.Type.V > format.FixedLenByteArray:
			return fmt.Errorf("column %s has an unknown type", shown(c.Name))
		case c.Type.V == format.FixedLenByteArray && (c.TypeLength.V < 1 || c.TypeLength.V > maxFixed):
			return fmt.Errorf("the values of column %s have %d bytes; the limits are 1 to %d", shown(c.Name), c.TypeLength.V, maxFixed)
		}
	}
	return nil
}

// shown returns the name of a column for an error message of one line.
func shown(name string) string {
	const longest = 60
	if utf8.RuneCountInString(name) > longest {
		return fmt.Sprintf("%.*q…", longest, name)
	}
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// region is a range of bytes of the file.
type region struct{ start, end int64 }

func (r region) has(offset int64) bool { return r.start <= offset && offset < r.end }

// compare is for a binary search of the region with an offset.
func (r region) compare(offset int64) int {
	switch {
	case r.end <= offset:
		return -1
	case r.start > offset:
		return 1
	}
	return 0
}

type chunk struct {
	region
	group  int
	column int
	data   int64 // offset of the first data page; a dictionary may come before it
	meta   *format.ColumnMetaData
	schema *format.SchemaElement
}

// checkCodecs fails unless each column has the same compression in all row groups, which parquet-go assumes.
func checkCodecs(m *format.FileMetaData) error {
	for g, group := range m.RowGroups {
		for i := range group.Columns {
			if codec, first := group.Columns[i].MetaData.Codec, m.RowGroups[0].Columns[i].MetaData.Codec; codec != first {
				return fmt.Errorf("row group %d, column %s: compressed with %s, but with %s in the first row group", g, shown(m.Schema[i+1].Name), codec, first)
			}
		}
	}
	return nil
}

// findChunks returns the columns of all row groups and the offset indexes, both by offset. All of them end before the
// footer, and no two columns overlap.
func findChunks(m *format.FileMetaData, columns []format.SchemaElement, end int64) (chunks []chunk, indexes []region, err error) {
	for g, group := range m.RowGroups {
		if group.NumRows < 0 || len(group.Columns) != len(columns) {
			return nil, nil, fmt.Errorf("row group %d has %d rows and %d columns, but the schema has %d columns", g, group.NumRows, len(group.Columns), len(columns))
		}
		for i := range group.Columns {
			c := chunk{group: g, column: i, meta: &group.Columns[i].MetaData, schema: &columns[i]}
			c.start, c.data = c.meta.DataPageOffset, c.meta.DataPageOffset
			if c.meta.DictionaryPageOffset != 0 {
				c.start = c.meta.DictionaryPageOffset
			}
			if group.NumRows == 0 { // writers leave offsets out
				continue
			}
			size := c.meta.TotalCompressedSize
			if size < 0 || c.meta.NumValues < 0 || size > 0 && (c.start < int64(len(magic)) || c.data < c.start || size > end-c.start || c.data-c.start >= size) {
				return nil, nil, fmt.Errorf("row group %d, column %s: %d bytes at %d, with data at %d, do not end before the footer at %d",
					g, shown(c.schema.Name), size, c.start, c.data, end)
			}
			if c.end = c.start + size; size > 0 {
				chunks = append(chunks, c)
			}
			if at, n := group.Columns[i].OffsetIndexOffset, int64(group.Columns[i].OffsetIndexLength); at != 0 {
				if n < 0 || at < int64(len(magic)) || at > end || n > end-at {
					return nil, nil, fmt.Errorf("row group %d, column %s: the index, %d bytes at %d, does not end before the footer at %d", g, shown(c.schema.Name), n, at, end)
				}
				indexes = append(indexes, region{at, at + n})
			}
		}
	}
	slices.SortFunc(chunks, func(a, b chunk) int { return cmp.Compare(a.start, b.start) })
	for i := range chunks {
		if i > 0 && chunks[i].start < chunks[i-1].end {
			return nil, nil, fmt.Errorf("two columns overlap at byte %d", chunks[i].start)
		}
	}
	slices.SortFunc(indexes, func(a, b region) int { return cmp.Compare(a.start, b.start) })
	return chunks, indexes, nil
}
