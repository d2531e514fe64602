package corpusio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonl is the format JSON Lines: an object a line. Keys, maybe of nested objects, have the label and the texts.
type jsonl struct{}

func (jsonl) Name() string { return "jsonl" }

// Detect accepts text that begins as an object does, or as an array of objects, about which Describe then complains.
func (jsonl) Detect(h Head, _ Reading) bool { return jsonShape(h.Bytes) != noJSON }

func (jsonl) Split(_ context.Context, f File, size int64, _ Reading) ([]Range, error) {
	return splitLines(f, size), nil
}

// jsonLayout has the keys that lead to the label, the texts and other values, from the outer object to the inner. It is
// File.Layout, as JSON.
type jsonLayout struct {
	Label  []string   `json:"label,omitempty"`
	Texts  [][]string `json:"text"`
	Weight []string   `json:"weight,omitempty"`
	ID     []string   `json:"id,omitempty"`
	Group  []string   `json:"group,omitempty"`
}

// Describe finds the keys. Usual names are those of the first record. A key that the flags name must be in one of the first.
// A file without any record has an empty layout.
func (jsonl) Describe(ctx context.Context, h Head, reading Reading) (string, error) {
	if err := checkShape(h); err != nil {
		return "", err
	}
	finder := newKeyFinder(h.File, reading)
	complete, err := eachRecord(ctx, h.File, reading, finder.add)
	if err != nil || complete && finder.names == nil {
		return "", err
	}
	layout, err := finder.layout()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(layout)
	return string(text), err
}

// checkShape returns an error if a file is JSON, but not an object a line.
func checkShape(h Head) error {
	switch jsonShape(h.Bytes) {
	case jsonArray:
		return &LayoutError{h.File.Name, "is a JSON array, not one object per line; convert it with: jq -c '.[]'"}
	case jsonReturns:
		return &LayoutError{h.File.Name, returnsAlone}
	case jsonPretty:
		return &LayoutError{h.File.Name, "is pretty-printed JSON, not one object per line; convert it with: jq -c ."}
	}
	return nil
}

// The first records of a file are those in the first describeLines lines or describeBytes bytes.
const (
	describeLines = 1000
	describeBytes = 16 << 20
)

// eachRecord calls visit with the first records of a file until it returns true. It reports whether the file has no more.
func eachRecord(ctx context.Context, f File, reading Reading, visit func(record []byte) (done bool)) (complete bool, err error) {
	if f.Size == 0 {
		return true, nil
	}
	reading.MaxRecordBytes = cmp.Or(reading.MaxRecordBytes, describeBytes)
	l, err := openLines(ctx, Range{f, 0, f.Size}, reading)
	if err != nil {
		return false, err
	}
	for n := 0; n < describeLines && l.position < describeBytes; n++ {
		line, _, ok := l.next()
		if !ok {
			var corrupt *CorruptError
			if err = l.err; errors.As(err, &corrupt) { // the reading reports it
				err = nil
			}
			return true, errors.Join(err, l.Abandon())
		}
		if visit(line) {
			break
		}
	}
	return false, l.Abandon()
}

// keyFinder finds the keys that reading names, or those with usual names, in the first records of a file.
type keyFinder struct {
	file    File
	reading Reading
	paths   map[string][]string // the keys of each path of the flags
	names   []string            // the keys of the first record; nil before it
	label   []string            // the first usual key of a label, if reading guesses the label
}

func newKeyFinder(f File, reading Reading) *keyFinder {
	k := &keyFinder{file: f, reading: reading, paths: map[string][]string{}}
	for _, path := range append([]string{reading.LabelColumn, reading.WeightColumn, reading.IDColumn, reading.GroupColumn}, reading.TextColumns...) {
		if path != "" && (path != reading.LabelColumn || f.Label == "") {
			k.paths[path] = nil
		}
	}
	return k
}

// add looks for the paths in a record. It reports whether all are found.
func (k *keyFinder) add(record []byte) (done bool) {
	names, values, ok := jsonMembers(record)
	if !ok {
		return false
	}
	if k.names == nil {
		k.names = append([]string{}, names...)
	}
	done = true
	for path, keys := range k.paths {
		if keys == nil {
			k.paths[path] = findKeys(path, values)
		}
		done = done && k.paths[path] != nil
	}
	if k.reading.guessesLabel(k.file) {
		if k.label == nil {
			k.label = k.usualLabel(names, values)
		}
		done = done && k.label != nil
	}
	return done
}

// usualLabel returns a key of a record with a usual name of labels that has no other use, or nil. An object is no label.
func (k *keyFinder) usualLabel(names []string, values map[string]jsontext.Value) []string {
	for _, usual := range labelColumns {
		for _, name := range names {
			if _, used := k.paths[name]; columnName(name) == usual && !used && values[name].Kind() != '{' {
				return []string{name}
			}
		}
	}
	return nil
}

