package tuning

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/selection"
)

// Plan has the models of all folds, for a [Scorer]. It can be encoded with gob.
type Plan struct {
	Folds     Folds
	Classes   []string // sorted
	Strategy  string
	Columns   []string    // the features that any model selects
	Presence  []bool      // by setting: a feature counts once in a document
	Smoothing int         // number of smoothings
	K         int         // number of ks
	Tables    [][][]Table // by fold, setting and problem
	Expected  [][]int64   // documents by fold and class

	names map[int32]string // of columns, by index of the feature
}

func newPlan(g Grid, folds Folds, d division) *Plan {
	s := g.Settings[0]
	p := &Plan{
		Folds: folds, Classes: selection.Labels(d.classes), Strategy: string(s.Strategy), Smoothing: len(s.Smoothing), K: len(s.K),
		names: map[int32]string{},
	}
	for _, s := range g.Settings {
		p.Presence = append(p.Presence, s.CountsDocuments())
	}
	for _, classes := range d.folds {
		var documents []int64
		for _, c := range classes {
			documents = append(documents, *c.Documents)
		}
		p.Expected = append(p.Expected, documents)
	}
	return p
}

// name keeps the names of the features that a fold uses.
func (p *Plan) name(batch []countedFeature, used [][]bool) {
	for i := range batch {
		for _, u := range used {
			if u != nil && u[i] {
				p.names[batch[i].index] = batch[i].name
				break
			}
		}
	}
}

// complete numbers the columns and collects the tables.
func (p *Plan) complete(folds []*fold) error {
	tables := 0
	for _, f := range folds {
		for _, b := range f.builders {
			b.finish(func(m member) { p.names[m.index] = m.name })
			tables += len(b.problems)
		}
	}
	if n := 4 * int64(len(p.names)) * int64(tables); n > maxBytes {
		return tooLarge(fmt.Sprintf("%s for the rows of %d features in %d tables", humanize.IBytes(uint64(n)), len(p.names), tables))
	}
	columns := map[int32]int32{}
	for i, index := range slices.Sorted(maps.Keys(p.names)) {
		columns[index] = int32(i)
		p.Columns = append(p.Columns, p.names[index])
	}
	p.names = nil
	for _, f := range folds {
		var settings [][]Table
		for _, b := range f.builders {
			var tables []Table
			for _, q := range b.problems {
				q.table.Rows = slices.Repeat([]int32{-1}, len(p.Columns))
				for i, index := range q.indexes {
					q.table.Rows[columns[index]] = q.rows[i]
				}
				tables = append(tables, q.table)
			}
			settings = append(settings, tables)
		}
		p.Tables = append(p.Tables, settings)
	}
	return nil
}

// Prepare makes a plan ready for scorers, after it was decoded.
func (p *Plan) Prepare() {
	for _, settings := range p.Tables {
		for _, tables := range settings {
			for i := range tables {
				tables[i].prepare()
			}
		}
	}
}

// Bytes is about how much memory the plan takes.
func (p *Plan) Bytes() (n int) {
	for _, name := range p.Columns {
		n += len(name) + 16
	}
	for _, settings := range p.Tables {
		for _, tables := range settings {
			for _, t := range tables {
				n += 4*len(t.Rows) + 8*len(t.Terms) + 4*len(t.Sets) + 16*len(t.cells)
			}
		}
	}
	return n
}
