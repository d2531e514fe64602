// Package hostile has malformed Parquet files for tests: tables of counts with the columns feature, a and b, whose metadata
// announce more than they contain.
package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"runtime/metrics"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// MostMemory is the limit, in bytes, for all allocations while one of the files is refused.
const MostMemory = 192 << 20

// Allocated returns how many bytes the process allocates while do runs. Unlike runtime.ReadMemStats it does not stop the
// world, which tests that call it for every byte of a file would wait for most of their time.
func Allocated(do func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	do()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// Files returns the files, by what is wrong with them.
func Files() map[string][]byte {
	files := map[string][]byte{
		"2^31 columns":      withFooter(nil, append([]byte{0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7}, make([]byte, 100)...)),
		"nested structs":    withFooter(nil, bytes.Repeat([]byte{0x1c}, 10<<20)),
		"nested lists":      withFooter(nil, append([]byte{0xf9}, bytes.Repeat([]byte{0x19}, 10<<20)...)),
		"structs of a byte": withFooter(nil, structs(600_000)),
		"no footer":         []byte(magic + "\xff\xff\xff\x7f" + magic),
		"encrypted":         []byte("PARE\x00\x00\x00\x00PARE"),
	}
	for what, change := range map[string]func(*format.FileMetaData){
		"a column beyond the end": func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.TotalCompressedSize = 1 << 40 },
		"a column before the start": func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[1].MetaData.DataPageOffset = -5
		},
		"columns that share bytes": func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[2].MetaData = m.RowGroups[0].Columns[1].MetaData
		},
		"an index beyond the end": func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].OffsetIndexOffset, m.RowGroups[0].Columns[0].OffsetIndexLength = 4, 1<<30
		},
		"a chain of columns": func(m *format.FileMetaData) {
			for range 100_000 {
				m.Schema = append(m.Schema, format.SchemaElement{Name: "x", NumChildren: thrift.New[int32](1)})
			}
		},
		"fixed length": func(m *format.FileMetaData) {
			m.Schema[1].Type, m.Schema[1].TypeLength = thrift.New(format.FixedLenByteArray), thrift.New[int32](1<<30)
		},
		"a row group without columns": func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil },
		"a number of rows":            func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<62, 1<<62 },
		"another compression":         func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.Codec = 99 },
	} {
		files[what] = table(feature(), numbers(), change)
	}
	for what, c := range damagedColumns() {
		files[what] = table(feature(), c, nil)
	}
	for what, c := range damagedNames() {
		files[what] = table(c, numbers(), nil)
	}
	return files
}

// column is a column with one page, and a dictionary page unless dictionary is nil.
type column struct {
	codec      format.CompressionCodec
	optional   bool
	dictionary []byte
	header     format.PageHeader
	raw        []byte // instead of the header
	body       []byte
	values     int64 // announced in the metadata
}

func feature() column {
	return column{header: data(2, format.Plain), body: []byte("\x01\x00\x00\x00x\x01\x00\x00\x00y"), values: 2}
}

func numbers() column {
	return column{header: data(2, format.Plain), body: binary.LittleEndian.AppendUint64(make([]byte, 8), 7), values: 2}
}

func data(n int32, encoding format.Encoding) format.PageHeader {
	return format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: n, Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
}

