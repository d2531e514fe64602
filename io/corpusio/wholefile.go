package corpusio

import "context"

// wholeFile is the format of plain text that is one document, with the label of the file if it has one. Folders of such files
// are what scikit-learn's load_files reads.
type wholeFile struct{}

func (wholeFile) Name() string { return "file" }

// Detect accepts files whose folder is their label. Other labels are rather those of files with many documents.
func (wholeFile) Detect(h Head, reading Reading) bool {
	return reading.LabelFrom == FromFolder || reading.WholeFiles && !isLabeled(h.File, reading) && (plainText{}).Detect(h, reading)
}

func (wholeFile) Describe(_ context.Context, h Head, reading Reading) (string, error) {
	return "", requireLabel(h.File, reading)
}

func (wholeFile) Split(_ context.Context, f File, _ int64, _ Reading) ([]Range, error) {
	return []Range{{f, 0, f.Size}}, nil
}

func (wholeFile) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return &wholeFileReader{records: l}, nil
}

type wholeFileReader struct {
	records
	read bool
}

// Next reads the document. A file without content is blank, as an empty line is.
func (r *wholeFileReader) Next(d *Document) bool {
	if r.read {
		return false
	}
	r.read = true
	content, ok := r.all()
	switch {
	case r.err != nil:
		return false
	case !ok:
		r.reject(0, LongFile, nil)
		return false
	case len(content) == 0:
		r.skipped.Blank++
		return false
	}
	d.Offset, d.Label, d.MoreLabels, d.Text = 0, nil, nil, content
	return true
}