// findKeys splits a dotted path into keys. A key that contains dots comes before a shorter one.
func findKeys(path string, values map[string]jsontext.Value) []string {
	if _, ok := values[path]; ok {
		return []string{path}
	}
	for dot := strings.LastIndexByte(path, '.'); dot >= 0; dot = strings.LastIndexByte(path[:dot], '.') {
		value, ok := values[path[:dot]]
		if !ok || value.Kind() != '{' {
			continue
		}
		if _, inner, ok := jsonMembers(value); ok {
			if keys := findKeys(path[dot+1:], inner); keys != nil {
				return append([]string{path[:dot]}, keys...)
			}
		}
	}
	return nil
}

func (k *keyFinder) layout() (l jsonLayout, err error) {
	if k.names == nil {
		return l, &LayoutError{k.file.Name, fmt.Sprintf("none of the first %d lines is a JSON object", describeLines)}
	}
	l.Label = k.label
	if k.file.Label == "" && !k.reading.guessesLabel(k.file) {
		if l.Label, err = k.find("label_column", k.reading.LabelColumn, "labels", labelColumns); err != nil {
			return l, err
		}
	}
	texts := k.reading.TextColumns
	if len(texts) == 0 && isOnlyText(k.names, k.reading) {
		l.Texts = [][]string{k.names}
	} else if len(texts) == 0 {
		texts = []string{""}
	}
	for _, path := range texts {
		keys, err := k.find("text_column", path, "texts", textColumns)
		if err != nil {
			return l, err
		}
		if slices.Equal(keys, l.Label) {
			return l, &LayoutError{k.file.Name, fmt.Sprintf("key %q is both label and text; name them with --label_column and --text_column", strings.Join(keys, "."))}
		}
		l.Texts = append(l.Texts, keys)
	}
	for _, named := range []struct {
		flag, path string
		to         *[]string
	}{{"weight_column", k.reading.WeightColumn, &l.Weight}, {"id_column", k.reading.IDColumn, &l.ID}, {"group_column", k.reading.GroupColumn, &l.Group}} {
		if named.path == "" {
			continue
		}
		if *named.to, err = k.find(named.flag, named.path, "", nil); err != nil {
			return l, err
		}
		if k.reading.LabelColumn == "" && slices.Equal(*named.to, l.Label) && named.flag != "weight_column" {
			return l, labelTwice(k.file, "key", named.path)
		}
	}
	return l, nil
}

// find returns the keys of a path of the flags, or of a usual name if there is none.
func (k *keyFinder) find(flag, path, what string, usual []string) ([]string, error) {
	if path == "" {
		for _, name := range usual {
			if i := slices.IndexFunc(k.names, func(n string) bool { return columnName(n) == name }); i >= 0 {
				return []string{k.names[i]}, nil
			}
		}
		return nil, &LayoutError{k.file.Name, fmt.Sprintf("no key of the first record is named as %s usually are; name it with --%s; the keys are %s",
			what, flag, listColumns(k.names))}
	}
	if keys := k.paths[path]; keys != nil {
		return keys, nil
	}
	return nil, &LayoutError{k.file.Name, fmt.Sprintf("the first records have no key %q (--%s); the keys of the first one are %s", path, flag, listColumns(k.names))}
}

func (jsonl) Open(ctx context.Context, r Range, o Options) (Reader, error) {
	var layout jsonLayout
	if r.File.Layout != "" {
		if err := json.Unmarshal([]byte(r.File.Layout), &layout); err != nil {
			return nil, fmt.Errorf("%s: the layout %q: %w", r.File.Name, r.File.Layout, err)
		}
	}
	l, err := openRecords(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return newJSONLReader(l, r.File, layout), nil
}

func newJSONLReader(l records, f File, layout jsonLayout) *jsonlReader {
	return &jsonlReader{records: l, hasLabel: f.Label != "", record: newJSONRecord(layout)}
}

type jsonlReader struct {
	records
	hasLabel  bool // the file has a label, so that records need none
	record    *jsonRecord
	id, group []byte // buffers
}

func (r *jsonlReader) Next(d *Document) bool {
	for {
		line, offset, ok := r.next()
		if !ok {
			return false
		}
		if line == nil {
			r.reject(offset, TooLong, nil)
			continue
		}
		if len(bytes.TrimLeft(line, jsonSpace)) == 0 {
			r.skipped.Blank++
			continue
		}
		reason := r.record.read(line)
		if reason == "" && !r.hasLabel {
			d.Label, d.MoreLabels, reason = r.record.labels()
			if reason == NoLabel && r.options.LabelOptional {
				reason = ""
			}
		}
		if reason == "" {
			d.Text, reason = r.record.text()
		}
		if reason == "" {
			d.Weight, reason = r.record.number()
		}
		if reason == "" {
			d.ID, reason = r.record.scalar(r.record.id, &r.id)
		}
		if reason == "" {
			d.Group, reason = r.record.scalar(r.record.group, &r.group)
		}
		if reason != "" {
			r.reject(offset, reason, line)
			continue
		}
		d.Offset = offset
		return true
	}
}
