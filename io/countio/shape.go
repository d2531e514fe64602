package countio

import (
	"fmt"
	"slices"
	"strings"
)

// The columns of a long table. A wide one has the first, and beside it a column for each class.
const (
	featureColumn   = "feature"
	classColumn     = "class"
	countColumn     = "count"
	documentsColumn = "documents"  // may be missing
	idColumn        = "feature_id" // may be there, as in the parts of a run, and is not read
)

var longColumns = []string{featureColumn, classColumn, countColumn, documentsColumn, idColumn}

// checkHeader holds that the columns have names of their own, and that there are some to read.
func (t *ownTable) checkHeader() error {
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
		return t.fail("no column is named feature; found: %s", listed(t.names))
	}
	if len(t.names) == 1 {
		return t.fail("there is no column of counts beside feature")
	}
	return nil
}

// isLong tells the shape by the header alone, as the contents of a column may not: labels may be numbers, too.
func isLong(names []string) bool {
	for _, name := range names {
		if !slices.Contains(longColumns, name) {
			return false
		}
	}
	return slices.Contains(names, classColumn) && slices.Contains(names, countColumn)
}

// holdsNumbers fails if the type of the column says that it holds something else.
func (t *ownTable) holdsNumbers(column int) error {
	if kind, ok := t.rows.numeric(column); !ok {
		return t.fail("the column %s is a %s; cast it to BIGINT or DOUBLE%s", printable(t.names[column]), kind, t.longHint())
	}
	return nil
}

// longHint is for a wide table that was perhaps meant to be a long one.
func (t *ownTable) longHint() string {
	if isLong(t.names) || !slices.Contains(t.names, classColumn) && !slices.Contains(t.names, countColumn) {
		return ""
	}
	return fmt.Sprintf(" (a table with a row for each feature and class has columns named %s and perhaps %s, and no others)",
		strings.Join(longColumns[:3], ", "), strings.Join(longColumns[3:], ", "))
}

// listed are the first of the names.
func listed(names []string) string {
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
