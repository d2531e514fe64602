package corpusio

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// readBeyond is how many bytes are read at a time beyond the end of a range, where only the rest of a line is needed.
const readBeyond = 8 << 10

// splitLines cuts a plain file into ranges of size bytes. A compressed file cannot be entered in the middle and is one
// range.
func splitLines(f File, size int64) []Range {
	if f.Compression != Plain {
		return []Range{{f, 0, f.Size}}
	}
	var ranges []Range
	for start := int64(0); start < f.Size; start += size {
		ranges = append(ranges, Range{f, start, min(start+size, f.Size)})
	}
	return ranges
}

// source is where lines come from: the stream of a file, or a pipe.
type source interface {
	io.Reader
	BytesRead() int64
	Span() Span
	Abandon() error
	close(err error) error
}

// lines are those that start in a range of a file.
type lines struct {
	source
	maxBytes int

	buffer   []byte // buffer[at:end] was read and not yet returned
	at, end  int
	position int64 // of buffer[at] in the decompressed content
	limit    int64 // lines that start here belong to the next range; -1 for a compressed file
	ended    bool
	err      error
}

// openLines opens a range. Lines of more than reading.MaxRecordBytes are not kept in memory.
func openLines(ctx context.Context, r Range, reading Reading) (*lines, error) {
	// A newline just before the range means that a line starts where the range does.
	from := max(r.Start-1, 0)
	s, err := openStream(ctx, r, from, reading)
	if err != nil {
		return nil, err
	}
	l := &lines{source: s, maxBytes: reading.MaxRecordBytes, position: from, limit: -1}
	size := int64(bufferBytes)
	if r.File.Compression == Plain {
		l.limit = r.End
		size = min(size, r.End-r.Start+readBeyond)
	}
	l.buffer = make([]byte, size)
	if r.Start == 0 {
		l.checkEncoding()
	} else {
		l.skip()
	}
	return l, nil
}

// records are the lines of a range as a format reads them.
type records struct {
	*lines
	options Options
	skipped Skipped
}

func openRecords(ctx context.Context, r Range, o Options) (records, error) {
	l, err := openLines(ctx, r, o.Reading)
	return records{lines: l, options: o}, err
}

// Skipped returns what was neither a document nor malformed.
func (r *records) Skipped() Skipped { return r.skipped }

// reject reports a malformed line, whose bytes may be nil.
func (r *records) reject(offset int64, reason Reason, line []byte) {
	r.options.reject(r.Span().File.Name, offset, reason, line)
}

// returnsAlone is the problem of a file whose lines end in CR alone, so that all of it is one line.
const returnsAlone = `the lines end in carriage returns alone; convert the file with: tr '\r' '\n'`

// next returns the next line and its offset, without its end and without byte-order marks before it; nil if it is too
// long. It returns false at the end of the range and after an error.
func (l *lines) next() (line []byte, offset int64, ok bool) {
	offset = l.position
	if l.limit >= 0 && offset >= l.limit {
		return nil, offset, false
	}
	searched := 0
	for {
		if i := bytes.IndexByte(l.buffer[l.at+searched:l.end], '\n'); i >= 0 {
			line = l.buffer[l.at : l.at+searched+i]
			l.advance(len(line) + 1)
			return l.trim(line), offset, true
		}
		searched = l.end - l.at
		if l.ended {
			line = l.buffer[l.at:l.end]
			l.advance(len(line))
			return l.trim(line), offset, len(line) > 0 && l.err == nil
		}
		if len(trimMarks(l.buffer[l.at:l.end])) > l.maxBytes+1 { // the last byte may be a carriage return
			l.skip()
			return nil, offset, l.err == nil
		}
		l.fill()
	}
}

// all returns the content of the file, without byte-order marks before it, or false if it is too long.
func (l *lines) all() (content []byte, ok bool) {
	for !l.ended {
		if content = trimMarks(l.buffer[l.at:l.end]); len(content) > l.maxBytes {
			return nil, false
		}
		l.fill()
	}
	content = trimMarks(l.buffer[l.at:l.end])
	return content, len(content) <= l.maxBytes
}

// fail ends the reading with an error.
func (l *lines) fail(err error) { l.ended, l.err = true, err }

// Close reads the rest of the range and returns the first error.
func (l *lines) Close() error { return l.close(l.err) }

// trim returns the line without byte-order marks and carriage return, or nil if it is too long.
func (l *lines) trim(line []byte) []byte {
	line = bytes.TrimSuffix(trimMarks(line), []byte{'\r'})
	if len(line) > l.maxBytes {
		return nil
	}
	return line
}

// mark is the byte-order mark of UTF-8.
var mark = []byte("\xef\xbb\xbf")

// trimMarks removes byte-order marks from the start of a line. Files that were joined have them within.
func trimMarks(line []byte) []byte {
	for bytes.HasPrefix(line, mark) {
		line = line[len(mark):]
	}
	return line
}

func (l *lines) advance(n int) {
	l.at += n
	l.position += int64(n)
}

// skip reads past the end of the line, or of the range.
func (l *lines) skip() {
	for {
		if i := bytes.IndexByte(l.buffer[l.at:l.end], '\n'); i >= 0 {
			l.advance(i + 1)
			return
		}
		l.advance(l.end - l.at)
		if l.ended || l.limit >= 0 && l.position >= l.limit {
			return
		}
		l.fill()
	}
}

// checkEncoding fails if the text starts with a byte-order mark that is not that of UTF-8.
func (l *lines) checkEncoding() {
	for l.end-l.at < 3 && !l.ended {
		l.fill()
	}
	if err := checkEncoding(l.Span().File.Name, l.buffer[l.at:l.end]); err != nil {
		l.at, l.end = 0, 0
		l.fail(err)
	}
}

// checkEncoding returns a *CorruptError if a text has the byte-order mark of another encoding than UTF-8.
func checkEncoding(name string, head []byte) error {
	encoding := ""
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe")):
		encoding = "UTF-32"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		encoding = "UTF-16"
	default:
		return nil
	}
	return &CorruptError{name, 0, fmt.Sprintf("the text is %s, not UTF-8; convert it with: iconv -f %[1]s -t UTF-8", encoding)}
}

// fill reads more into the buffer. It makes room by moving the unparsed bytes to the front, and by growing.
func (l *lines) fill() {
	if l.at > 0 {
		l.end = copy(l.buffer, l.buffer[l.at:l.end])
		l.at = 0
	}
	if l.end == len(l.buffer) {
		l.buffer = append(l.buffer, make([]byte, len(l.buffer))...)
	}
	room := l.buffer[l.end:]
	if l.limit >= 0 {
		read := l.position + int64(l.end)
		room = room[:min(int64(len(room)), max(l.limit-read, 0)+readBeyond)]
	}
	n, err := l.source.Read(room)
	l.end += n
	if err == io.EOF {
		l.ended = true
	} else if err != nil {
		l.fail(err)
	}
}
