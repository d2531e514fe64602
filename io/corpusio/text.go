package corpusio

import (
	"bytes"
	"context"
)

// plainText is the format of plain text whose lines are documents. All documents of a file have its label, or none.
type plainText struct{}

func (plainText) Name() string { return "text" }

// Detect accepts files whose lines need no label, unless the start of one has tabs, as lines with labels have.
func (plainText) Detect(h Head, reading Reading) bool {
	return isLabeled(h.File, reading) || reading.LabelOptional && bytes.IndexByte(h.Bytes, '\t') < 0
}

// isLabeled reports whether the file itself has a label, so that its documents need none.
func isLabeled(f File, reading Reading) bool { return f.Label != "" || reading.LabelFrom != FromRecord }

func (plainText) Describe(_ context.Context, h Head, reading Reading) (string, error) {
	return "", requireLabel(h.File, reading)
}

func requireLabel(f File, reading Reading) error {
	if isLabeled(f, reading) || reading.LabelOptional {
		return nil
	}
	return &LayoutError{f.Name, "plain text has no labels; use --label_from=folder, --label_from=file, or --class=LABEL=GLOB for each class"}
}

func (plainText) Split(_ context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitLines(f, size), nil
}

func (plainText) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return newPlainTextReader(l, r.File), nil
}

func newPlainTextReader(l records, f File) *plainTextReader {
	return &plainTextReader{records: l, mayHaveHeader: l.options.LabelOptional && f.Label == ""}
}

type plainTextReader struct {
	records
	mayHaveHeader bool // the name of the only column
}

func (r *plainTextReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		header := offset == 0 && r.mayHaveHeader
		switch {
		case !ok:
			return false
		case header && r.options.Header == Present:
			r.skipped.Headers++
		case header && r.options.Header == Unknown && isTextColumn(string(line)):
			r.fail(&HeaderError{r.Span().File.Name, "", string(line)})
			return false
		case line == nil:
			r.reject(offset, TooLong, nil)
		case len(bytes.TrimSpace(line)) == 0:
			r.skipped.Blank++
		case offset == 0 && bytes.Count(line, []byte{'\r'}) >= manyReturns:
			r.fail(&CorruptError{r.Span().File.Name, 0, returnsAlone})
			return false
		default:
			d.Offset, d.Label, d.MoreLabels, d.Text = offset, nil, nil, line
			return true
		}
	}
}
