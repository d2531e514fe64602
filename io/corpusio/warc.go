package corpusio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"strconv"
	"strings"
)

// warc is the format of web archives (ISO 28500). A WARC file has a record for each response of a server; a WET file of
// Common Crawl has the text of each page. The records have no labels.
type warc struct {
	name string
	kind string // WARC-Type of the records that are documents
}

func (f warc) Name() string { return f.name }

func (f warc) Detect(h Head, _ Reading) bool {
	if !bytes.HasPrefix(h.Bytes, []byte("WARC/")) {
		return false
	}
	text := bytes.ToLower(h.Bytes)
	first := func(kind string) int {
		if i := bytes.Index(text, []byte("\nwarc-type: "+kind)); i >= 0 {
			return i
		}
		return len(text)
	}
	if f.kind == "response" { // also a file that starts with neither
		return first("response") <= first("conversion")
	}
	return first(f.kind) < first("response")
}

func (f warc) Describe(_ context.Context, h Head, reading Reading) (string, error) {
	switch {
	case h.File.Size > 0 && len(h.Bytes) > 0 && !bytes.HasPrefix(h.Bytes, []byte("WARC/")):
		return "", &LayoutError{h.File.Name, "is not a WARC file: it does not start with WARC/"}
	case !isLabeled(h.File, reading) && !reading.LabelOptional:
		return "", &LayoutError{h.File.Name, "the pages of a web archive have no labels; give them with --class=LABEL=GLOB or --label_from=folder"}
	}
	return "", nil
}

// Split returns one range. In a compressed file every record is a gzip member, but finding one in the middle would be a guess.
func (warc) Split(_ context.Context, f File, _ int64, _ Reading) ([]Range, error) {
	return []Range{{f, 0, f.Size}}, nil
}

func (f warc) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	s, err := openStream(ctx, r, r.Start, o.Reading)
	if err != nil {
		return nil, err
	}
	return &warcReader{stream: s, kind: f.kind, options: o, in: bufio.NewReaderSize(s, bufferBytes)}, nil
}

// warcReader reads one record at a time. It keeps at most a header of bufferBytes and a block of MaxRecordBytes.
type warcReader struct {
	*stream
	kind    string
	options Options
	skipped Skipped

	in       *bufio.Reader
	position int64 // of in, in the decompressed content
	header   []byte
	block    []byte
	err      error
}

func (r *warcReader) Skipped() Skipped { return r.skipped }

func (r *warcReader) Close() error { return r.close(r.err) }

func (r *warcReader) Next(d *Document) bool {
	for r.err == nil {
		offset, ok := r.findRecord()
		if !ok {
			return false
		}
		text, reason := r.readRecord()
		switch {
		case r.err != nil:
			return false
		case reason == otherRecord:
			r.skipped.Records++
		case reason != "":
			r.options.reject(r.Span().File.Name, offset, reason, nil)
		default:
			*d = Document{Offset: offset, Weight: d.Weight, Text: text}
			return true
		}
	}
	return false
}

// otherRecord stands for a record that is valid, and no document.
const otherRecord = Reason("other_record")

// findRecord skips the empty lines after a record, and returns where the next one starts. Other lines are rejected as one
// malformed record.
func (r *warcReader) findRecord() (offset int64, ok bool) {
	malformed := int64(-1)
	for {
		start, err := r.in.Peek(len("WARC/"))
		if len(start) == 0 && err != nil {
			r.end(err, false)
			break
		}
		if string(start) == "WARC/" {
			ok = true
			break
		}
		offset = r.position
		if blank := r.skipLine(); !blank && malformed < 0 {
			malformed = offset
		}
		if r.err != nil {
			break
		}
	}
	if malformed >= 0 {
		r.options.reject(r.Span().File.Name, malformed, BadWARC, nil)
	}
	return r.position, ok && r.err == nil
}

// skipLine skips a line of any length, and reports whether it was empty.
func (r *warcReader) skipLine() (blank bool) {
	blank = true
	for {
		line, err := r.in.ReadSlice('\n')
		r.position += int64(len(line))
		blank = blank && len(bytes.TrimSpace(line)) == 0
		if err != bufio.ErrBufferFull {
			r.end(err, false)
			return blank
		}
	}
}

// end stores an error of reading. The end of the file is one only within a record.
func (r *warcReader) end(err error, within bool) {
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		r.err = err
	case within:
		r.err = r.corrupt("the file ends within a WARC record; it is truncated")
	}
}

