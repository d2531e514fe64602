package corpusio

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// pipeFormats are the formats that a stream may have: a document is a line, and the first line says all there is to know.
var pipeFormats = []string{tsv{}.Name(), plainText{}.Name(), fastText{}.Name(), jsonl{}.Name()}

// NewLines returns a reader of the documents in a stream, such as standard input: a line each, as in files of the same format.
// Next returns a document as soon as its line has arrived. NewLines waits for the first line, which decides the format if
// reading names none, and whose keys are those of JSON Lines. The name is for messages; no label comes from it.
//
// Its errors are a *LayoutError or a *CorruptError. Close of the reader returns errors of the stream, and does not close it.
func NewLines(in io.Reader, name string, o Options) (Reader, error) {
	if o.Reject == nil {
		o.Reject = func(Rejection) {}
	}
	o.LabelFrom, o.WholeFiles = FromRecord, false
	l := &lines{source: &pipe{in: in, name: name}, maxBytes: o.MaxRecordBytes, buffer: make([]byte, bufferBytes), limit: -1}
	h := Head{File{Info: fileio.Info{Name: name}}, l.peek()}
	if c := compressionOf(h.Bytes); c != Plain {
		return nil, &CorruptError{name, 0, fmt.Sprintf("is compressed with %s; decompress it before the pipe", c)}
	}
	if err := checkEncoding(name, h.Bytes); err != nil {
		return nil, err
	}
	if h.File.Format = o.Format; o.Format == "" && isTableHeader(h, o.Reading) {
		h.File.Format = csv{}.Name()
	}
	for i := 0; h.File.Format == ""; i++ {
		if formats[i].Detect(h, o.Reading) { // the last one does
			h.File.Format = formats[i].Name()
		}
	}
	reader, err := pipeReader(records{lines: l, options: o}, h)
	if err != nil {
		return nil, err
	}
	return newLabeledReader(reader, h.File, o), nil
}

// isTableHeader reports whether the first line probably names the columns of a CSV file. Two columns with a tab are TSV.
func isTableHeader(h Head, reading Reading) bool {
	t := detectTable(h, reading)
	least := 2
	if t.delimiter == '\t' {
		least = 3
	}
	return reading.Header != Absent && t.err == nil && len(t.names) >= least && !bytes.Contains(h.Bytes, []byte{t.delimiter, ' '})
}

func pipeReader(l records, h Head) (Reader, error) {
	if !slices.Contains(pipeFormats, h.File.Format) {
		return nil, &LayoutError{h.File.Name, fmt.Sprintf("the format %s cannot be read from a pipe, only %s; write it to a file and name that with --input, or name the format with --format",
			h.File.Format, strings.Join(pipeFormats, ", "))}
	}
	if err := checkColumns(h.File, l.options.Reading); err != nil {
		return nil, err
	}
	switch h.File.Format {
	case plainText{}.Name():
		return newPlainTextReader(l, h.File), requireLabel(h.File, l.options.Reading)
	case fastText{}.Name():
		return newFastTextReader(l, h.File), nil
	case jsonl{}.Name():
		if err := checkShape(h); err != nil {
			return nil, err
		}
		finder := newKeyFinder(h.File, l.options.Reading)
		finder.add(h.Bytes)
		if finder.names == nil && len(h.Bytes) > 0 {
			return nil, &LayoutError{h.File.Name, "the first line is not a JSON object, so that its keys are unknown"}
		}
		layout, err := finder.layout()
		return newJSONLReader(l, h.File, layout), err
	}
	return &tsvReader{records: l}, nil
}

// peek waits for the first line that is not empty, and returns it without reading it. Of a line that is too long it returns
// the start.
func (l *lines) peek() (line []byte) {
	for {
		read := l.buffer[l.at:l.end]
		for line = range bytes.Lines(read) {
			if line = trimMarks(line); bytes.HasSuffix(line, []byte{'\n'}) && len(bytes.TrimRight(line, "\r\n")) > 0 {
				return line
			}
		}
		if l.ended || len(read) > cmp.Or(l.maxBytes, bufferBytes) {
			return line
		}
		l.fill()
	}
}

// pipe is a stream that can be read once, and has no checksum.
type pipe struct {
	in   io.Reader
	name string
	read int64
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.read += int64(n)
	return n, err
}

func (p *pipe) BytesRead() int64 { return p.read }

func (p *pipe) Span() Span {
	return Span{File: File{Info: fileio.Info{Name: p.name}}, End: p.read, NoCRC: true}
}

func (p *pipe) close(err error) error { return err }

func (p *pipe) Abandon() error { return nil }
