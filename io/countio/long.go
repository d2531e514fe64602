package countio

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
)

// longColumnsAt are column numbers; documents is -1 if the table has no such column.
type longColumnsAt struct {
	feature, class, count, documents int
}

// readLong reads a long table, whose rows come in any order, into groups.
func (t *tableReader) readLong() error {
	columns, err := t.findLongColumns()
	if err != nil {
		return err
	}
	g := newGroups(columns.documents >= 0)
	for {
		err := t.nextRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := t.addLongRow(columns, g); err != nil {
			return err
		}
	}
	t.classes = g.classes
	if len(t.names) == 3 && g.looksWide() {
		return t.failAt(0, "every class is a number and every feature has one row, so the layout is ambiguous: "+
			"in a wide table, give the classes names other than class and count; in a long table, add a row with count 0")
	}
	return t.setGroups(g)
}

func (t *tableReader) findLongColumns() (longColumnsAt, error) {
	at := longColumnsAt{
		slices.Index(t.names, featureColumn), slices.Index(t.names, classColumn),
		slices.Index(t.names, countColumn), slices.Index(t.names, documentsColumn),
	}
	if err := t.checkNumeric(at.count); err != nil {
		return at, err
	}
	if at.documents >= 0 {
		return at, t.checkNumeric(at.documents)
	}
	return at, nil
}

func (t *tableReader) addLongRow(at longColumnsAt, g *groups) error {
	name, err := t.parseFeature(at.feature)
	if err != nil {
		return err
	}
	class, err := t.parseClass(at.class)
	if err != nil {
		return err
	}
	count, err := t.parseCount(at.count, name, class)
	if err != nil {
		return err
	}
	documents := count
	switch {
	case at.documents >= 0:
		documents, err = t.parseDocuments(at.documents, name, class)
	case t.constraints.CountsAreDocuments:
		err = t.checkDocuments(count, name, class)
	}
	if err != nil {
		return err
	}
	return t.addCell(g, name, class, count, documents)
}

func (t *tableReader) addCell(g *groups, name, class string, count, documents float64) error {
	if len(g.cells) == maxCells {
		return t.fail("the table has more than %d counts", uint32(maxCells))
	}
	g.add(name, class, count, documents)
	return nil
}

// setGroups makes the groups the features of the table: as they come, or sorted.
func (t *tableReader) setGroups(g *groups) error {
	t.groups, t.feature.DocumentsKnown = g, g.separate
	for _, label := range g.classes {
		t.numbers = append(t.numbers, t.numbered.Number(label))
	}
	if t.sorted {
		ids := make([]int64, len(g.features))
		for i := range ids {
			ids[i] = identityOf(g.name(i)).featureID()
			t.order = append(t.order, i)
		}
		slices.SortFunc(t.order, func(a, b int) int {
			return cmp.Or(cmp.Compare(ids[a], ids[b]), bytes.Compare(g.nameAt(a), g.nameAt(b)))
		})
	}
	return nil
}

// nextGroup returns the next feature of the groups, with the classes for which it has a row.
func (t *tableReader) nextGroup() (*Feature, error) {
	g, f, place := t.groups, &t.feature, t.place
	if place == len(g.features) {
		return nil, io.EOF
	}
	t.place++
	if t.sorted {
		place = t.order[place]
	}
	name := g.name(place)
	f.start([]byte(name), identityOf(name).featureID())
	t.buffer = g.rowsOf(place, t.buffer[:0])
	for i, row := range t.buffer {
		class := g.cell(row).class
		if i > 0 && g.cell(t.buffer[i-1]).class == class {
			return nil, t.failAt(int64(row), "duplicate count of %s in class %s: it is already in row %d", quoted(name), printable(g.classes[class]), t.buffer[i-1])
		}
		f.add(t.numbers[class], g.cell(row).count, g.documentsOf(row))
	}
	return f, t.checkSum(int64(t.buffer[len(t.buffer)-1]), f)
}