// readRecord reads a record and returns its text, or why it is no document.
func (r *warcReader) readRecord() (text []byte, reason Reason) {
	fields, ok := r.readHeader()
	if r.err != nil {
		return nil, ""
	}
	length, err := strconv.ParseUint(fields["content-length"], 10, 62)
	if !ok || err != nil {
		return nil, BadWARC
	}
	defer func(end int64) { r.discard(end - r.position) }(r.position + int64(length))
	if !strings.EqualFold(fields["warc-type"], r.kind) {
		return nil, otherRecord
	}
	most := int64(r.options.MaxRecordBytes)
	if r.kind == "conversion" {
		return r.readConversion(int64(length), most, fields["content-type"])
	}
	return r.readResponse(int64(length), most, fields)
}

// readHeader reads the lines up to an empty one.
func (r *warcReader) readHeader() (fields map[string]string, ok bool) {
	r.header = r.header[:0]
	for {
		line, err := r.in.ReadSlice('\n')
		if r.position += int64(len(line)); err != nil && err != bufio.ErrBufferFull {
			r.end(err, true)
			return nil, false
		}
		if err != nil || len(r.header)+len(line) > bufferBytes {
			return nil, false // findRecord goes on from here
		}
		r.header = append(r.header, line...)
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return parseFields(r.header)
		}
	}
}

// maxFolded is the length of a value in bytes to which no more lines are added: adding thousands would take quadratic time.
const maxFolded = 1 << 10

// parseFields returns the fields after the first line of a header, with names in lower case; of several with one name the
// first. A line that starts with a space continues the one before. A header with another line is malformed.
func parseFields(header []byte) (fields map[string]string, ok bool) {
	fields = map[string]string{}
	last, ok := "", true
	for i, line := range strings.Split(strings.TrimRight(string(header), "\r\n"), "\n") {
		line = strings.TrimRight(line, "\r")
		name, value, colon := strings.Cut(line, ":")
		switch {
		case i == 0:
		case last != "" && strings.HasPrefix(line, " "), last != "" && strings.HasPrefix(line, "\t"):
			if len(fields[last]) < maxFolded {
				fields[last] += " " + strings.TrimSpace(line)
			}
		case !colon:
			ok = false
		default:
			last = strings.ToLower(strings.TrimSpace(name))
			if _, twice := fields[last]; !twice {
				fields[last] = strings.TrimSpace(value)
			}
		}
	}
	return fields, ok
}

// readConversion returns a text that a crawler extracted.
func (r *warcReader) readConversion(length, most int64, contentType string) ([]byte, Reason) {
	if media, _, _ := mime.ParseMediaType(contentType); contentType != "" && media != "text/plain" {
		return nil, otherRecord
	}
	if length > most {
		return nil, TooLong
	}
	return r.readBlock(int(length)), ""
}

// readResponse returns the text of the page in an HTTP response. It reads only as much of other responses as is needed to
// know what they are.
func (r *warcReader) readResponse(length, most int64, record map[string]string) ([]byte, Reason) {
	if media, _, _ := mime.ParseMediaType(record["content-type"]); media != "application/http" {
		return nil, otherRecord
	}
	start, err := r.in.Peek(int(min(length, bufferBytes)))
	if err != nil {
		r.end(err, true)
		return nil, ""
	}
	response, ok := parseResponse(start)
	switch {
	case !ok:
		return nil, BadHTTP
	case !response.isPage(record["warc-identified-payload-type"]):
		return nil, otherRecord
	case length > most:
		return nil, TooLong
	}
	block := r.readBlock(int(length))
	if r.err != nil {
		return nil, ""
	}
	return response.text(block, int(most), record["warc-truncated"] != "")
}

// readBlock reads the next bytes of a record. They are valid until the next call.
func (r *warcReader) readBlock(length int) []byte {
	if cap(r.block) < length {
		r.block = make([]byte, length)
	}
	n, err := io.ReadFull(r.in, r.block[:length])
	r.position += int64(n)
	r.end(err, true)
	return r.block[:n]
}

// discard skips the rest of a record.
func (r *warcReader) discard(n int64) {
	for n > 0 && r.err == nil {
		skipped, err := r.in.Discard(int(min(n, bufferBytes)))
		n, r.position = n-int64(skipped), r.position+int64(skipped)
		r.end(err, true)
	}
}
