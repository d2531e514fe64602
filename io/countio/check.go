package countio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/solver"
)

// maxFeature is the longest name, in bytes; words from text have the same limit.
const maxFeature = math.MaxUint16

// feature is the feature of the row.
func (t *ownTable) feature(column int) (string, error) {
	name, ok := t.rows.text(column)
	switch {
	case !ok:
		return "", t.fail("the feature is %s, not a text", t.rows.shown(column))
	case name == "":
		return "", t.fail("the feature is empty")
	case len(name) > maxFeature:
		return "", t.fail("the feature has %d bytes, %d are the most", len(name), maxFeature)
	case !utf8.ValidString(name):
		return "", t.fail("the feature %s is not UTF-8", quoted(name))
	}
	return name, nil
}

// labelFault says what is wrong with a label, which elsewhere too is a text in UTF-8 without NUL bytes.
func labelFault(label string) string {
	switch {
	case label == "":
		return "is empty"
	case strings.Contains(label, "\x00"):
		return "has NUL bytes"
	case !utf8.ValidString(label):
		return "is not UTF-8"
	}
	return ""
}

// class is the class of the row.
func (t *ownTable) class(column int) (string, error) {
	label, ok := t.rows.text(column)
	if !ok {
		return "", t.fail("the class is %s, not a text", t.rows.shown(column))
	}
	label = strings.TrimSpace(label)
	if fault := labelFault(label); fault != "" {
		return "", t.fail("the class %s %s", quoted(label), fault)
	}
	return label, nil
}

// count is a count of the row.
func (t *ownTable) count(column int, name, class string) (float64, error) {
	v, ok := t.rows.number(column)
	if !ok {
		return 0, t.fail("the count of %s in class %s is %s, not a number%s", quoted(name), printable(class), t.rows.shown(column), t.longHint())
	}
	if !solver.InRange(v) {
		return 0, t.fail("the count of %s in class %s is %v; it must be zero or a number from %g to %g", quoted(name), printable(class), v, solver.Least, solver.Most)
	}
	return v + 0, nil // -0 becomes 0
}

// documents is how many documents the row counts.
func (t *ownTable) documents(column int, name, class string) (float64, error) {
	n, ok := t.rows.number(column)
	if !ok {
		return 0, t.fail("the documents of %s in class %s are %s, not a number", quoted(name), printable(class), t.rows.shown(column))
	}
	return n + 0, t.checkDocuments(n, name, class)
}

// checkDocuments holds that a class may have so many documents with the feature.
func (t *ownTable) checkDocuments(n float64, name, class string) error {
	const most = 1 << 53 // up to where a float64 counts
	if !(n >= 0 && n <= most) || n != math.Trunc(n) {
		return t.fail("%s is in %v documents of class %s; it must be a whole number from 0 to 2^53", quoted(name), n, printable(class))
	}
	if all, ok := t.rules.Documents[class]; ok && n > float64(all) {
		return t.fail("%s is in %v documents of class %s, which has %d", quoted(name), n, printable(class), all)
	}
	return nil
}

// quoted is a text of the table for a message, of which it must not make more than a line.
func quoted(text string) string {
	const longest = 60
	if utf8.RuneCountInString(text) > longest {
		return fmt.Sprintf("%.*q…", longest, text)
	}
	return strconv.Quote(text)
}

// printable is the text as it is, if that is plain.
func printable(text string) string {
	if q := quoted(text); q != `"`+text+`"` {
		return q
	}
	return text
}

// checkSum holds that the sum of a feature's counts is a number to work with, too.
func (t *ownTable) checkSum(row int64, f *Feature) error {
	if sum := solver.Sum(f.Occurrences); !solver.InRange(sum) {
		return t.failAt(row, "the counts of %s sum to %v; %g is the most", quoted(string(f.name)), sum, solver.Most)
	}
	return nil
}
