package corpusio

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Reason is why a line is no document.
type Reason string

// The reasons, each with the words a user reads in Sentence.
const (
	NoTab      Reason = "no_tab"
	EmptyLabel Reason = "empty_label"
	TooLong    Reason = "too_long"
	NulLabel   Reason = "nul_label"
	BareReturn Reason = "bare_return"
	LongLabel  Reason = "long_label"
	InnerMark  Reason = "inner_mark"
)

// MaxLabelBytes is the length of the longest label. A longer one is no name of a class.
const MaxLabelBytes = 1 << 10

// Sentence says what is wrong with the line.
func (r Reason) Sentence() string {
	switch r {
	case NoTab:
		return "the line has no tab between a label and a text"
	case EmptyLabel:
		return "nothing stands before the tab"
	case TooLong:
		return "the line is longer than --max_record_bytes"
	case NulLabel:
		return "the label has NUL bytes; is the text UTF-16 or UTF-32?"
	case BareReturn:
		return "a carriage return stands within the line, before another tab; do the lines end in CR alone?"
	case LongLabel:
		return fmt.Sprintf("the label has more than %d bytes", MaxLabelBytes)
	case InnerMark:
		return "a byte-order mark stands within the line, before another tab; probably files were joined without a newline between them"
	}
	return string(r)
}

// Rejection is a line that is no document. Offset is where it starts, in the file or, if that is compressed, in what it
// unpacks to.
type Rejection struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Reason Reason `json:"reason"`
}

// CorruptError is an input that cannot be read to its end because of what is in it. To try again would not help.
type CorruptError struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // of the bytes read from the file up to there
	Cause  string `json:"cause"`
}

// Error is one line with the file, the place and the cause.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %s, at byte %d", e.File, e.Cause, e.Offset)
}

const (
	bufferBytes = 256 << 10

	// readBeyond is how much is read at a time beyond the end of a range.
	readBeyond = 8 << 10

	// maxZstdWindow is the most memory a .zst file may ask for: that of its --ultra and --long=27.
	maxZstdWindow = 128 << 20
)

// Reader reads the documents of one range.
//
//	for r.Next() {
//		use(r.Label(), r.Text())
//	}
//	if err := r.Close(); err != nil { … }
type Reader struct {
	// Reject is called for every line that is no document. Blank counts the lines that have nothing in them, which
	// are neither.
	Reject func(Rejection)
	Blank  int64

	Header  Header // whether the first line of the file is one
	Headers int64  // lines that were skipped as headers

	span      Span
	maxRecord int

	file   fileio.File
	source *source
	ahead  *bufio.Reader // between source and unpack, where unpack wants one
	unpack io.Reader
	close  func()

	buffer      []byte // what was read and not yet parsed is buffer[at:end]
	at, end     int
	position    int64 // of buffer[at], in the file or in what it unpacks to
	limit       int64 // lines that start here belong to the next range; -1 for compressed files
	first       bool  // the next line is the first of the file
	ended       bool
	err         error
	label, text []byte
}

// NewReader opens a range. Lines of more than maxRecord bytes are rejected, and read past without being kept.
func NewReader(ctx context.Context, r Range, maxRecord int) (*Reader, error) {
	store, err := fileio.For(r.File.Name)
	if err != nil {
		return nil, err
	}
	f, err := store.Open(ctx, r.File.Name)
	if err != nil {
		return nil, err
	}
	reader := &Reader{
		Reject:    func(Rejection) {},
		span:      Span{File: r.File, Start: r.Start, End: r.End},
		maxRecord: maxRecord,
		file:      f,
		limit:     -1,
		close:     func() {},
	}
	size := int64(bufferBytes)
	// A line starts where the range does if a newline stands before, so that one is read too.
	from := max(r.Start-1, 0)
	if r.File.Compression == Plain {
		reader.limit = r.End
		size = min(size, r.End-r.Start+readBeyond)
	}
	reader.buffer = make([]byte, size)
	reader.source = &source{file: f, info: r.File.Info, at: from, start: r.Start, end: r.End}
	reader.position = from
	if err := reader.open(r.File); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if reader.first = r.Start == 0; reader.first {
		reader.checkEncoding()
	} else {
		reader.skipLine()
	}
	return reader, nil
}

