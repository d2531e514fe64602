package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Header says whether files begin with a line that names the columns.
type Header int

// What may be known of headers.
const (
	Unknown Header = iota // a first line that looks like a header is an error
	Present               // the first line of every file is skipped
	Absent                // the first line is a document, whatever it looks like
)

// HeaderError is a file whose first line looks like a header, where nothing is known of headers.
type HeaderError struct{ File, Label, Text string }

// Error says what the way out is.
func (e *HeaderError) Error() string {
	way := "--header skips the first line of every file, --header=false counts it as a document"
	if slices.Contains(textColumns, columnName(e.Label)) {
		way = "the columns are swapped: a line is label<TAB>text"
	}
	return fmt.Sprintf("%s: the first line is a header (%s, %s); %s", e.File, e.Label, strings.ReplaceAll(e.Text, "\t", ", "), way)
}

// What columns of labels and of texts are called.
var (
	labelColumns = []string{
		"label", "labels", "class", "classes", "category", "categories", "target", "sentiment", "polarity", "rating", "score",
		"stars", "topic", "author", "genre", "intent", "emotion", "language", "lang", "tag", "label_name", "class_name",
	}
	textColumns = []string{
		"text", "texts", "review", "reviews", "sentence", "document", "doc", "content", "body", "message", "comment", "tweet",
		"phrase", "title", "question", "utterance", "description", "review_text", "text_content",
	}
)

// maxHeader is the length of the longest line that may be a header.
const maxHeader = 256

// isHeader reports whether label and text are names of columns: a label's and a text's, in any order, and maybe more
// columns behind them. A document that has a typical name as its label still has another text.
func isHeader(label, text []byte) bool {
	if len(label)+len(text) > maxHeader {
		return false
	}
	cell, _, _ := strings.Cut(string(text), "\t")
	a, b := columnName(string(label)), columnName(cell)
	return slices.Contains(labelColumns, a) && slices.Contains(textColumns, b) ||
		slices.Contains(textColumns, a) && slices.Contains(labelColumns, b)
}

func columnName(cell string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(cell), `"'`))
}

// FirstLabel returns the beginning of what stands before the first tab of a file: an example of its labels.
func FirstLabel(ctx context.Context, f File, header Header) (label string, err error) {
	const longestLine, longest = 1 << 20, 256
	r, err := NewReader(ctx, Range{f, 0, 1}, longestLine)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Abandon()) }()
	r.limit = -1
	if header == Present {
		r.line()
	}
	for {
		line, ok := r.line()
		if !ok {
			return "", r.err
		}
		if b, _, found := bytes.Cut(line, []byte{'\t'}); found && len(bytes.TrimSpace(b)) > 0 {
			b = bytes.TrimSpace(b)
			return strings.ToValidUTF8(string(b[:min(len(b), longest)]), ""), nil
		}
	}
}
