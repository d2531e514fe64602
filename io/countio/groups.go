package countio

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/feature"
)

// groups holds the rows of a long table by feature. Its slices have no pointers per row or feature, so the garbage collector
// does not scan them.
type groups struct {
	names     []byte // of the features, concatenated
	features  []group
	places    map[identity]uint32 // in features
	classes   []string            // in order of appearance
	numbers   map[string]uint32   // of the classes
	cells     []cell              // by row
	documents []float64           // by row, if separate
	separate  bool                // the table has a documents column
}

// group is a feature.
type group struct {
	end  uint64 // of its name in names; it starts where the previous name ends
	last uint32 // its last row
}

// cell is a row without its feature.
type cell struct {
	count  float64
	class  uint32
	before uint32 // the previous row of the feature, or 0
}

// maxCells is the highest row number; rows count from 1.
const maxCells = math.MaxUint32

func newGroups(separate bool) *groups {
	return &groups{places: map[identity]uint32{}, numbers: map[string]uint32{}, separate: separate}
}

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

// place returns the index of a feature in features, and appends a new one.
func (g *groups) place(id identity, name string) uint32 {
	place, ok := g.places[id]
	for ok && feature.IsLong(id.check) && string(g.nameAt(int(place))) != name {
		id.check += 1 << 8 // still the check of a long name
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

func (g *groups) name(place int) string { return string(g.nameAt(place)) }

func (g *groups) nameAt(place int) []byte {
	start := uint64(0)
	if place > 0 {
		start = g.features[place-1].end
	}
	return g.names[start:g.features[place].end]
}

// rowsOf appends the rows of a feature, sorted by class label and then by row number.
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

// documentsOf returns the document count of a row, which is its count in a table without a documents column.
func (g *groups) documentsOf(row uint32) float64 {
	if g.separate {
		return g.documents[row-1]
	}
	return g.cell(row).count
}

// looksWide reports whether all classes are numbers and no feature has two rows.
func (g *groups) looksWide() bool {
	for _, class := range g.classes {
		if _, err := strconv.ParseFloat(class, 64); err != nil {
			return false
		}
	}
	return len(g.cells) > 0 && len(g.cells) == len(g.features)
}
