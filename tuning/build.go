package tuning

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
)

// Table has the models of one problem, for all smoothings and ks of a setting, solved on all documents but those of a fold.
// Features with equal counts share a row, because all models give them the same weight: a term of the row minus an offset of
// the model. The size of a table does not depend on the number of ks.
type Table struct {
	Positive, Negative int32 // numbers of classes; -1 if the problem has other sides
	Outputs            int   // 1, or the number of classes of a joint problem

	Rows  []int32    // by column; -1 if no model selects it
	Terms []float64  // by row, smoothing and output
	Sets  []int32    // by row and smoothing: number of the set of ks whose models select the features
	Ks    [][]uint64 // by smoothing: the sets, as bits; the first is empty

	Intercepts, Offsets []float64 // by smoothing, k and output
	Flat                []bool    // by smoothing and k: all weights are 0
	Selected            []int64   // by smoothing and k: the number of features

	cells []cell // by row and smoothing; only with one output
}

// cell is what a Scorer adds for a feature and a smoothing. One array of them takes half of the time of two.
type cell struct {
	term float64
	at   int32 // by smoothing and set
}

// sets is the largest number of sets of a smoothing.
func (t *Table) sets() (n int) {
	for _, sets := range t.Ks {
		n = max(n, len(sets))
	}
	return n
}

// prepare makes the cells.
func (t *Table) prepare() {
	if t.Outputs > 1 {
		return
	}
	sets := t.sets()
	t.cells = make([]cell, len(t.Sets))
	for i, set := range t.Sets {
		t.cells[i] = cell{t.Terms[i], int32(i%len(t.Ks)*sets) + set}
	}
	t.Terms, t.Sets = nil, nil
}

// builder makes the tables of a fold and a setting.
type builder struct {
	labels   []string
	problems []*problemBuilder
	known    map[string][]*group // by counts of the classes, for each problem; nil groups are not selected
	key      []byte
	names    []string
}

// problemBuilder makes one table.
type problemBuilder struct {
	table   Table
	choices selection.Choices
	terms   []selection.Choice // by smoothing: one that has the terms
	all     [][]uint64         // by smoothing and group: the ks whose models select all features
	some    map[int][]partial  // by group: the models that select some
	groups  map[string]*group
	order   []*group // as found
	indexes []int32  // of the features that have a row
	rows    []int32
}

// group has the features with the same counts on the sides of a problem.
type group struct {
	sides   []float64
	all     []uint64 // by smoothing: the ks whose models select all of them
	some    []partial
	row     int32 // of the features, if there is no model that selects some of them; otherwise -1
	members []member
	most    int64 // how many of them any model selects, unless a model selects all
}

// partial is a model that selects the first features by name.
type partial struct {
	smoothing int
	ks        uint64
	n         int64
}

type member struct {
	name  string
	index int32
}

func newBuilder(s selection.Params, choices []selection.Choices, labels []string) *builder {
	b := &builder{labels: labels, known: map[string][]*group{}}
	for _, c := range choices {
		p := newProblemBuilder(s, c, labels)
		for _, choice := range c.List {
			p.add(s, choice)
		}
		b.problems = append(b.problems, p)
	}
	return b
}

func newProblemBuilder(s selection.Params, choices selection.Choices, labels []string) *problemBuilder {
	m, outputs := choices.List[0].Models[0], len(choices.List[0].Models)
	n := len(s.Smoothing) * len(s.K)
	p := &problemBuilder{choices: choices, groups: map[string]*group{}, some: map[int][]partial{}, terms: make([]selection.Choice, len(s.Smoothing)), all: make([][]uint64, len(s.Smoothing))}
	p.table = Table{
		Positive: -1, Negative: -1, Outputs: outputs, Ks: make([][]uint64, len(s.Smoothing)),
		Intercepts: make([]float64, n*outputs), Offsets: make([]float64, n*outputs), Flat: make([]bool, n), Selected: make([]int64, n),
	}
	if m.Strategy != modelio.Joint {
		p.table.Positive, p.table.Negative = int32(slices.Index(labels, m.Positive)), int32(slices.Index(labels, m.Negative))
	}
	for i := range p.table.Ks {
		p.table.Ks[i] = []uint64{0}
	}
	return p
}

