package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// Table is a Parquet file of which single columns are read. The others may be nested, or of any type. It decodes pages
// itself, because parquet-go would decompress each page a second time. It is used by one goroutine.
type Table struct {
	Columns []Column // at the top level
	Groups  []Group

	file   *File
	leaves []format.SchemaElement // the columns that have values, also the nested ones
	chunks [][]*pages             // by group and leaf; nil if a chunk is empty
}

// Group is a row group.
type Group struct {
	Start int64 // the first of its bytes in the file; 0 if it has none
	Bytes int64 // compressed, of all columns
	Rows  int64
}

// OpenTable opens a file with size bytes. Its error is that of the storage, or an [*InvalidError].
func OpenTable(r io.ReaderAt, size int64) (*Table, error) {
	f := &File{in: r, size: size}
	t := &Table{file: f}
	return t, f.Do(func() error {
		metadata, start, err := readFooter(storage{f}, size)
		if err != nil {
			return err
		}
		if t.Columns, t.leaves, err = topColumns(metadata.Schema); err != nil {
			return err
		}
		chunks, _, err := findChunks(metadata, t.leaves, start)
		if err != nil {
			return err
		}
		f.taken, f.last = make([]taken, len(t.leaves)), make([]*pages, len(t.leaves))
		return t.addGroups(metadata, chunks)
	})
}

func (t *Table) addGroups(m *format.FileMetaData, chunks []chunk) error {
	total := int64(0)
	for g := range m.RowGroups {
		rows := m.RowGroups[g].NumRows
		if rows > math.MaxInt64-total {
			return errors.New("the row groups announce more than 2^63 rows")
		}
		total += rows
		t.Groups = append(t.Groups, Group{Rows: rows})
		t.chunks = append(t.chunks, make([]*pages, len(t.leaves)))
		for i := range m.RowGroups[g].Columns {
			switch c := &m.RowGroups[g].Columns[i]; {
			case c.FilePath != "":
				return fmt.Errorf("row group %d has its columns in another file", g)
			case c.CryptoMetadata.Value != nil:
				return errEncrypted
			}
		}
	}
	for _, c := range chunks { // sorted by offset
		g := &t.Groups[c.group]
		if g.Bytes == 0 {
			g.Start = c.start
		}
		g.Bytes += c.end - c.start
		t.chunks[c.group][c.column] = &pages{chunk: c, file: t.file}
	}
	return nil
}

// Values returns the values of a column in a row group. It must not be called again before they are read.
func (t *Table) Values(group, column int) *Values {
	c := &t.Columns[column]
	t.file.release(c.leaf)
	v := &Values{pages: t.chunks[group][c.leaf], left: t.Groups[group].Rows, file: t.file, column: c}
	if v.pages != nil {
		v.at = v.pages.start
	}
	return v
}

// release forgets the pages of a column that are not needed any more.
func (f *File) release(column int) {
	f.total -= f.taken[column].page + f.taken[column].dictionary
	f.taken[column] = taken{}
}

// Values are the values of a column in a row group.
type Values struct {
	pages  *pages // nil if there are none
	file   *File
	column *Column
	at     int64 // where the next page starts
	left   int64 // rows that are not in pages read so far

	present    []uint8 // by row of the page: 1, or 0 for null; unless the column is required
	row, rows  int     // of the page
	value      int     // the next, in plain or indexes
	plain      plain
	indexes    []uint32 // of the dictionary, if the page has them
	indexed    bool
	dictionary plain
	body       []byte // memory for pages
}

// Next returns the value of the next row; nil if it is null. Numbers are in little-endian order. The value is valid until the
// next call. There must be a next row, see Group.Rows. The error is that of the storage, or an [*InvalidError]; all later
// calls return an error too.
func (v *Values) Next() ([]byte, error) {
	for v.row == v.rows {
		if err := v.file.Do(v.nextPage); err != nil {
			return nil, err
		}
	}
	row := v.row
	v.row++
	if len(v.present) > 0 && v.present[row]&1 == 0 { // as countPresent counts
		return nil, nil
	}
	i := v.value
	v.value++
	list := &v.plain
	if v.indexed {
		list = &v.dictionary
		i = int(v.indexes[i])
	}
	if i >= list.len() {
		v.row, v.rows, v.at = 0, 0, math.MaxInt64
		return nil, &InvalidError{fmt.Errorf("column %s has value %d of %d", shown(v.column.Name), i, list.len())}
	}
	return list.at(i), nil
}

// Done fails unless all values were read.
func (v *Values) Done() error {
	if v.left == 0 && v.row == v.rows {
		return nil
	}
	return &InvalidError{fmt.Errorf("column %s has more values than its row group has rows", shown(v.column.Name))}
}

// nextPage reads a page with values, or a dictionary.
func (v *Values) nextPage() error {
	if v.pages == nil || v.at >= v.pages.end || v.left == 0 {
		return fmt.Errorf("column %s has fewer values than its row group has rows", shown(v.column.Name))
	}
	at := v.at
	v.at = math.MaxInt64 // until the page is read
	v.file.scratch, v.body = v.body, nil
	h, c, err := v.pages.loadContent(at)
	v.file.scratch, v.body = nil, v.file.scratch
	if err == nil {
		if h.Type == format.DictionaryPage {
			c.values = append([]byte(nil), c.values...) // the memory of the page is used again
			err = v.dictionary.decode(c, v.pages.schema)
		} else {
			err = v.decode(c)
		}
	}
	if err != nil {
		return v.pages.failed(at, err)
	}
	v.at = v.pages.page.end
	return nil
}

func (v *Values) decode(c content) error {
	if int64(c.rows) > v.left {
		return fmt.Errorf("the page has %d values, but only %d rows are left in the row group", c.rows, v.left)
	}
	v.present = v.present[:0]
	if v.pages.optional() {
		var err error
		if v.present, err = appendRuns(v.present, c.levels, c.rows, 1); err != nil {
			return err
		}
	}
	var err error
	if v.indexed = c.encoding == plainDictionary || c.encoding == format.RLEDictionary; v.indexed {
		v.indexes = v.indexes[:0]
		if c.present > 0 {
			v.indexes, err = appendRuns(v.indexes, c.values[1:], c.present, uint(c.values[0]))
		}
	} else {
		err = v.plain.decode(c, v.pages.schema)
	}
	if err != nil {
		return err
	}
	v.left -= int64(c.rows)
	v.row, v.rows, v.value = 0, c.rows, 0
	return nil
}

// checkSum compares a page with its checksum, if it has one.
func checkSum(h *format.PageHeader, body []byte) error {
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(body) {
		return errors.New("the checksum of the page does not match; the file is damaged")
	}
	return nil
}

// appendRuns decodes n values of width bits from the RLE/bit-packing hybrid encoding.
func appendRuns[T uint8 | uint32](to []T, b []byte, n int, width uint) ([]T, error) {
	err := checkRuns(b, n, width, func(run []byte, values int, packed bool) {
		if !packed {
			var value [4]byte
			copy(value[:], run)
			for range values {
				to = append(to, T(binary.LittleEndian.Uint32(value[:])))
			}
			return
		}
		mask := uint64(1)<<width - 1
		for i := range values {
			bit := uint(i) * width
			var word [8]byte
			copy(word[:], run[bit/8:])
			to = append(to, T(binary.LittleEndian.Uint64(word[:])>>(bit%8)&mask))
		}
	})
	return to, err
}
