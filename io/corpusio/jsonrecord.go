package corpusio

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonSpace is the white space between JSON tokens.
const jsonSpace = " \t\r\n"

// Invalid UTF-8 is no syntax error, so that it is replaced and counted as in other formats. Of duplicate keys the last one
// counts, as in Python and JavaScript.
var jsonOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// jsonRecord reads the values of a layout from one record after the other.
type jsonRecord struct {
	decoder jsontext.Decoder
	source  bytes.Buffer
	record  []byte

	root          jsonKey
	values        []jsontext.Value // by slot, as they are in the record; nil if missing
	label, weight int              // slots; -1 if there is none
	id, group     int              // slots; -1 if there is none
	texts         []int            // slots

	name, joined []byte   // buffers
	labelBytes   []byte   // buffer
	found        [][]byte // buffer
}

// jsonKey is a key that is read, or the record itself.
type jsonKey struct {
	name  string
	slot  int // of the value; -1 if only values within it are read
	inner []*jsonKey
}

func newJSONRecord(layout jsonLayout) *jsonRecord {
	r := &jsonRecord{root: jsonKey{slot: -1}}
	r.label, r.weight = r.optionalSlot(layout.Label), r.optionalSlot(layout.Weight)
	r.id, r.group = r.optionalSlot(layout.ID), r.optionalSlot(layout.Group)
	for _, keys := range layout.Texts {
		r.texts = append(r.texts, r.slot(keys))
	}
	return r
}

func (r *jsonRecord) optionalSlot(keys []string) int {
	if keys == nil {
		return -1
	}
	return r.slot(keys)
}

// slot returns the slot of the value that the keys lead to.
func (r *jsonRecord) slot(keys []string) int {
	at := &r.root
	for _, name := range keys {
		i := slices.IndexFunc(at.inner, func(k *jsonKey) bool { return k.name == name })
		if i < 0 {
			i = len(at.inner)
			at.inner = append(at.inner, &jsonKey{name: name, slot: -1})
		}
		at = at.inner[i]
	}
	if at.slot < 0 {
		at.slot = len(r.values)
		r.values = append(r.values, nil)
	}
	return at.slot
}

// read reads a record: a JSON object with nothing after it. The values are valid as long as the record.
func (r *jsonRecord) read(record []byte) Reason {
	clear(r.values)
	r.start(record)
	switch kind := r.decoder.PeekKind(); {
	case kind == '{':
		if r.readObject(&r.root) != nil {
			return NotJSON
		}
	case r.decoder.SkipValue() != nil:
		return NotJSON
	default:
		return NotObject
	}
	if rest := bytes.TrimLeft(record[r.decoder.InputOffset():], jsonSpace); len(rest) > 0 {
		return AfterJSON
	}
	return ""
}

func (r *jsonRecord) start(text []byte) {
	r.record, r.source = text, *bytes.NewBuffer(text)
	r.decoder.Reset(&r.source, jsonOptions...)
}

