package corpusio

import (
	"bytes"
	"context"
)

// fastText is the format of fastText's supervised models: a document a line, whose labels are the words that begin with
// __label__, anywhere in the line. Like fastText it separates words at ASCII white space and NUL bytes.
type fastText struct{}

var labelPrefix = []byte("__label__")

// wordSpace are the bytes that separate words in fastText, see Dictionary::readWord.
const wordSpace = " \t\v\f\r\n\x00"

func (fastText) Name() string { return "fasttext" }

// Detect accepts files that start with a label. If labels are optional, another line may.
func (fastText) Detect(h Head, reading Reading) bool {
	if startsWithLabel(bytes.TrimLeft(trimMarks(h.Bytes), wordSpace)) {
		return true
	}
	for line := range bytes.Lines(h.Bytes) {
		if reading.LabelOptional && startsWithLabel(line) {
			return true
		}
	}
	return false
}

func startsWithLabel(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, labelPrefix)
	return ok && len(rest) > 0 && !isWordSpace(rest[0])
}

func (fastText) Describe(context.Context, Head, Reading) (string, error) { return "", nil }

func (fastText) Split(_ context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitLines(f, size), nil
}

func (fastText) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return newFastTextReader(l, r.File), nil
}

func newFastTextReader(l records, f File) *fastTextReader {
	return &fastTextReader{records: l, hasLabel: f.Label != "" || l.options.LabelOptional}
}

type fastTextReader struct {
	records
	hasLabel bool     // lines need none
	labels   [][]byte // buffer
	found    int      // labels of the line, with duplicates
	text     []byte   // buffer
}

func (r *fastTextReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		if !ok {
			return false
		}
		if line == nil {
			r.reject(offset, TooLong, nil)
			continue
		}
		if line = bytes.TrimLeft(line, wordSpace); len(line) == 0 {
			r.skipped.Blank++
			continue
		}
		d.Text = r.takeLabels(line)
		returns := 0
		if r.found > 1 {
			returns = bytes.Count(line, returnedLabel)
		}
		switch {
		case returns >= manyReturns:
			r.fail(&CorruptError{r.Span().File.Name, offset, returnsAlone})
			return false
		case returns > 0:
			r.reject(offset, BareReturn, line)
			continue
		case bytes.Contains(line, markedLabel):
			r.reject(offset, InnerMark, line)
			continue
		case r.found > maxLabels:
			r.reject(offset, ManyLabels, line)
			continue
		case r.found == 0 && !r.hasLabel:
			r.reject(offset, NoLabel, line)
			continue
		}
		d.Offset, d.Label, d.MoreLabels = offset, nil, nil
		if r.found > 0 {
			d.Label, d.MoreLabels = r.labels[0], r.labels[1:]
		}
		return true
	}
}

// takeLabels sets the labels of a line, and returns the rest of it.
func (r *fastTextReader) takeLabels(line []byte) (text []byte) {
	r.labels, r.found = r.labels[:0], 0
	for bytes.HasPrefix(line, labelPrefix) {
		line = r.takeLabel(line)
	}
	inner := indexLabel(line)
	if inner < 0 {
		return line
	}
	r.text = r.text[:0]
	for ; inner >= 0; inner = indexLabel(line) {
		r.text = append(r.text, line[:inner]...)
		line = r.takeLabel(line[inner:])
	}
	r.text = append(r.text, line...)
	return r.text
}

// takeLabel adds the label that the line begins with, and returns the rest of the line without the space after the label.
func (r *fastTextReader) takeLabel(line []byte) []byte {
	line = line[len(labelPrefix):]
	end := bytes.IndexAny(line, wordSpace)
	if end < 0 {
		end = len(line)
	}
	if r.found++; r.found <= maxLabels {
		r.labels = addLabel(r.labels, bytes.TrimSpace(line[:end]))
	}
	return bytes.TrimLeft(line[end:], wordSpace)
}

// indexLabel returns where the next word with the prefix of labels begins, or -1.
func indexLabel(line []byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(line[at:], labelPrefix)
		if i < 0 {
			return -1
		}
		if at += i; at == 0 || isWordSpace(line[at-1]) {
			return at
		}
	}
}

func isWordSpace(b byte) bool { return bytes.IndexByte([]byte(wordSpace), b) >= 0 }

// returnedLabel begins a line after one that ends in CR alone, and markedLabel a file that was joined to one without a
// newline at its end.
var (
	returnedLabel = append([]byte{'\r'}, labelPrefix...)
	markedLabel   = append(bytes.Clone(mark), labelPrefix...)
)
