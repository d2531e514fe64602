package parquetio

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

const (
	// maxHeader is the maximum length of a page header, which may contain the smallest and the largest text of the page.
	maxHeader = 1 << 20

	// maxPage is the maximum size of an uncompressed page.
	maxPage = 512 << 20

	// The memory limit for the current pages of all columns is maxRatio times the file size, but at least leastMemory and
	// at most mostMemory.
	maxRatio    = 1024
	leastMemory = 64 << 20
	mostMemory  = 1 << 30
)

// parseHeader parses the page header at the start of b. It returns errShort if b ends within the header.
func parseHeader(b []byte) (h *format.PageHeader, length int, err error) {
	m, err := measure(b)
	if err != nil {
		return nil, 0, err
	}
	h = &format.PageHeader{}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b[:m.bytes], h); err != nil {
		return nil, 0, err
	}
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage {
		return nil, 0, fmt.Errorf("the header announces %d bytes compressed and %d uncompressed; the maximum is %d", h.CompressedPageSize, h.UncompressedPageSize, maxPage)
	}
	return h, m.bytes, nil
}

// content is a page without its compression.
type content struct {
	rows, present int             // present are not null; of a dictionary, both are its values
	levels        []byte          // which rows are present, in the RLE/bit-packing hybrid encoding; unless the column is required
	values        []byte          // of the rows that are present
	encoding      format.Encoding // of the values
	memory        int64           // that parquet-go needs for the page
}

// check fails unless a page can be decoded in little memory.
func (p *pages) check(h *format.PageHeader, body []byte) (c content, err error) {
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		return p.checkDictionary(h, &h.DictionaryPageHeader.V, body)
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return p.checkData(h, &h.DataPageHeader.V, body)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return p.checkDataV2(h, &h.DataPageHeaderV2.V, body)
	}
	return c, fmt.Errorf("page type %s is not supported, or has no header", h.Type)
}

func (p *pages) checkDictionary(h *format.PageHeader, d *format.DictionaryPageHeader, body []byte) (c content, err error) {
	n := int(d.NumValues)
	if n < 0 || d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return c, fmt.Errorf("invalid dictionary: %d values, encoding %s", n, d.Encoding)
	}
	c.memory = int64(len(body)) + int64(h.UncompressedPageSize) + 4*int64(n)
	if body, err = p.decompress(h, body, c.memory); err != nil {
		return c, err
	}
	c.rows, c.present, c.values, c.encoding = n, n, body, format.Plain
	return c, checkPlain(body, n, p.schema)
}

func (p *pages) checkData(h *format.PageHeader, d *format.DataPageHeader, body []byte) (c content, err error) {
	n := int(d.NumValues)
	if c.memory, err = p.memory(h, n, d.Encoding); err != nil {
		return c, err
	}
	if body, err = p.decompress(h, body, c.memory); err != nil {
		return c, err
	}
	c.rows, c.present, c.encoding = n, n, d.Encoding
	if p.optional() {
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return c, errCut
		}
		if d.DefinitionLevelEncoding != format.RLE {
			return c, fmt.Errorf("encoding %s of nulls is not supported", d.DefinitionLevelEncoding)
		}
		end := 4 + int(binary.LittleEndian.Uint32(body))
		c.levels, body = body[4:end], body[end:]
		if c.present, err = countPresent(c.levels, n); err != nil {
			return c, fmt.Errorf("nulls: %w", err)
		}
	}
	c.values = body
	texts, err := checkValues(body, c.present, d.Encoding, p.schema)
	c.memory += texts
	return c, err
}

func (p *pages) checkDataV2(h *format.PageHeader, d *format.DataPageHeaderV2, body []byte) (c content, err error) {
	n, nulls, repeats, levels := int(d.NumValues), int(d.NumNulls), int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if c.memory, err = p.memory(h, n, d.Encoding); err != nil {
		return c, err
	}
	if nulls < 0 || nulls > n || repeats < 0 || levels < 0 || repeats+levels > len(body) || nulls > 0 && !p.optional() {
		return c, fmt.Errorf("the header announces %d nulls among %d values, in %d bytes of %d", nulls, n, repeats+levels, len(body))
	}
	c.rows, c.present, c.encoding = n, n-nulls, d.Encoding
	if p.optional() {
		c.levels = body[repeats : repeats+levels]
		present, err := countPresent(c.levels, n)
		if err == nil && present != n-nulls {
			err = fmt.Errorf("found %d, but the header announces %d", n-present, nulls)
		}
		if err != nil {
			return c, fmt.Errorf("nulls: %w", err)
		}
	}
	body = body[repeats+levels:]
	if !d.IsCompressed.Valid || d.IsCompressed.V {
		if body, err = p.decompress(h, body, c.memory); err != nil {
			return c, err
		}
	}
	c.values = body
	texts, err := checkValues(body, c.present, d.Encoding, p.schema)
	c.memory += texts
	return c, err
}

func (p *pages) optional() bool { return p.schema.RepetitionType.V == format.Optional }

// memory returns the bytes that parquet-go needs for a page of n values, without the texts of DELTA_BYTE_ARRAY.
func (p *pages) memory(h *format.PageHeader, n int, encoding format.Encoding) (int64, error) {
	if n < 0 || int64(n) > p.meta.NumValues {
		return 0, fmt.Errorf("the header announces %d values, but the column has %d in this row group", n, p.meta.NumValues)
	}
	each := 0
	switch encoding {
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		each = 12
	case format.DeltaBinaryPacked:
		each = 8
	case format.Plain, plainDictionary, format.RLEDictionary:
		each = 4
	case format.RLE:
		each = 1
	}
	if p.optional() {
		each += 2
	}
	return int64(h.CompressedPageSize) + int64(h.UncompressedPageSize) + int64(each)*int64(n), nil
}

// decompress returns the content of a page that needs this much memory.
func (p *pages) decompress(h *format.PageHeader, body []byte, memory int64) ([]byte, error) {
	if err := p.file.fits(p, memory); err != nil {
		return nil, err
	}
	if p.meta.Codec == format.Uncompressed {
		return body, nil
	}
	size := int(h.UncompressedPageSize)
	if cap(p.file.scratch) < size {
		p.file.scratch = make([]byte, size)
	}
	if p.meta.Codec == format.Lz4Raw && p.file.File == nil { // parquet-go does not read the page
		n, err := lz4.UncompressBlock(body, p.file.scratch[:size])
		return p.file.scratch[:max(0, n)], err
	}
	return decompress(p.file.scratch[:0:size], body, p.meta.Codec)
}