// add adds a support.
func (p *problemBuilder) add(s selection.Params, choice selection.Choice) {
	m, t := choice.Models[0], &p.table
	at := slices.Index(s.Smoothing, m.Smoothing)
	requested := uint64(0)
	offsets := choice.Offsets(nil)
	for _, text := range choice.Requests() {
		for k := range s.K {
			if s.K[k].Text != text {
				continue
			}
			requested |= 1 << k
			i := at*len(s.K) + k
			t.Flat[i], t.Selected[i] = choice.Flat(), m.K
			copy(t.Offsets[i*t.Outputs:], offsets)
			for o, row := range choice.Models {
				t.Intercepts[i*t.Outputs+o] = row.Intercept
			}
		}
	}
	p.terms[at] = choice
	if p.all[at] == nil {
		p.all[at] = make([]uint64, len(choice.Take))
	}
	for g, n := range choice.Take {
		switch {
		case n == 0:
		case n == p.choices.Size(g):
			p.all[at][g] |= requested
		default:
			p.some[g] = append(p.some[g], partial{at, requested, n})
		}
	}
}

// add adds a feature with these counts, and reports whether a model may select it.
func (b *builder) add(f *countedFeature, classes []int32, counts []float64) (selected bool, err error) {
	b.key = histogram.AppendKey(b.key[:0], classes, counts)
	groups, ok := b.known[string(b.key)]
	if !ok {
		if groups, err = b.find(classes, counts); err != nil {
			return false, err
		}
		b.known[string(b.key)] = groups
	}
	for i, g := range groups {
		if g == nil {
			continue
		}
		p := b.problems[i]
		if g.row >= 0 {
			p.indexes, p.rows = append(p.indexes, f.index), append(p.rows, g.row)
			selected = true
			continue
		}
		g.members = append(g.members, member{f.name, f.index})
		if g.most > 0 && int64(len(g.members)) > 2*g.most+minMembers {
			g.members = firstMembers(g.members, g.most)
		}
	}
	return selected, nil
}

// minMembers is how many members a group has at least before it drops some.
const minMembers = 64

func firstMembers(members []member, n int64) []member {
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return members[:min(n, int64(len(members)))]
}

// find returns the groups of a feature, by problem, or nil if no model selects it.
func (b *builder) find(classes []int32, counts []float64) ([]*group, error) {
	b.names = b.names[:0]
	for _, c := range classes {
		b.names = append(b.names, b.labels[c])
	}
	groups, any := make([]*group, len(b.problems)), false
	for i, p := range b.problems {
		sides := p.choices.Sides(b.names, func(i int) float64 { return counts[i] })
		var err error
		if groups[i], err = p.group(sides); err != nil {
			return nil, err
		}
		any = any || groups[i] != nil
	}
	if !any {
		return nil, nil
	}
	return groups, nil
}

// group returns the group of features with these counts, or nil if no model selects them.
func (p *problemBuilder) group(sides []float64) (*group, error) {
	var key []byte
	for _, n := range sides {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(n))
	}
	g, ok := p.groups[string(key)]
	if ok {
		return g, nil
	}
	at := p.choices.Group(sides)
	if at < 0 {
		return nil, errors.New("the counts were changed while they were read; run the command again")
	}
	g = &group{sides: sides, all: make([]uint64, len(p.all)), some: p.some[at], row: -1}
	whole := uint64(0)
	for s := range p.all {
		g.all[s] = p.all[s][at]
		whole |= g.all[s]
	}
	switch {
	case whole == 0 && len(g.some) == 0:
		g = nil
	case len(g.some) == 0:
		g.row = p.newRow(g, g.all)
	default:
		p.order = append(p.order, g)
	}
	if g != nil && whole == 0 {
		for _, s := range g.some {
			g.most = max(g.most, s.n)
		}
	}
	p.groups[string(key)] = g
	return g, nil
}

// newRow adds a row for features of a group that the models of these ks select.
func (p *problemBuilder) newRow(g *group, ks []uint64) int32 {
	t := &p.table
	row := int32(len(t.Sets) / len(p.all))
	for s, set := range ks {
		t.Terms = p.terms[s].Terms(t.Terms, g.sides)
		at := slices.Index(t.Ks[s], set)
		if at < 0 {
			at = len(t.Ks[s])
			t.Ks[s] = append(t.Ks[s], set)
		}
		t.Sets = append(t.Sets, int32(at))
	}
	return row
}

// finish gives rows to the features of groups of which models select some.
func (b *builder) finish(name func(member)) {
	for _, p := range b.problems {
		for _, g := range p.order {
			g.members = firstMembers(g.members, int64(len(g.members)))
			ks, last, row := slices.Clone(g.all), []uint64(nil), int32(-1)
			for i, m := range g.members {
				copy(ks, g.all)
				any := false
				for _, s := range g.some {
					if int64(i) < s.n {
						ks[s.smoothing] |= s.ks
					}
				}
				for _, set := range ks {
					any = any || set != 0
				}
				if !any {
					break
				}
				if !slices.Equal(ks, last) {
					row, last = p.newRow(g, ks), slices.Clone(ks)
				}
				name(m)
				p.indexes, p.rows = append(p.indexes, m.index), append(p.rows, row)
			}
		}
	}
}
