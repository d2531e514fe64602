package countio

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// wideColumns are the columns of a wide table. counts and numbers are parallel, sorted by class label: sums over classes
// then do not depend on the order of the columns.
type wideColumns struct {
	feature int
	counts  []int
	numbers []int32 // of the classes
}

func (t *tableReader) findWideColumns() error {
	w := &t.wide
	for i, label := range t.names {
		if label == featureColumn {
			w.feature = i
			continue
		}
		if err := t.checkNumeric(i); err != nil {
			return err
		}
		w.counts = append(w.counts, i)
	}
	slices.SortFunc(w.counts, func(a, b int) int { return strings.Compare(t.names[a], t.names[b]) })
	for _, column := range w.counts {
		t.classes = append(t.classes, t.names[column])
		w.numbers = append(w.numbers, t.numbered.Number(t.names[column]))
	}
	return nil
}

func (t *tableReader) nextWide() (*Feature, error) {
	if err := t.nextRow(); err != nil {
		return nil, err
	}
	name, err := t.parseFeature(t.wide.feature)
	if err != nil {
		return nil, err
	}
	id := identityOf(name)
	if t.first != nil {
		if before, ok := t.first[id]; ok {
			return nil, t.fail("duplicate feature %s: it is already in row %d", quoted(name), before)
		}
		t.first[id] = t.row
	}
	f := &t.feature
	f.start([]byte(name), id.featureID())
	for i, column := range t.wide.counts {
		n, err := t.parseCount(column, name, t.classes[i])
		if err != nil {
			return nil, err
		}
		if t.constraints.CountsAreDocuments {
			if err := t.checkDocuments(n, name, t.classes[i]); err != nil {
				return nil, err
			}
		}
		f.add(t.wide.numbers[i], n, n)
	}
	return f, t.checkSum(t.row, f)
}

// groupWide reads the whole table into groups, which can be sorted.
func (t *tableReader) groupWide() error {
	g := newGroups(false)
	for {
		f, err := t.nextWide()
		if errors.Is(err, io.EOF) {
			return t.setGroups(g)
		}
		if err != nil {
			return err
		}
		for i, count := range f.Occurrences {
			if err := t.addCell(g, string(f.name), t.classes[i], count, count); err != nil {
				return err
			}
		}
	}
}
