package parquetio

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// pages reads the pages of a chunk for parquet-go, which starts at the chunk or at its first data page and then reads page
// after page. It finds each page by the header of the previous one, so it only sees checked headers if it starts at a page.
type pages struct {
	chunk
	file   *File
	seeks  bool // the first read, at an offset from the index, may start at any page
	page   region
	window []byte // bytes of the file from offset first: the page, and more
	first  int64
	// recent are the last pages. When parquet-go reads the dictionary after the first data page, it returns to the end of a
	// page, or into one if it has buffered more.
	recent []region
	oldest int
}

const (
	// readAhead is the number of bytes to read at a time, unless a page is longer.
	readAhead = 64 << 10

	// readHeader is enough for most headers.
	readHeader = 256

	// maxRecent is more than the pages in the 4,096 bytes that parquet-go buffers: a page has at least 17 bytes.
	maxRecent = 256
)

// ReadAt reads from the page at an offset, and from those that follow it.
func (p *pages) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		at := offset + int64(n)
		if at >= p.end {
			return n, io.EOF
		}
		if !p.page.has(at) {
			start, err := p.pageOf(at)
			if err == nil {
				err = p.load(start)
			}
			if err != nil {
				return n, p.failed(start, err)
			}
		}
		n += copy(b[n:], p.window[at-p.first:p.page.end-p.first])
	}
	return n, nil
}

func (p *pages) failed(at int64, err error) error {
	if p.file.failed != nil {
		return p.file.failed
	}
	return fmt.Errorf("column %s, page at byte %d: %w", shown(p.schema.Name), at, err)
}

// pageOf returns the start of the page with a byte.
func (p *pages) pageOf(offset int64) (start int64, err error) {
	switch {
	case offset == p.page.end, p.seeks && p.page.end == 0, !p.seeks && (offset == p.start || offset == p.data):
		return offset, nil
	}
	for _, r := range p.recent {
		switch {
		case r.has(offset):
			return r.start, nil
		case r.end == offset:
			return offset, nil
		}
	}
	return offset, errors.New("no page starts there")
}

// load reads and checks the page that starts at an offset.
func (p *pages) load(start int64) error {
	_, _, err := p.loadContent(start)
	return err
}

// loadContent is load, and returns the page. It is valid until the next page is loaded.
func (p *pages) loadContent(start int64) (h *format.PageHeader, c content, err error) {
	p.page = region{} // until it is checked
	for wanted := readHeader; ; wanted *= 4 {
		b, err := p.read(start, wanted)
		if err != nil {
			return nil, c, err
		}
		h, size, err := parseHeader(b)
		if errors.Is(err, errShort) && len(b) == wanted && wanted < maxHeader {
			continue
		}
		if err != nil {
			return nil, c, err
		}
		page := region{start, start + int64(size) + int64(h.CompressedPageSize)}
		if page.end > p.end || page.start < p.data && page.end > p.data {
			return nil, c, fmt.Errorf("the page ends at byte %d, beyond its column", page.end)
		}
		if b, err = p.read(start, int(page.end-start)); err != nil {
			return nil, c, err
		}
		if err := checkSum(h, b[size:]); p.file.File == nil && err != nil {
			return nil, c, err
		}
		if c, err = p.check(h, b[size:]); err != nil {
			return nil, c, err
		}
		p.page = page
		p.remember()
		return h, c, p.file.take(p, h, c.memory)
	}
}

// read returns up to wanted bytes of the chunk.
func (p *pages) read(start int64, wanted int) ([]byte, error) {
	n := int(min(int64(wanted), p.end-start))
	if at := start - p.first; at < 0 || at+int64(n) > int64(len(p.window)) {
		size := int(min(int64(max(n, readAhead)), p.end-start))
		p.file.useWindow(p)
		p.window, p.first = slices.Grow(p.window[:0], size)[:size], start
		if err := readFull(storage{p.file}, p.window, start); err != nil {
			p.window = p.window[:0]
			return nil, err
		}
	}
	return p.window[start-p.first:][:n], nil
}

// useWindow reuses the memory of the previous row group of the column.
func (f *File) useWindow(p *pages) {
	if last := f.last[p.column]; last != nil && last != p {
		p.window = last.window
		last.window, last.page = nil, region{}
	}
	f.last[p.column] = p
}

func (p *pages) remember() {
	switch {
	case p.seeks:
	case len(p.recent) < maxRecent:
		p.recent = append(p.recent, p.page)
	default:
		p.recent[p.oldest] = p.page
		p.oldest = (p.oldest + 1) % maxRecent
	}
}
