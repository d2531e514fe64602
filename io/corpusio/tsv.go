package corpusio

import (
	"bytes"
	"context"
)

// tsv is the format label<TAB>text: a document a line. Everything after the first tab is text.
type tsv struct{}

func (tsv) Name() string { return "tsv" }

func (tsv) Detect(Head, Reading) bool { return true }

func (tsv) Describe(context.Context, Head, Reading) (string, error) { return "", nil }

func (tsv) Split(_ context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitLines(f, size), nil
}

func (tsv) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return &tsvReader{records: l, labeled: r.File.Label != ""}, nil
}

type tsvReader struct {
	records
	labeled bool // the label is that of the file; the one in the line is not used
}

func (r *tsvReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		if !ok {
			return false
		}
		first := offset == 0
		switch {
		case first && r.options.Header == Present:
			r.skipped.Headers++
			continue
		case line == nil:
			r.reject(offset, TooLong, nil)
			continue
		case len(line) == 0:
			r.skipped.Blank++
			continue
		}
		tab := bytes.IndexByte(line, '\t')
		if tab < 0 {
			r.reject(offset, NoTab, line)
			continue
		}
		d.Offset, d.Label, d.Text = offset, bytes.TrimSpace(line[:tab]), line[tab+1:]
		if r.options.anyLabel || !r.labeled && r.isBadLabel(d.Label) { // a bad label is the first reason to reject a line
			return true
		}
		if first && r.options.Header == Unknown && (isHeader(d.Label, d.Text) || r.options.LabelOptional && isTextColumn(string(d.Text))) {
			r.fail(&HeaderError{r.Span().File.Name, string(d.Label), string(d.Text)})
			return false
		}
		switch n := bareReturns(d.Text); {
		case n >= manyReturns:
			r.fail(&CorruptError{r.Span().File.Name, offset, returnsAlone})
			return false
		case n > 0:
			r.reject(offset, BareReturn, line)
		case hasInnerMark(d.Text):
			r.reject(offset, InnerMark, line)
		default:
			return true
		}
	}
}

func (r *tsvReader) isBadLabel(label []byte) bool {
	reason := checkLabel(label)
	return reason != "" && !(reason == EmptyLabel && r.options.LabelOptional)
}

// manyReturns is how many lines that end in CR alone, read as one, make the file corrupt. Fewer make a malformed line.
const manyReturns = 10

// bareReturns counts the carriage returns that are followed by something like label<TAB>, up to manyReturns.
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

// hasInnerMark reports whether the text has a byte-order mark that is followed by something like label<TAB>: the first
// line of a file that was joined to one without a newline at its end.
func hasInnerMark(text []byte) bool {
	i := bytes.Index(text, mark)
	return i >= 0 && bytes.IndexByte(text[i:], '\t') > len(mark)
}
