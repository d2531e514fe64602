package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sparsenb/sparsenb/feature"
)

// svmlight is the format of SVMlight and LIBSVM: a document is a line "label index:value … # comment".
type svmlight struct{}

func (svmlight) Name() string { return "svmlight" }

// zeroBased is the layout of a file whose indexes start from 0.
const zeroBased = "zero_based"

func (svmlight) Detect(h Head, reading Reading) bool {
	found := false
	for _, line := range headLines(h.Bytes) {
		label, pairs := splitPairs(line)
		if label == nil && pairs == nil {
			continue
		}
		if !isNumbers(label) && !(label == nil && reading.LabelOptional) {
			return false
		}
		last := int64(-1)
		for _, pair := range pairs {
			index, _, ok := parsePair(pair)
			if !ok {
				return false
			}
			if index == nil { // qid:n
				continue
			}
			n, err := strconv.ParseInt(string(index), 10, 64)
			if err != nil || n <= last { // as in a text with times of the day
				return false
			}
			found, last = true, n
		}
	}
	return found
}

func (svmlight) Describe(ctx context.Context, h Head, reading Reading) (string, error) {
	if _, err := loadNames(ctx, reading); err != nil {
		return "", err
	}
	zero, err := isZeroBased(ctx, h, reading)
	if zero {
		return zeroBased, err
	}
	return "", err
}

// isZeroBased reports whether indexes start from 0: as a comment of dump_svmlight_file says, or because the file has an index
// 0. The base matters only if features have names; then the whole file is searched.
func isZeroBased(ctx context.Context, h Head, reading Reading) (bool, error) {
	switch {
	case bytes.Contains(h.Bytes, []byte("# Column indices are zero-based")):
		return true, nil
	case bytes.Contains(h.Bytes, []byte("# Column indices are one-based")), reading.FeatureNames == "", h.File.Size == 0:
		return false, nil
	}
	l, err := openLines(ctx, Range{h.File, 0, h.File.Size}, reading)
	if err != nil {
		return false, err
	}
	for {
		line, _, ok := l.next()
		if !ok {
			var corrupt *CorruptError
			if errors.As(l.err, &corrupt) { // the reading reports it
				return false, l.Abandon()
			}
			return false, errors.Join(l.err, l.Abandon())
		}
		if bytes.Contains(line, []byte(" 0:")) || bytes.Contains(line, []byte("\t0:")) {
			return true, l.Abandon()
		}
	}
}

func (svmlight) Split(_ context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitLines(f, size), nil
}

func (svmlight) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	names, err := loadNames(ctx, o.Reading)
	if err != nil {
		return nil, err
	}
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return &svmlightReader{records: l, names: names, features: make([]feature.Value, 0, 64)}, nil
}

type svmlightReader struct {
	records
	names    *featureNames // nil: the name of a feature is its index
	features []feature.Value
	labels   [][]byte
}

func (r *svmlightReader) Next(d *Document) bool {
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
		}
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if len(bytes.TrimSpace(line)) == 0 {
			r.skipped.Blank++
			continue
		}
		ok, problem := r.parse(d, line)
		switch {
		case problem != "":
			r.fail(&CorruptError{r.Span().File.Name, offset, problem})
			return false
		case !ok:
			r.reject(offset, BadFeature, line)
			continue
		case len(d.MoreLabels) >= maxLabels:
			r.reject(offset, ManyLabels, line)
			continue
		}
		d.Offset, d.Text = offset, nil
		return true
	}
}

// parse parses a line. It returns false if the line is malformed, and a problem if it is well-formed but cannot be counted.
func (r *svmlightReader) parse(d *Document, line []byte) (ok bool, problem string) {
	label, rest := firstField(line)
	if bytes.IndexByte(label, ':') >= 0 { // without labels, as some files of several labels have it
		label, rest = nil, line
	}
	r.features = r.features[:0]
	for {
		var pair []byte
		if pair, rest = firstField(rest); pair == nil {
			break
		}
		index, value, ok := parsePair(pair)
		if !ok {
			return false, ""
		}
		if index == nil { // qid:n
			continue
		}
		name, problem := r.nameOf(index)
		switch {
		case problem != "":
			return false, problem
		case !(value >= 0) || math.IsInf(value, 0):
			return false, badValue("feature "+shownName(name), value)
		}
		r.features = append(r.features, feature.Value{Name: name, Value: value})
	}
	d.Features = r.features
	d.Label, d.MoreLabels = label, nil
	if bytes.IndexByte(label, ',') >= 0 {
		r.labels = append(r.labels[:0], bytes.Split(label, []byte{','})...)
		d.Label, d.MoreLabels = r.labels[0], r.labels[1:]
	}
	return true, ""
}