func (r *Reader) open(f File) error {
	var err error
	switch f.Compression {
	case Plain:
		r.unpack = r.source
	case Gzip:
		var z *gzip.Reader
		r.ahead = bufio.NewReaderSize(r.source, bufferBytes)
		if z, err = gzip.NewReader(r.ahead); err == nil {
			r.unpack = z
		}
	case Zstd:
		var z *zstd.Decoder
		z, err = zstd.NewReader(r.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err == nil {
			r.unpack, r.close = z, z.Close
		}
	case Bzip2:
		r.ahead = bufio.NewReaderSize(r.source, bufferBytes)
		r.unpack = bzip2.NewReader(r.ahead)
	default:
		return fmt.Errorf("%s: unknown compression %q", f.Name, f.Compression)
	}
	if err != nil {
		r.fail(err)
	}
	return nil
}

// source reads the bytes of a file in order and sums those of the range.
type source struct {
	file           fileio.File
	info           fileio.Info
	at, start, end int64
	crc            uint32
	err            error // of the storage, as opposed to what is read from it
}

func (s *source) Read(p []byte) (int, error) {
	if s.at >= s.info.Size {
		return 0, io.EOF
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), s.info.Size-s.at)], s.at)
	if errors.Is(err, io.EOF) {
		err = nil
		if n == 0 {
			err = fmt.Errorf("%s: became shorter while it was read", s.info.Name)
		}
	}
	if low, high := max(s.at, s.start), min(s.at+int64(n), s.end); low < high {
		s.crc = crc32.Update(s.crc, castagnoli, p[low-s.at:high-s.at])
	}
	s.at += int64(n)
	s.err = err
	return n, err
}

// Next moves to the next document. It returns false at the end of the range and after an error.
func (r *Reader) Next() bool {
	for {
		start := r.position
		if r.limit >= 0 && start >= r.limit {
			return false
		}
		line, ok := r.line()
		if !ok {
			return false
		}
		first := r.first
		r.first = false
		if first && r.Header == Present {
			r.Headers++
			continue
		}
		if line == nil {
			r.reject(start, TooLong)
			continue
		}
		if len(line) == 0 {
			r.Blank++
			continue
		}
		tab := bytes.IndexByte(line, '\t')
		if tab < 0 {
			r.reject(start, NoTab)
			continue
		}
		if r.label = bytes.TrimSpace(line[:tab]); len(r.label) == 0 {
			r.reject(start, EmptyLabel)
			continue
		}
		if bytes.IndexByte(r.label, 0) >= 0 {
			r.reject(start, NulLabel)
			continue
		}
		if len(r.label) > MaxLabelBytes {
			r.reject(start, LongLabel)
			continue
		}
		r.text = line[tab+1:]
		if first && r.Header == Unknown && isHeader(r.label, r.text) {
			r.err = &HeaderError{r.span.File.Name, string(r.label), string(r.text)}
			return false
		}
		if n := bareReturns(r.text); n >= manyReturns {
			r.err = &CorruptError{r.span.File.Name, start, "its lines end in carriage returns alone (convert it with: tr '\\r' '\\n')"}
			return false
		} else if n > 0 {
			r.reject(start, BareReturn)
			continue
		}
		if hasInnerMark(r.text) {
			r.reject(start, InnerMark)
			continue
		}
		return true
	}
}

// manyReturns is how many lines that end in CR alone, read as one, condemn the file. A few are a line gone wrong.
const manyReturns = 10

// bareReturns counts, up to manyReturns, the carriage returns after which something like label<TAB> follows.
func bareReturns(text []byte) (n int) {
	for n < manyReturns {
		i := bytes.IndexByte(text, '\r')
		if i < 0 {
			break
		}
		text = text[i+1:]
		if end := bytes.IndexAny(text, "\r\t"); end > 0 && text[end] == '\t' {
			n++
		}
	}
	return n
}

// mark is the byte-order mark of UTF-8.
var mark = []byte("\xef\xbb\xbf")

// hasInnerMark reports whether a mark stands in the text and something like label<TAB> follows: the first line of a file
// that was joined to another, which did not end in a newline.
func hasInnerMark(text []byte) bool {
	i := bytes.Index(text, mark)
	return i >= 0 && bytes.IndexByte(text[i:], '\t') > len(mark)
}

// Label and Text return the document. They are valid until the next call of Next.
func (r *Reader) Label() []byte { return r.label }

// Text returns what stands after the tab.
func (r *Reader) Text() []byte { return r.text }

func (r *Reader) reject(offset int64, reason Reason) {
	r.Reject(Rejection{r.span.File.Name, offset, reason})
}

// line returns the next line without what ends it, and without byte-order marks before it; nil if it was too long. It
// returns false if there is none.
func (r *Reader) line() (line []byte, ok bool) {
	searched := 0
	for {
		if i := bytes.IndexByte(r.buffer[r.at+searched:r.end], '\n'); i >= 0 {
			line = r.buffer[r.at : r.at+searched+i]
			r.advance(len(line) + 1)
			return r.short(line), true
		}
		searched = r.end - r.at
		if r.ended {
			line = r.buffer[r.at:r.end]
			r.advance(len(line))
			return r.short(line), len(line) > 0 && r.err == nil
		}
		if len(trimMarks(r.buffer[r.at:r.end])) > r.maxRecord+1 { // there may be a carriage return
			r.skipLine()
			return nil, r.err == nil
		}
		r.fill()
	}
}

