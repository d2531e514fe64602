package countio

import (
	"errors"
	"io"
	"slices"
)

// readLong reads a table with a row for each feature and class, whose rows stand in any order. It groups them in memory,
// and then visits every feature with the classes that it has a row for.
func (t *ownTable) readLong(visit func(*Feature) error) error {
	columns, err := t.findLongColumns()
	if err != nil {
		return err
	}
	g := newGroups(columns.documents >= 0)
	for {
		err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := t.longRow(columns, g); err != nil {
			return err
		}
	}
	t.classes = g.classes
	if len(t.names) == 3 && g.looksWide() {
		return t.failAt(0, "every class is a number and no feature stands in two rows: if the table is wide, call its classes other than class and count; "+
			"if it is not, add a row with a count of 0")
	}
	return t.visitGroups(g, visit)
}

func (t *ownTable) visitGroups(g *groups, visit func(*Feature) error) error {
	f := Feature{DocumentsKnown: g.separate}
	var rows []uint32
	var numbers []int32 // of the classes
	for _, label := range g.classes {
		numbers = append(numbers, t.numbered.Number(label))
	}
	for place := range g.features {
		name := g.name(place)
		f.start([]byte(name), identityOf(name).featureID())
		rows = g.rowsOf(place, rows[:0])
		for i, row := range rows {
			class := g.cell(row).class
			if i > 0 && g.cell(rows[i-1]).class == class {
				return t.failAt(int64(row), "the count of %s in class %s stands in row %d already", quoted(name), printable(g.classes[class]), rows[i-1])
			}
			f.add(numbers[class], g.cell(row).count, g.documentsOf(row))
		}
		if err := t.checkSum(int64(rows[len(rows)-1]), &f); err != nil {
			return err
		}
		if err := visit(&f); err != nil {
			return err
		}
	}
	return nil
}

// longPlaces are the places of the columns; that of the documents may be missing, and is -1 then.
type longPlaces struct {
	feature, class, count, documents int
}

func (t *ownTable) findLongColumns() (longPlaces, error) {
	p := longPlaces{
		slices.Index(t.names, featureColumn), slices.Index(t.names, classColumn),
		slices.Index(t.names, countColumn), slices.Index(t.names, documentsColumn),
	}
	if err := t.holdsNumbers(p.count); err != nil {
		return p, err
	}
	if p.documents >= 0 {
		return p, t.holdsNumbers(p.documents)
	}
	return p, nil
}

// longRow reads the row.
func (t *ownTable) longRow(at longPlaces, g *groups) error {
	name, err := t.feature(at.feature)
	if err != nil {
		return err
	}
	class, err := t.class(at.class)
	if err != nil {
		return err
	}
	count, err := t.count(at.count, name, class)
	if err != nil {
		return err
	}
	documents := count
	switch {
	case at.documents >= 0:
		documents, err = t.documents(at.documents, name, class)
	case t.rules.CountsAreDocuments:
		err = t.checkDocuments(count, name, class)
	}
	if err != nil {
		return err
	}
	if len(g.cells) == maxCells {
		return t.fail("the table has more than %d rows", uint32(maxCells))
	}
	g.add(name, class, count, documents)
	return nil
}