// damagedColumns returns malformed columns of counts.
func damagedColumns() map[string]column {
	const many = 1<<31 - 1
	run := binary.AppendUvarint([]byte{1}, many<<1) // of a width of one bit
	run = append(run, 0)
	delta := binary.AppendUvarint([]byte{0x80, 1, 4}, many) // 128 values in a block of 4 parts
	delta = append(delta, 0)
	sparse := binary.AppendUvarint(binary.AppendUvarint([]byte{0x80, 0x80, 4, 1}, many), 0) // 65,536 in a block of one part
	sparse = append(sparse, bytes.Repeat([]byte{2, 0}, many/65536+1)...)
	zeros := make([]byte, 100<<20)
	claim := func(h format.PageHeader, size int32) format.PageHeader {
		h.UncompressedPageSize = size
		return h
	}
	levels := binary.AppendUvarint(nil, many<<1)
	levels = append(levels, 1)
	v1 := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	v2 := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: 2, NumRows: 2, Encoding: format.Plain, DefinitionLevelsByteLength: int32(len(levels)),
	})}
	long := v2
	long.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1 << 30
	return map[string]column{
		"a run that is too long":         {dictionary: make([]byte, 8), header: data(2, format.RLEDictionary), body: run, values: 2},
		"runs that are too many":         {dictionary: make([]byte, 8), header: data(2, format.RLEDictionary), body: append([]byte{1}, bytes.Repeat([]byte{0xfe, 0xff, 0xff, 1, 0}, 2000)...), values: 2},
		"a run that is promised":         {dictionary: make([]byte, 8), header: data(many, format.RLEDictionary), body: run, values: many},
		"packed bits that are not there": {dictionary: make([]byte, 8), header: data(2, format.RLEDictionary), body: []byte{32, 0xff, 0xff, 3}, values: 2},
		"a width of 255 bits":            {dictionary: make([]byte, 8), header: data(2, format.RLEDictionary), body: []byte{255, 3, 0}, values: 2},
		"a place beyond the dictionary":  {dictionary: make([]byte, 8), header: data(2, format.RLEDictionary), body: []byte{32, 4, 0xff, 0xff, 0xff, 0x7f}, values: 2},
		"no dictionary":                  {header: data(2, format.RLEDictionary), body: []byte{1, 4, 0}, values: 2},
		"differences that are too many":  {header: data(2, format.DeltaBinaryPacked), body: delta, values: 2},
		"differences of no bits":         {header: data(many, format.DeltaBinaryPacked), body: sparse, values: many},
		"differences of 255 bits":        {header: data(100, format.DeltaBinaryPacked), body: append([]byte{0x80, 1, 4, 100, 0, 0, 255, 255, 255, 255}, make([]byte, 4096)...), values: 100},
		"blocks of no parts":             {header: data(2, format.DeltaBinaryPacked), body: []byte{0x80, 1, 0, 2, 0, 0}, values: 2},
		"values that are not there":      {header: data(many, format.Plain), body: make([]byte, 16), values: many},
		"nulls in runs":                  {optional: true, header: data(2, format.Plain), body: append(v1, make([]byte, 16)...), values: 2},
		"nulls in runs, version 2":       {optional: true, header: v2, body: append(levels, make([]byte, 16)...), values: 2},
		"nulls beyond the page":          {optional: true, header: long, body: make([]byte, 16), values: 2},
		"lz4":                            {codec: format.Lz4Raw, header: claim(data(2, format.Plain), 16), body: []byte("\xf0\xff\xff\xff\xff\xff\xff damaged"), values: 2},
		"lz4 to nothing":                 {codec: format.Lz4Raw, header: claim(data(2, format.Plain), 0), body: []byte{0x00}, values: 2},
		"snappy":                         {codec: format.Snappy, header: claim(data(2, format.Plain), 16), body: []byte("\xff\xff\xff\xff\x0f damaged"), values: 2},
		"a bomb of snappy":               {codec: format.Snappy, header: claim(data(2, format.Plain), 16), body: snappy.Encode(nil, zeros), values: 2},
		"a bomb of zstd":                 {codec: format.Zstd, header: claim(data(2, format.Plain), 16), body: zstded(zeros), values: 2},
		"a bomb of gzip":                 {codec: format.Gzip, header: claim(data(2, format.Plain), 16), body: gzipped(zeros), values: 2},
		"a bomb of brotli":               {codec: format.Brotli, header: claim(data(2, format.Plain), 16), body: brotlied(zeros), values: 2},
		"a bomb that is promised":        {codec: format.Zstd, header: claim(data(2, format.Plain), many), body: zstded(zeros), values: 2},
		"gzip that is none":              {codec: format.Gzip, header: claim(data(2, format.Plain), 16), body: []byte("damaged"), values: 2},
		"a header of nested structs":     {raw: bytes.Repeat([]byte{0x1c}, 10<<20), values: 2},
		"a header with a long text":      {raw: []byte("\x15\x00\x15\x20\x15\x20\x2c\x5c\x18\xff\xff\xff\xff\x07"), values: 2},
		"a page beyond its place":        {raw: marshal(format.PageHeader{CompressedPageSize: 1 << 30}), values: 2},
		"a page of unknown type":         {header: format.PageHeader{Type: 7}, values: 2},
	}
}