// nameOf returns the name of a feature, or why it has none.
func (r *svmlightReader) nameOf(index []byte) (name []byte, problem string) {
	if r.names == nil {
		return index, ""
	}
	i, err := strconv.ParseUint(string(index), 10, 64)
	zero := r.Span().File.Layout == zeroBased
	if err == nil && i == 0 && !zero {
		return nil, "index 0 in a file whose comment says that indexes start from 1"
	}
	if zero {
		i++
	}
	if name = r.names.line(i); err != nil || name == nil {
		return nil, fmt.Sprintf("feature %s has no name: %s has %d lines (--feature_names)", index, r.names.file, len(r.names.ends))
	}
	if len(name) == 0 {
		return nil, fmt.Sprintf("feature %s has no name: line %d of %s is empty (--feature_names)", index, i, r.names.file)
	}
	return name, ""
}

// badValue is why a value cannot be counted. what says whose value it is.
func badValue(what string, value float64) string {
	if value < 0 {
		return fmt.Sprintf("%s has the value %v; values must be at least 0; clip or shift them first", what, value)
	}
	return fmt.Sprintf("%s has the value %v; it must be a number", what, value)
}

// shownName quotes the name of a feature for a message.
func shownName(name []byte) string { return fmt.Sprintf("%.60q", name) }

// splitPairs splits a line without its comment into the label and the fields after it. Both are nil if the line is blank.
func splitPairs(line []byte) (label []byte, pairs [][]byte) {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	fields := bytes.FieldsFunc(line, isSpace)
	if len(fields) == 0 {
		return nil, nil
	}
	if bytes.IndexByte(fields[0], ':') >= 0 {
		return nil, fields
	}
	return fields[0], fields[1:]
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\v' || r == '\f' }

// firstField returns the first field of a line and the rest of it; nil if there is none.
func firstField(line []byte) (field, rest []byte) {
	start := 0
	for start < len(line) && isSpace(rune(line[start])) {
		start++
	}
	end := start
	for end < len(line) && !isSpace(rune(line[end])) {
		end++
	}
	if start == end {
		return nil, nil
	}
	return line[start:end], line[end:]
}

// parsePair parses index:value. The index has no leading zeros; it is nil in qid:n.
func parsePair(pair []byte) (index []byte, value float64, ok bool) {
	index, number, ok := bytes.Cut(pair, []byte{':'})
	if !ok || len(index) == 0 {
		return nil, 0, false
	}
	if string(index) == "qid" {
		return nil, 0, true
	}
	for _, b := range index {
		if b < '0' || b > '9' {
			return nil, 0, false
		}
	}
	for len(index) > 1 && index[0] == '0' {
		index = index[1:]
	}
	value, ok = parseValue(number)
	return index, value, ok
}

// parseValue parses a number.
func parseValue(b []byte) (value float64, ok bool) {
	if n := len(b); 0 < n && n <= 9 { // most are small integers
		whole := 0
		for i, c := range b {
			if c < '0' || c > '9' {
				break
			}
			if whole = 10*whole + int(c-'0'); i == n-1 {
				return float64(whole), true
			}
		}
	}
	if bytes.ContainsAny(b, "_xXpP") { // numbers of Go alone
		return 0, false
	}
	value, err := strconv.ParseFloat(string(b), 64)
	return value, err == nil || math.IsInf(value, 0) // a number that is too large is reported as such
}

// isNumbers reports whether a label is a number, or several that are joined by commas.
func isNumbers(label []byte) bool {
	if len(label) == 0 {
		return false
	}
	return !slices.ContainsFunc(bytes.Split(label, []byte{','}), func(b []byte) bool {
		_, ok := parseValue(b)
		return !ok
	})
}

// headLines are the lines at the start of a file. The last may be a part of a line, cut between two fields.
func headLines(head []byte) [][]byte {
	if len(head) == headBytes {
		head = head[:max(0, bytes.LastIndexAny(head, " \t\n"))]
	}
	return bytes.Split(trimMarks(head), []byte{'\n'})
}