// readObject reads the values of an object, which comes next.
func (r *jsonRecord) readObject(within *jsonKey) error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for r.decoder.PeekKind() != '}' {
		name, err := r.value()
		if err != nil {
			return err
		}
		key := within.find(r.unquoteName(name))
		if key == nil {
			if _, err := r.decoder.ReadValue(); err != nil {
				return err
			}
			continue
		}
		r.forget(key) // of a key that was there before
		if len(key.inner) > 0 && r.decoder.PeekKind() == '{' {
			if err := r.readObject(key); err != nil {
				return err
			}
			continue
		}
		value, err := r.value()
		if err != nil {
			return err
		}
		if key.slot >= 0 {
			r.values[key.slot] = value
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// value reads the next value, or the name of a key, as it is in the record.
func (r *jsonRecord) value() (jsontext.Value, error) {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	end := r.decoder.InputOffset()
	return r.record[end-int64(len(value)) : end], nil // the decoder's is only valid until it goes on
}

func (r *jsonRecord) unquoteName(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	r.name = appendUnquoted(r.name[:0], quoted)
	return r.name
}

func (k *jsonKey) find(name []byte) *jsonKey {
	for _, inner := range k.inner {
		if inner.name == string(name) {
			return inner
		}
	}
	return nil
}

// forget removes the values of a key and within it.
func (r *jsonRecord) forget(key *jsonKey) {
	if key.slot >= 0 {
		r.values[key.slot] = nil
	}
	for _, inner := range key.inner {
		r.forget(inner)
	}
}

// labels returns the label of the record, without surrounding spaces. Those of a list of labels are distinct.
func (r *jsonRecord) labels() (label []byte, more [][]byte, reason Reason) {
	if r.label < 0 || isAbsent(r.values[r.label]) {
		return nil, nil, NoLabel
	}
	value := r.values[r.label]
	if value.Kind() != '[' {
		label, ok := appendScalar(r.labelBytes[:0], value)
		if !ok {
			return nil, nil, BadLabel
		}
		r.labelBytes = label
		return bytes.TrimSpace(label), nil, ""
	}
	labels, n := r.found[:0], 0
	for element := range r.elements(value) {
		label, ok := appendScalar(nil, element)
		if n++; n > maxLabels {
			return nil, nil, ManyLabels
		}
		if !ok {
			return nil, nil, BadLabel
		}
		labels = addLabel(labels, bytes.TrimSpace(label))
	}
	if r.found = labels; len(labels) == 0 {
		return nil, nil, NoLabel
	}
	return labels[0], labels[1:], ""
}

// text returns the texts of the record, joined by a space. Missing ones are left out, unless all are.
func (r *jsonRecord) text() ([]byte, Reason) {
	if len(r.texts) == 1 { // the usual case: no copy
		if v := r.values[r.texts[0]]; v.Kind() == '"' && bytes.IndexByte(v, '\\') < 0 {
			return v[1 : len(v)-1], ""
		}
	}
	joined, some := r.joined[:0], false
	add := func(value jsontext.Value) (ok bool) {
		if some {
			joined = append(joined, ' ')
		}
		some = true
		joined, ok = appendScalar(joined, value)
		return ok
	}
	for _, slot := range r.texts {
		value := r.values[slot]
		switch {
		case isAbsent(value):
		case value.Kind() == '[':
			for element := range r.elements(value) {
				if !add(element) {
					return nil, BadText
				}
			}
			some = true // an empty list is an empty text
		case !add(value):
			return nil, BadText
		}
	}
	if r.joined = joined; !some {
		return nil, NoText
	}
	return joined, ""
}

// number returns the weight of the record.
func (r *jsonRecord) number() (weight float64, reason Reason) {
	if r.weight < 0 {
		return 1, ""
	}
	scalar, ok := appendScalar(nil, r.values[r.weight])
	weight, err := strconv.ParseFloat(string(scalar), 64)
	if !ok || err != nil || !(weight >= 0) || math.IsInf(weight, 1) {
		return 0, BadWeight
	}
	return weight, ""
}

// scalar returns the value of a slot as it is written, a string without its quotes; nil if there is none. It may use memory.
func (r *jsonRecord) scalar(slot int, memory *[]byte) (text []byte, reason Reason) {
	if slot < 0 || isAbsent(r.values[slot]) {
		return nil, ""
	}
	text, ok := appendScalar((*memory)[:0], r.values[slot])
	if !ok {
		return nil, BadID
	}
	*memory = text
	return text, ""
}

// elements returns the elements of an array that are not null. The decoder must be done with the record.
func (r *jsonRecord) elements(array jsontext.Value) func(yield func(jsontext.Value) bool) {
	return func(yield func(jsontext.Value) bool) {
		r.start(array)
		if _, err := r.decoder.ReadToken(); err != nil {
			return
		}
		for r.decoder.PeekKind() != ']' {
			value, err := r.value()
			if err != nil || !isAbsent(value) && !yield(value) {
				return
			}
		}
	}
}

func isAbsent(value jsontext.Value) bool { return value == nil || value.Kind() == 'n' }

// appendScalar appends a string, or a number, true or false as it is written. It returns false for any other value.
func appendScalar(dst []byte, value jsontext.Value) ([]byte, bool) {
	switch value.Kind() {
	case '"':
		return appendUnquoted(dst, value), true
	case '0', 't', 'f':
		return append(dst, value...), true
	}
	return dst, false
}

// loneSurrogate stands for half a surrogate pair. It is invalid UTF-8, and so replaced and counted as that is.
const loneSurrogate = 0xff

// appendUnquoted appends the content of a valid JSON string.
func appendUnquoted(dst, quoted []byte) []byte {
	s := quoted[1 : len(quoted)-1]
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		escape := s[i+1]
		s = s[i+2:]
		switch escape {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			char := hex4(s)
			s = s[4:]
			if utf16.IsSurrogate(char) {
				if pair := utf16.DecodeRune(char, escaped(s)); pair != utf8.RuneError {
					dst = utf8.AppendRune(dst, pair)
					s = s[6:]
				} else {
					dst = append(dst, loneSurrogate)
				}
			} else {
				dst = utf8.AppendRune(dst, char)
			}
		default: // a quotation mark or a slash
			dst = append(dst, escape)
		}
	}
}

// escaped returns the character of the \u escape that s begins with, or U+FFFD.
func escaped(s []byte) rune {
	if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
		return hex4(s[2:])
	}
	return utf8.RuneError
}

// hex4 returns the number of four hexadecimal digits.
func hex4(s []byte) (n rune) {
	for _, c := range s[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		n = n<<4 | rune(c)
	}
	return n
}

// jsonMembers returns the keys of an object, in their order and each once, with their values. It returns false if text is
// not one JSON object.
func jsonMembers(text []byte) (names []string, values map[string]jsontext.Value, ok bool) {
	r := newJSONRecord(jsonLayout{})
	if r.read(text) != "" {
		return nil, nil, false
	}
	values = map[string]jsontext.Value{}
	r.start(text)
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, nil, false
	}
	for r.decoder.PeekKind() != '}' {
		quoted, err := r.value()
		if err != nil {
			return nil, nil, false
		}
		name := string(r.unquoteName(quoted))
		value, err := r.value()
		if err != nil {
			return nil, nil, false
		}
		if _, ok := values[name]; !ok {
			names = append(names, name)
		}
		values[name] = value
	}
	return names, values, true
}
