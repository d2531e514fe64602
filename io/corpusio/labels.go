package corpusio

import "bytes"

// labeledReader does what is the same for all formats: it takes the label of the file instead of the record's if the file
// has one, and validates labels.
type labeledReader struct {
	Reader
	options Options
	file    File
	label   []byte // of the file; nil if each document has its own
}

func newLabeledReader(r Reader, f File, o Options) Reader {
	l := &labeledReader{Reader: r, options: o, file: f}
	if f.Label != "" {
		l.label = []byte(f.Label)
	}
	return l
}

func (r *labeledReader) Next(d *Document) bool {
	for d.Weight = 1; r.Reader.Next(d); d.Weight = 1 {
		if r.label != nil {
			d.Label, d.MoreLabels = r.label, nil
		}
		reason := checkLabel(d.Label)
		for _, label := range d.MoreLabels {
			if reason == "" {
				reason = checkLabel(label)
			}
		}
		if reason == "" || r.options.anyLabel && reason != EmptyLabel {
			return true
		}
		r.options.Reject(Rejection{r.file.Name, d.Offset, reason})
	}
	return false
}

// maxLabels is how many labels a document may have. It is counted once for each.
const maxLabels = 1000

// addLabel adds a label to the others of a document, unless it is one of them.
func addLabel(labels [][]byte, label []byte) [][]byte {
	for _, other := range labels {
		if bytes.Equal(other, label) {
			return labels
		}
	}
	return append(labels, label)
}

// checkLabel returns why a label cannot be one, or "".
func checkLabel(label []byte) Reason {
	switch {
	case len(label) == 0:
		return EmptyLabel
	case bytes.IndexByte(label, 0) >= 0:
		return NulLabel
	case len(label) > MaxLabelBytes:
		return LongLabel
	}
	return ""
}
