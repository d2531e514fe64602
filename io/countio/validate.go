package countio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/solver"
)

// maxFeature is the maximum length of a name in bytes, as for words from text.
const maxFeature = math.MaxUint16

func (t *tableReader) parseFeature(column int) (string, error) {
	name, ok := t.rows.text(column)
	switch {
	case !ok:
		return "", t.fail("the feature is %s, not text", t.rows.shown(column))
	case name == "":
		return "", t.fail("the feature is empty")
	case len(name) > maxFeature:
		return "", t.fail("the feature has %d bytes; the maximum is %d", len(name), maxFeature)
	case !utf8.ValidString(name):
		return "", t.fail("the feature %s is not valid UTF-8", quoted(name))
	}
	return name, nil
}

// labelFault returns what is wrong with a class label, or "".
func labelFault(label string) string {
	switch {
	case label == "":
		return "is empty"
	case strings.Contains(label, "\x00"):
		return "contains a NUL byte"
	case !utf8.ValidString(label):
		return "is not valid UTF-8"
	}
	return ""
}

func (t *tableReader) parseClass(column int) (string, error) {
	label, ok := t.rows.text(column)
	if !ok {
		return "", t.fail("the class is %s, not text", t.rows.shown(column))
	}
	label = strings.TrimSpace(label)
	if fault := labelFault(label); fault != "" {
		return "", t.fail("the class %s %s", quoted(label), fault)
	}
	return label, nil
}

func (t *tableReader) parseCount(column int, name, class string) (float64, error) {
	v, ok := t.rows.number(column)
	if !ok {
		return 0, t.fail("the count of %s in class %s is %s, not a number%s", quoted(name), printable(class), t.rows.shown(column), t.longHint())
	}
	if !solver.InRange(v) {
		return 0, t.fail("the count of %s in class %s is %v; it must be zero or a number from %g to %g", quoted(name), printable(class), v, solver.Least, solver.Most)
	}
	return v + 0, nil // -0 becomes 0
}

// parseDocuments returns the document count of the current row.
func (t *tableReader) parseDocuments(column int, name, class string) (float64, error) {
	n, ok := t.rows.number(column)
	if !ok {
		return 0, t.fail("the document count of %s in class %s is %s, not a number", quoted(name), printable(class), t.rows.shown(column))
	}
	return n + 0, t.checkDocuments(n, name, class)
}

// checkDocuments fails unless n is a possible document count in the class.
func (t *tableReader) checkDocuments(n float64, name, class string) error {
	const most = 1 << 53 // a float64 holds every integer up to here
	if !(n >= 0 && n <= most) || n != math.Trunc(n) {
		return t.fail("the document count of %s in class %s is %v; it must be a whole number from 0 to 2^53", quoted(name), printable(class), n)
	}
	if all, ok := t.constraints.Documents[class]; ok && n > float64(all) {
		return t.fail("the document count of %s in class %s is %v, but the class has %d documents", quoted(name), printable(class), n, all)
	}
	return nil
}

// quoted quotes a text for an error message of one line.
func quoted(text string) string {
	const longest = 60
	if utf8.RuneCountInString(text) > longest {
		return fmt.Sprintf("%.*q…", longest, text)
	}
	return strconv.Quote(text)
}

// printable quotes a text only if it needs quotes.
func printable(text string) string {
	if q := quoted(text); q != `"`+text+`"` {
		return q
	}
	return text
}

// checkSum fails if the total count of a feature is out of range.
func (t *tableReader) checkSum(row int64, f *Feature) error {
	if sum := solver.Sum(f.Occurrences); !solver.InRange(sum) {
		return t.failAt(row, "the counts of %s sum to %v; the maximum is %g", quoted(string(f.name)), sum, solver.Most)
	}
	return nil
}
