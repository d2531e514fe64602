package corpusio

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// shape is how JSON is laid out in a file.
type shape int

const (
	noJSON      shape = iota
	jsonObjects       // an object a line
	jsonReturns       // an object a line, but lines end in carriage returns alone
	jsonPretty        // an object takes several lines
	jsonArray         // an array of objects
)

// jsonShape returns the shape of a file from its start. The first line of JSON Lines may be malformed, if others are not.
func jsonShape(head []byte) shape {
	head = bytes.TrimLeft(trimMarks(head), jsonSpace)
	d := jsontext.NewDecoder(bytes.NewBuffer(head), jsonOptions...)
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		return noJSON
	}
	var err error
	for first := true; err == nil && (first || d.StackDepth() > 0); first = false {
		if _, err = d.ReadToken(); first && kind == '[' && d.PeekKind() != '{' {
			return noJSON
		}
	}
	value, rest := head, []byte(nil)
	switch {
	case err == nil:
		value, rest = head[:d.InputOffset()], head[d.InputOffset():]
	case !errors.Is(err, io.ErrUnexpectedEOF): // the head may end within the value
		if kind == '{' && hasObjectLine(head) {
			return jsonObjects
		}
		return noJSON
	}
	next := bytes.TrimLeft(rest, jsonSpace)
	between := rest[:len(rest)-len(next)]
	sameLine := len(next) > 0 && bytes.IndexByte(between, '\n') < 0
	switch {
	case kind == '[':
		return jsonArray
	case bytes.IndexByte(value, '\n') >= 0: // it is between two tokens: strings have none
		return jsonPretty
	case sameLine && next[0] == '{' && bytes.IndexByte(between, '\r') >= 0:
		return jsonReturns
	case sameLine && next[0] != '{' && !hasObjectLine(head): // such as a label in braces
		return noJSON
	}
	return jsonObjects
}

// hasObjectLine reports whether a line is a JSON object.
func hasObjectLine(head []byte) bool {
	for line := range bytes.Lines(head) {
		if _, _, ok := jsonMembers(line); ok {
			return true
		}
	}
	return false
}
