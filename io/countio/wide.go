package countio

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// readWide reads a table with a row for each feature and a column for each class, and visits each row as it comes.
func (t *ownTable) readWide(visit func(*Feature) error) error {
	var columns []int // of the counts
	var name int      // of the features
	for i, label := range t.names {
		if label == featureColumn {
			name = i
			continue
		}
		if err := t.holdsNumbers(i); err != nil {
			return err
		}
		columns = append(columns, i)
	}
	// Counts are added over classes by who reads them, and so have one order, whatever that of the columns.
	slices.SortFunc(columns, func(a, b int) int { return strings.Compare(t.names[a], t.names[b]) })
	var numbers []int32 // of the classes
	for _, column := range columns {
		t.classes = append(t.classes, t.names[column])
		numbers = append(numbers, t.numbered.Number(t.names[column]))
	}
	var f Feature
	for {
		err := t.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.wideRow(&f, name, columns, numbers); err != nil {
			return err
		}
		if err := visit(&f); err != nil {
			return err
		}
	}
}

// wideRow reads the row.
func (t *ownTable) wideRow(f *Feature, name int, columns []int, numbers []int32) error {
	text, err := t.feature(name)
	if err != nil {
		return err
	}
	id := identityOf(text)
	if t.first != nil {
		if before, ok := t.first[id]; ok {
			return t.fail("the feature %s stands in row %d already", quoted(text), before)
		}
		t.first[id] = t.row
	}
	f.start([]byte(text), id.featureID())
	for i, column := range columns {
		n, err := t.count(column, text, t.classes[i])
		if err != nil {
			return err
		}
		if t.rules.CountsAreDocuments {
			if err := t.checkDocuments(n, text, t.classes[i]); err != nil {
				return err
			}
		}
		f.add(numbers[i], n, n)
	}
	return t.checkSum(t.row, f)
}
