package countio

import (
	"fmt"
	"slices"
	"strings"
)

// The columns of a long table. A wide table has the first, and one column for each class.
const (
	featureColumn   = "feature"
	classColumn     = "class"
	countColumn     = "count"
	documentsColumn = "documents"  // optional
	idColumn        = "feature_id" // optional, as in the parts of a run; not read
)

var longColumns = []string{featureColumn, classColumn, countColumn, documentsColumn, idColumn}

// checkHeader fails unless the column names are valid and unique, and there are counts.
func (t *tableReader) checkHeader() error {
	t.names = t.rows.header()
	seen := make(map[string]bool, len(t.names))
	for i := range t.names {
		t.names[i] = strings.TrimSpace(t.names[i])
		name := t.names[i]
		if fault := labelFault(name); fault != "" {
			return t.fail("the name of column %d %s", i+1, fault)
		}
		if seen[name] {
			return t.fail("two columns are named %s", printable(name))
		}
		seen[name] = true
	}
	if !seen[featureColumn] {
		return t.fail("no column is named feature; found: %s", list(t.names))
	}
	if len(t.names) == 1 {
		return t.fail("the only column is feature; columns of counts are missing")
	}
	return nil
}

// isLong decides by the header alone, because class labels may be numbers too.
func isLong(names []string) bool {
	for _, name := range names {
		if !slices.Contains(longColumns, name) {
			return false
		}
	}
	return slices.Contains(names, classColumn) && slices.Contains(names, countColumn)
}

// checkNumeric fails if the type of the column cannot hold counts.
func (t *tableReader) checkNumeric(column int) error {
	if kind, ok := t.rows.numeric(column); !ok {
		return t.fail("column %s has the type %s; cast it to BIGINT or DOUBLE%s", printable(t.names[column]), kind, t.longHint())
	}
	return nil
}

// longHint describes long tables if a wide table has some of their columns.
func (t *tableReader) longHint() string {
	if isLong(t.names) || !slices.Contains(t.names, classColumn) && !slices.Contains(t.names, countColumn) {
		return ""
	}
	return fmt.Sprintf(" (a table with one row for each feature and class has the columns %s, optionally %s, and no others)",
		strings.Join(longColumns[:3], ", "), strings.Join(longColumns[3:], " and "))
}

func list(names []string) string {
	const most = 10
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, printable(name))
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}
