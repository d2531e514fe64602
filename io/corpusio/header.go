package corpusio

import (
	"fmt"
	"slices"
	"strings"
)

// Header says whether files begin with a line of column names.
type Header int

// The values of Header.
const (
	Unknown Header = iota // a first line that looks like a header is an error
	Present               // the first line of every file is skipped
	Absent                // the first line is a document, even if it looks like a header
)

// HeaderError is a file whose first line looks like a header, where Header is Unknown. Label is empty if there is one column.
type HeaderError struct{ File, Label, Text string }

// Error is one line that says what to do.
func (e *HeaderError) Error() string {
	remedy := "use --header to skip the first line of every file, --header=false to read it as a document"
	if slices.Contains(textColumns, columnName(e.Label)) {
		remedy = "the columns are swapped: a line must be label<TAB>text"
	}
	names := strings.ReplaceAll(e.Text, "\t", ", ")
	if e.Label != "" {
		names = e.Label + ", " + names
	}
	return fmt.Sprintf("%s: the first line is a header (%s); %s", e.File, names, remedy)
}

// Usual names of the columns of labels and of texts.
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

// maxHeader is the length of the longest header.
const maxHeader = 256

// isHeader reports whether label and text are usual column names, in any order, maybe with more columns after them. A
// document whose label is such a name has a different text.
func isHeader(label, text []byte) bool {
	if len(label)+len(text) > maxHeader {
		return false
	}
	cell, _, _ := strings.Cut(string(text), "\t")
	a, b := columnName(string(label)), columnName(cell)
	return slices.Contains(labelColumns, a) && slices.Contains(textColumns, b) ||
		slices.Contains(textColumns, a) && slices.Contains(labelColumns, b)
}

func isTextColumn(name string) bool { return slices.Contains(textColumns, columnName(name)) }

// isUsualName reports whether a column is named as labels or texts usually are.
func isUsualName(name string) bool {
	return isTextColumn(name) || slices.Contains(labelColumns, columnName(name))
}

func columnName(cell string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(cell), `"'`))
}
