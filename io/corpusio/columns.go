package corpusio

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// columns are the columns of a file that make a document, numbered from 0; -1 if there is none.
type columns struct {
	label     int
	texts     []int
	weight    int
	id, group int
}

var noColumns = columns{label: -1, weight: -1, id: -1, group: -1}

// findColumns finds the columns that reading names among those of a file, or else columns with usual names. The label needs no
// column if the file has one, or if labels are optional. Its error is a *LayoutError.
func findColumns(f File, names []string, reading Reading) (c columns, err error) {
	c = noColumns
	seen := map[string]bool{}
	for _, name := range names {
		if name != "" && seen[name] {
			return c, &LayoutError{f.Name, fmt.Sprintf("two columns are named %q; rename one of them", name)}
		}
		seen[name] = true
	}
	find := func(flag, column, what string, usual []string) (int, error) {
		return findColumn(f, names, flag, column, what, usual)
	}
	if f.Label == "" && !reading.guessesLabel(f) {
		if c.label, err = find("label_column", reading.LabelColumn, "labels", labelColumns); err != nil {
			return c, err
		}
	}
	texts := reading.TextColumns
	if len(texts) == 0 && isOnlyText(names, reading) {
		texts = names
	} else if len(texts) == 0 {
		texts = []string{""}
	}
	for _, column := range texts {
		i, err := find("text_column", column, "texts", textColumns)
		if err != nil {
			return c, err
		}
		c.texts = append(c.texts, i)
	}
	if err := c.findNamed(f, names, reading); err != nil {
		return c, err
	}
	if reading.guessesLabel(f) {
		c.label = c.usualLabel(names)
	}
	if reading.LabelColumn == "" && c.label >= 0 && (c.label == c.id || c.label == c.group) {
		return c, labelTwice(f, "column", names[c.label])
	}
	if slices.Contains(c.texts, c.label) {
		return c, &LayoutError{f.Name, fmt.Sprintf("column %q is both label and text; name them with --label_column and --text_column", names[c.label])}
	}
	return c, nil
}

// labelTwice is the error of a column that a flag names for something else, and that is found as the label by its usual name.
func labelTwice(f File, what, name string) error {
	return &LayoutError{f.Name, fmt.Sprintf("%s %q would be the label, too; name the label with --label_column", what, name)}
}

// findNamed finds the columns that a file has only if a flag names them.
func (c *columns) findNamed(f File, names []string, reading Reading) (err error) {
	for _, named := range []struct {
		flag, column string
		to           *int
	}{{"weight_column", reading.WeightColumn, &c.weight}, {"id_column", reading.IDColumn, &c.id}, {"group_column", reading.GroupColumn, &c.group}} {
		if named.column == "" {
			continue
		}
		if *named.to, err = findColumn(f, names, named.flag, named.column, "", nil); err != nil {
			return err
		}
	}
	return nil
}

// isOnlyText reports whether a file has one column, which is the text where labels are optional.
func isOnlyText(names []string, reading Reading) bool {
	return reading.LabelOptional && len(names) == 1 && !slices.Contains(labelColumns, columnName(names[0]))
}

// usualLabel returns a column with a usual name of labels that has no other use, or -1.
func (c columns) usualLabel(names []string) int {
	for _, usual := range labelColumns {
		for i, name := range names {
			if columnName(name) == usual && !slices.Contains(c.texts, i) && i != c.weight && i != c.id && i != c.group {
				return i
			}
		}
	}
	return -1
}

// findColumn finds a column that a flag names, or else one with a usual name.
func findColumn(f File, names []string, flag, column, what string, usual []string) (int, error) {
	if column == "" {
		for _, name := range usual {
			if i := slices.IndexFunc(names, func(n string) bool { return columnName(n) == name }); i >= 0 {
				return i, nil
			}
		}
		return -1, &LayoutError{f.Name, fmt.Sprintf("no column is named as %s usually are; name it with --%s; the columns are %s", what, flag, listColumns(names))}
	}
	if i := slices.Index(names, column); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(column); err == nil && 1 <= n && n <= len(names) {
		return n - 1, nil
	}
	return -1, &LayoutError{f.Name, fmt.Sprintf("there is no column %q (--%s); the columns are %s", column, flag, listColumns(names))}
}

// listColumns lists the first 20 columns for a message.
func listColumns(names []string) string {
	const most, longest = 20, 40
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		if runes := []rune(name); len(runes) > longest {
			name = string(runes[:longest]) + "…"
		}
		if quoted := strconv.Quote(name); quoted != `"`+name+`"` || strings.ContainsAny(name, ", ") || name == "" {
			name = quoted
		}
		shown = append(shown, name)
	}
	if len(names) > most {
		shown = append(shown, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(shown, ", ")
}
