package corpusio

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// labeledReader does what is the same for all formats: it takes the label of the file instead of the record's if the file
// has one, validates labels, renames them and drops the documents of other classes.
type labeledReader struct {
	Reader
	options Options
	file    File
	label   []byte          // of the file; nil if each document has its own
	kept    map[string]bool // the labels to keep; nil for all
	labels  [][]byte        // of the document
	other   Skipped         // documents of other classes
}

func newLabeledReader(r Reader, f File, o Options) Reader {
	l := &labeledReader{Reader: r, options: o, file: f}
	if f.Label != "" {
		l.label = []byte(f.Label)
	}
	if len(o.Classes) > 0 {
		l.kept = map[string]bool{}
		for _, label := range o.Classes {
			l.kept[label] = true
		}
	}
	return l
}

func (r *labeledReader) Next(d *Document) bool {
	for d.reset(); r.Reader.Next(d); d.reset() {
		if r.label != nil {
			d.Label, d.MoreLabels = r.label, nil
		}
		if r.options.LabelOptional {
			removeEmptyLabels(d)
		}
		reason := checkLabel(d.Label)
		if reason == EmptyLabel && r.options.LabelOptional {
			reason = ""
		}
		for _, label := range d.MoreLabels {
			if reason == "" {
				reason = checkLabel(label)
			}
		}
		if !validWeight(d.Weight) && reason == "" {
			reason = BadWeight
		}
		switch {
		case r.options.anyLabel && reason != EmptyLabel:
			return true
		case reason != "":
			r.options.reject(r.file.Name, d.Offset, reason, slices.Concat(d.Label, []byte{'\t'}, d.Text))
		case r.choose(d):
			return true
		}
	}
	return false
}

// reset sets what most formats have not.
func (d *Document) reset() { d.Weight, d.ID, d.Group = 1, nil, nil }

// removeEmptyLabels leaves an empty label only if the document has no other.
func removeEmptyLabels(d *Document) {
	if len(d.MoreLabels) == 0 {
		return
	}
	d.MoreLabels = slices.DeleteFunc(d.MoreLabels, func(label []byte) bool { return len(label) == 0 })
	if len(d.Label) == 0 && len(d.MoreLabels) > 0 {
		d.Label, d.MoreLabels = d.MoreLabels[0], d.MoreLabels[1:]
	}
}

// choose renames the labels of a document, and removes duplicates and labels that are not to be kept. It returns false if
// none is left.
func (r *labeledReader) choose(d *Document) bool {
	if len(d.MoreLabels) == 0 && r.kept == nil && len(r.options.LabelMap) == 0 || len(d.Label) == 0 {
		return true
	}
	r.labels = append(append(r.labels[:0], d.Label), d.MoreLabels...)
	for i, label := range r.labels {
		if name, ok := r.options.LabelMap[string(label)]; ok {
			r.labels[i] = []byte(name)
		}
	}
	slices.SortFunc(r.labels, bytes.Compare)
	r.labels = slices.CompactFunc(r.labels, bytes.Equal)
	if r.kept != nil {
		r.labels = slices.DeleteFunc(r.labels, func(label []byte) bool {
			if r.kept[string(label)] {
				return false
			}
			r.other.OtherLabels.Add(strings.ToValidUTF8(string(label), "\ufffd"), 1)
			return true
		})
	}
	if len(r.labels) == 0 {
		r.other.OtherClasses++
		return false
	}
	d.Label, d.MoreLabels = r.labels[0], r.labels[1:]
	return true
}

func (r *labeledReader) Skipped() Skipped {
	s := r.Reader.Skipped()
	s.OtherClasses, s.OtherLabels = r.other.OtherClasses, r.other.OtherLabels
	return s
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

// MaxWeight is the largest weight of a document.
const MaxWeight = 1_000_000

// validWeight reports whether documents can be counted so often. Whole numbers keep the counts integers.
func validWeight(w float64) bool { return 0 <= w && w <= MaxWeight && w == math.Trunc(w) }

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

// CleanLabel returns a label that a user gave, without surrounding spaces, or an error that says why it cannot be one.
func CleanLabel(label string) (string, error) {
	label = strings.TrimSpace(label)
	if reason := checkLabel([]byte(label)); reason != "" {
		return "", fmt.Errorf("%s", reason.Sentence())
	}
	if !utf8.ValidString(label) {
		return "", fmt.Errorf("the label %q is not UTF-8", label)
	}
	return label, nil
}

// fileLabel returns the label of all documents of a file, or "" if each has its own. given is the label of its pattern, or "".
func fileLabel(name, given string, from LabelFrom) (label string, err error) {
	switch {
	case given != "":
		label = given
	case from == FromFolder:
		label = strings.Trim(path.Base(path.Dir(name)), "/")
	case from == FromFile:
		label = withoutExtensions(path.Base(name))
	default:
		return "", nil
	}
	label, err = CleanLabel(label)
	if err != nil && given == "" {
		err = fmt.Errorf("%s: the name of the %s cannot be a label: %w; use --class", name, from, err)
	}
	return label, err
}

// extensions are those that a file name may have beside its label: of compressions and of formats.
var extensions = []string{
	".gz", ".zst", ".bz2", ".xz", ".lz4",
	".txt", ".text", ".tsv", ".tab", ".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".ft", ".fasttext", ".warc", ".wet",
	".svm", ".svmlight", ".libsvm", ".md", ".html", ".htm",
}

// withoutExtensions removes known extensions only: gpt-4.5.txt.gz is gpt-4.5.
func withoutExtensions(name string) string {
	for {
		extension := path.Ext(name)
		if !slices.Contains(extensions, strings.ToLower(extension)) {
			return name
		}
		name = strings.TrimSuffix(name, extension)
	}
}