// short returns the line without marks before it and a carriage return behind it, or nil if it is too long.
func (r *Reader) short(line []byte) []byte {
	line = bytes.TrimSuffix(trimMarks(line), []byte{'\r'})
	if len(line) > r.maxRecord {
		return nil
	}
	return line
}

// trimMarks takes byte-order marks away from the start of a line: a file that others were joined to has them within.
func trimMarks(line []byte) []byte {
	for bytes.HasPrefix(line, mark) {
		line = line[len(mark):]
	}
	return line
}

func (r *Reader) advance(n int) {
	r.at += n
	r.position += int64(n)
}

// skipLine reads to the end of the line, or of the range, and keeps nothing.
func (r *Reader) skipLine() {
	for {
		if i := bytes.IndexByte(r.buffer[r.at:r.end], '\n'); i >= 0 {
			r.advance(i + 1)
			return
		}
		r.advance(r.end - r.at)
		if r.ended || r.limit >= 0 && r.position >= r.limit {
			return
		}
		r.fill()
	}
}

// checkEncoding refuses a text that is not UTF-8 by the byte-order mark at its start.
func (r *Reader) checkEncoding() {
	for r.end-r.at < 3 && !r.ended {
		r.fill()
	}
	switch head := r.buffer[r.at:r.end]; {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe")):
		r.refuse("UTF-32")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		r.refuse("UTF-16")
	}
}

// refuse ends a text that is not UTF-8.
func (r *Reader) refuse(encoding string) {
	r.ended = true
	r.err = &CorruptError{r.span.File.Name, 0, fmt.Sprintf("the text is %s, not UTF-8 (convert it with: iconv -f %[1]s -t UTF-8)", encoding)}
	r.at, r.end = 0, 0
}

// fill reads more into the buffer. It makes room by moving what is not yet parsed to the front, and by growing.
func (r *Reader) fill() {
	if r.at > 0 {
		r.end = copy(r.buffer, r.buffer[r.at:r.end])
		r.at = 0
	}
	if r.end == len(r.buffer) {
		r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
	}
	room := r.buffer[r.end:]
	if r.limit >= 0 { // of the next range only the end of the last line is wanted
		room = room[:min(int64(len(room)), max(r.limit-r.source.at, 0)+readBeyond)]
	}
	n, err := r.unpack.Read(room)
	r.end += n
	if err == io.EOF {
		r.ended = true
	} else if err != nil {
		r.fail(err)
	}
}

// fail ends the reading. An error of the storage may not come again; one of the content will.
func (r *Reader) fail(err error) {
	r.ended = true
	if r.source.err != nil {
		r.err = r.source.err
		return
	}
	cause := strings.TrimPrefix(err.Error(), "bzip2 data invalid: ")
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		cause = "the compressed data is cut short"
	} else {
		cause = "the compressed data is corrupt (" + cause + ")"
	}
	offset := r.source.at
	if r.ahead != nil {
		offset -= int64(r.ahead.Buffered())
	}
	r.err = &CorruptError{r.span.File.Name, offset, cause}
}

// Read returns how many bytes of the file have been read so far.
func (r *Reader) Read() int64 { return r.source.at - r.source.start }

// Close ends the reading and returns the first error: a *CorruptError if the content is at fault.
func (r *Reader) Close() error {
	err := r.err
	var corrupt *CorruptError
	if err == nil || errors.As(err, &corrupt) && r.span.File.CRC32C != "" { // the checksum tells whether the store has it so
		if e := r.settle(); e != nil {
			err = e
		}
	}
	r.close()
	if e := r.file.Close(); err == nil {
		err = e
	}
	return err
}

// Abandon closes the file without a look at what is left of the range.
func (r *Reader) Abandon() error {
	r.close()
	return r.file.Close()
}

// settle reads what is left of the range, which no line of it needed, and checks that the file is still the same.
func (r *Reader) settle() error {
	if r.source.at < r.source.end {
		if _, err := io.CopyBuffer(io.Discard, onlyReader{io.LimitReader(r.source, r.source.end-r.source.at)}, r.buffer); err != nil {
			return err
		}
	}
	now, err := r.file.Info()
	if err != nil {
		return err
	}
	if now.Size != r.source.info.Size || now.Version != r.source.info.Version {
		return fmt.Errorf("%s: changed while it was read", r.span.File.Name)
	}
	return nil
}

type onlyReader struct{ io.Reader }

// Span returns what was read and its checksum, after Close.
func (r *Reader) Span() Span {
	r.span.CRC = r.source.crc
	return r.span
}
