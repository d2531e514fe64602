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
	trailing = 4 + len(magic) // bytes behind the footer: its length and the magic

	// maxFooter is the longest footer. A column of a row group takes about 100 bytes of it.
	maxFooter = 16 << 20

	// maxStructs and maxValues are how many the lists of a footer or of a page index may have. They take up to 140 MB and
	// 100 MB; a table of 1,000 columns reaches the first with 80 row groups.
	maxStructs = 1 << 18
	maxValues  = 1 << 22

	// maxFixed is the most bytes of a value of a fixed length.
	maxFixed = 1 << 16
)

// readFooter reads the metadata of a file, and returns where they begin.
func readFooter(r io.ReaderAt, size int64) (m *format.FileMetaData, start int64, err error) {
	if size < int64(len(magic)+trailing) {
		return nil, 0, fmt.Errorf("it has %d bytes only", size)
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
		return nil, 0, errors.New("it is encrypted")
	case string(head) != magic || end != magic:
		return nil, 0, fmt.Errorf("it starts with %q and ends with %q, not with %s", head, end, magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	start = size - int64(trailing) - length
	if start < int64(len(magic)) {
		return nil, 0, fmt.Errorf("its footer is said to have %d bytes, and the whole file has %d", length, size)
	}
	if length > maxFooter {
		return nil, 0, fmt.Errorf("its footer has %d bytes, and %d are the most; write it with fewer and larger row groups", length, maxFooter)
	}
	b := make([]byte, length)
	if err := readFull(r, b, start); err != nil {
		return nil, 0, err
	}
	if err := checkThrift(b); err != nil {
		return nil, 0, fmt.Errorf("its footer: %w", err)
	}
	m = &format.FileMetaData{}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b, m); err != nil {
		return nil, 0, fmt.Errorf("its footer: %w", err)
	}
	return m, start, nil
}

// checkThrift holds that b is one struct which can be decoded with little memory.
func checkThrift(b []byte) error {
	m, err := measure(b)
	switch {
	case err != nil:
		return err
	case m.bytes != len(b):
		return fmt.Errorf("the Thrift metadata end %d bytes before their place does", len(b)-m.bytes)
	case m.structs > maxStructs || m.values > maxValues:
		return fmt.Errorf("its lists have %d structs and %d values, and %d and %d are the most; write the file with fewer and larger row groups or pages",
			m.structs, m.values, maxStructs, maxValues)
	}
	return nil
}

// checkSchema holds that the table is flat: a root, and columns directly under it.
func checkSchema(schema []format.SchemaElement) error {
	if len(schema) == 0 {
		return errors.New("it has no schema")
	}
	if n := schema[0].NumChildren.V; int(n) != len(schema)-1 {
		for _, c := range schema[1:] {
			if c.NumChildren.V > 0 || !c.Type.Valid {
				return fmt.Errorf("column %s is nested; only flat tables can be read", shown(c.Name))
			}
		}
		return fmt.Errorf("it is said to have %d columns, and describes %d", n, len(schema)-1)
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
			return fmt.Errorf("the values of column %s have a length of %d; 1 to %d is possible", shown(c.Name), c.TypeLength.V, maxFixed)
		}
	}
	return nil
}

// shown is the name of a column for a message, of which it must not make more than a line.
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

// region is a part of the file.
type region struct{ start, end int64 }

func (r region) has(offset int64) bool { return r.start <= offset && offset < r.end }

// compare finds the region that has an offset, in a sorted list.
func (r region) compare(offset int64) int {
	switch {
	case r.end <= offset:
		return -1
	case r.start > offset:
		return 1
	}
	return 0
}

// chunk is a column of a row group.
type chunk struct {
	region
	column int
	data   int64 // where its data begin; a dictionary may come before
	meta   *format.ColumnMetaData
	schema *format.SchemaElement
}

// findChunks returns the columns of all row groups, in the order in which they stand in the file, and the places of the
// offset indexes. All of them lie before the footer, and no two columns share a byte.
func findChunks(m *format.FileMetaData, end int64) (chunks []chunk, indexes []region, err error) {
	columns := m.Schema[1:]
	for g, group := range m.RowGroups {
		if group.NumRows < 0 || len(group.Columns) != len(columns) {
			return nil, nil, fmt.Errorf("row group %d has %d rows and %d columns, and the schema has %d", g, group.NumRows, len(group.Columns), len(columns))
		}
		for i := range group.Columns {
			c := chunk{column: i, meta: &group.Columns[i].MetaData, schema: &columns[i]}
			if c.meta.Codec != m.RowGroups[0].Columns[i].MetaData.Codec {
				return nil, nil, fmt.Errorf("row group %d, column %s: it is compressed by %s, and the column before by %s",
					g, shown(c.schema.Name), c.meta.Codec, m.RowGroups[0].Columns[i].MetaData.Codec)
			}
			c.start, c.data = c.meta.DataPageOffset, c.meta.DataPageOffset
			if c.meta.DictionaryPageOffset != 0 {
				c.start = c.meta.DictionaryPageOffset
			}
			size := c.meta.TotalCompressedSize
			if size < 0 || c.meta.NumValues < 0 || size > 0 && (c.start < int64(len(magic)) || c.data < c.start || size > end-c.start || c.data-c.start >= size) {
				return nil, nil, fmt.Errorf("row group %d, column %s: its %d bytes at %d, with data from %d on, do not lie before the footer at %d",
					g, shown(c.schema.Name), size, c.start, c.data, end)
			}
			if c.end = c.start + size; size > 0 {
				chunks = append(chunks, c)
			}
			if at, n := group.Columns[i].OffsetIndexOffset, int64(group.Columns[i].OffsetIndexLength); at != 0 {
				if n < 0 || at < int64(len(magic)) || at > end || n > end-at {
					return nil, nil, fmt.Errorf("row group %d, column %s: the %d bytes of its index at %d do not lie before the footer at %d", g, shown(c.schema.Name), n, at, end)
				}
				indexes = append(indexes, region{at, at + n})
			}
		}
	}
	slices.SortFunc(chunks, func(a, b chunk) int { return cmp.Compare(a.start, b.start) })
	for i := range chunks {
		if i > 0 && chunks[i].start < chunks[i-1].end {
			return nil, nil, fmt.Errorf("two columns share the byte at %d", chunks[i].start)
		}
	}
	slices.SortFunc(indexes, func(a, b region) int { return cmp.Compare(a.start, b.start) })
	return chunks, indexes, nil
}
