package corpusio

import (
	"bytes"
	"context"
)

// plainText is the format of plain text whose lines are documents. All documents of a file have its label.
type plainText struct{}

func (plainText) Name() string { return "text" }

func (plainText) Detect(h Head, reading Reading) bool { return isLabeled(h.File, reading) }

// isLabeled reports whether the file itself has a label, so that its documents need none.
func isLabeled(f File, reading Reading) bool { return f.Label != "" || reading.LabelFrom != FromRecord }

func (plainText) Describe(_ context.Context, h Head, reading Reading) (string, error) {
	return "", requireLabel(h.File, reading)
}

func requireLabel(f File, reading Reading) error {
	if isLabeled(f, reading) {
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
	return &plainTextReader{records: l}, nil
}

type plainTextReader struct {
	records
}

func (r *plainTextReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		switch {
		case !ok:
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