// damagedNames returns malformed columns of texts.
func damagedNames() map[string]column {
	counts := func(n, first, difference uint64) []byte { // of n numbers that grow
		b := binary.AppendUvarint([]byte{0x80, 0x80, 4, 1}, n)
		b = binary.AppendUvarint(b, 2*first)
		for left := int(n) - 1; left > 0; left -= 65536 {
			b = append(binary.AppendUvarint(b, 2*difference), 0)
		}
		return b
	}
	const n = 100_000
	prefixes := counts(n, 0, 1) // text i repeats i bytes of the one before it, and has one more
	growing := append(append(prefixes, counts(n, 1, 0)...), bytes.Repeat([]byte("x"), n)...)
	return map[string]column{
		"texts that repeat each other": {header: data(n, format.DeltaByteArray), body: growing, values: n},
		"lengths that are too long":    {header: data(2, format.DeltaLengthByteArray), body: counts(2, 1<<30, 0), values: 2},
		"lengths below zero":           {header: data(2, format.DeltaLengthByteArray), body: append([]byte{0x80, 1, 4, 2, 1}, 1, 0, 0, 0, 0), values: 2},
		"a text that is too long":      {header: data(2, format.Plain), body: []byte("\xff\xff\xff\x7fx"), values: 2},
		"texts that are missing":       {header: data(2, format.Plain), body: []byte("\x01\x00\x00\x00x"), values: 2},
	}
}

// table returns a file of two rows with the columns. change may edit the footer.
func table(names, counts column, change func(*format.FileMetaData)) []byte {
	b := []byte(magic)
	m := format.FileMetaData{Version: 1, NumRows: 2, Schema: []format.SchemaElement{{Name: "counts", NumChildren: thrift.New[int32](3)}}}
	group := format.RowGroup{NumRows: 2}
	for i, c := range []column{names, counts, numbers()} {
		s := format.SchemaElement{Name: []string{"feature", "a", "b"}[i], Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Required)}
		if i == 0 {
			s.Type = thrift.New(format.ByteArray)
		}
		if c.optional {
			s.RepetitionType = thrift.New(format.Optional)
		}
		m.Schema = append(m.Schema, s)
		meta := format.ColumnMetaData{
			Type: s.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{s.Name}, Codec: c.codec, NumValues: c.values,
		}
		start := len(b)
		if c.dictionary != nil {
			meta.DictionaryPageOffset = int64(start)
			n := int32(len(c.dictionary))
			b = append(b, marshal(format.PageHeader{
				Type: format.DictionaryPage, CompressedPageSize: n, UncompressedPageSize: n,
				DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: n / 8, Encoding: format.Plain}),
			})...)
			b = append(b, c.dictionary...)
		}
		meta.DataPageOffset = int64(len(b))
		if c.raw == nil {
			c.header.CompressedPageSize = int32(len(c.body))
			if c.codec == format.Uncompressed {
				c.header.UncompressedPageSize = int32(len(c.body))
			}
			c.raw = marshal(c.header)
		}
		b = append(append(b, c.raw...), c.body...)
		meta.TotalCompressedSize = int64(len(b) - start)
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: meta})
	}
	m.RowGroups = []format.RowGroup{group}
	if change != nil {
		change(&m)
	}
	return withFooter(b[len(magic):], marshal(m))
}

// structs returns a footer whose schema has n structs of one byte.
func structs(n uint64) []byte {
	b := binary.AppendUvarint([]byte{0x15, 2, 0x19, 0xfc}, n)
	return append(append(b, make([]byte, n)...), 0)
}

func withFooter(body, footer []byte) []byte {
	b := append([]byte(magic), body...)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...)
}

func marshal(v any) []byte {
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		panic("hostile: " + err.Error())
	}
	return b
}

func zstded(b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic("hostile: " + err.Error())
	}
	return w.EncodeAll(b, nil)
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b) // a buffer takes all
	w.Close()
	return out.Bytes()
}

func brotlied(b []byte) []byte {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, 1)
	w.Write(b)
	w.Close()
	return out.Bytes()
}
