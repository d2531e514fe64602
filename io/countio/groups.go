package countio

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/feature"
)

// groups are the rows of a long table by their features. No list of it holds a pointer for each row or feature, so that
// the garbage collector passes them over.
type groups struct {
	names    []byte // of the features, one behind the other
	features []group
	places   map[identity]uint32 // in features
	classes  []string            // as they came
	numbers  map[string]uint32   // of the classes
	cells    []cell              // by row
	// documents are by row too, in a table that has a column for them.
	documents []float64
	separate  bool // it has
}

// group is a feature.
type group struct {
	end  uint64 // of its name in names, which starts where the name before it ends
	last uint32 // its last row
}

// cell is what a row says of its feature.
type cell struct {
	count  float64
	class  uint32
	before uint32 // the row before it of the same feature; 0 if there is none
}

// maxCells is how many rows a uint32 can count from 1.
const maxCells = math.MaxUint32

func newGroups(separate bool) *groups {
	return &groups{places: map[identity]uint32{}, numbers: map[string]uint32{}, separate: separate}
}

// add adds the next row.
func (g *groups) add(name, class string, count, documents float64) {
	number, ok := g.numbers[class]
	if !ok {
		number = uint32(len(g.classes))
		g.numbers[class] = number
		g.classes = append(g.classes, class)
	}
	f := &g.features[g.place(identityOf(name), name)]
	g.cells = append(g.cells, cell{count, number, f.last})
	if g.separate {
		g.documents = append(g.documents, documents)
	}
	f.last = uint32(len(g.cells))
}

// place is where a feature is in the list, at its end if it is new.
func (g *groups) place(id identity, name string) uint32 {
	place, ok := g.places[id]
	for ok && feature.IsLong(id.check) && string(g.nameAt(int(place))) != name {
		id.check += 1 << 8 // which is that of a long name, too
		place, ok = g.places[id]
	}
	if !ok {
		place = uint32(len(g.features))
		g.places[id] = place
		g.names = append(g.names, name...)
		g.features = append(g.features, group{end: uint64(len(g.names))})
	}
	return place
}

// name is the name of a feature.
func (g *groups) name(place int) string { return string(g.nameAt(place)) }

func (g *groups) nameAt(place int) []byte {
	start := uint64(0)
	if place > 0 {
		start = g.features[place-1].end
	}
	return g.names[start:g.features[place].end]
}

// rowsOf appends the rows of a feature to a list, in the order of the labels and then of the table.
func (g *groups) rowsOf(place int, rows []uint32) []uint32 {
	for row := g.features[place].last; row > 0; row = g.cell(row).before {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b uint32) int {
		return cmp.Or(strings.Compare(g.classes[g.cell(a).class], g.classes[g.cell(b).class]), cmp.Compare(a, b))
	})
	return rows
}

func (g *groups) cell(row uint32) cell { return g.cells[row-1] }

// documentsOf is the second number of a row: a table without a column for it has one number for both.
func (g *groups) documentsOf(row uint32) float64 {
	if g.separate {
		return g.documents[row-1]
	}
	return g.cell(row).count
}

// looksWide reports whether all the classes are numbers, and no feature has two rows.
func (g *groups) looksWide() bool {
	for _, class := range g.classes {
		if _, err := strconv.ParseFloat(class, 64); err != nil {
			return false
		}
	}
	return len(g.cells) > 0 && len(g.cells) == len(g.features)
}
