package transforms

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func(*[]byte) bool, func([]byte), error](&selectFn{})
}

// SelectParams parameterise SelectFeatures.
type SelectParams struct {
	Source countio.Source // where the parts are
	Model  solver.Model
}

// SelectFeatures reads the parts again and picks the features of every model. It takes a PCollection<[]byte> of Parts,
// and as side input one of Solved, and returns a PCollection<[]byte> of lists of FeatureRows without ranks. Of features
// that are alike, and of which a model has some only, each part gives as many as the model has: the first by name.
func SelectFeatures(s beam.Scope, parts, solved beam.PCollection, p SelectParams) beam.PCollection {
	s = s.Scope("transforms.SelectFeatures")
	return beam.ParDo(s, &selectFn{p}, parts, beam.SideInput{Input: solved})
}

type selectFn struct {
	Params SelectParams
}

func (f *selectFn) ProcessElement(ctx context.Context, element []byte, solved func(*[]byte) bool, emit func([]byte)) error {
	part, err := decode[Part](element)
	if err != nil {
		return err
	}
	var picks []*pick
	err = each(solved, func(s Solved) error {
		if s.Solution != nil {
			picks = append(picks, newPick(*s.Solution, emit))
		}
		return nil
	})
	if err != nil || len(picks) == 0 {
		return err
	}
	err = f.Params.Source.Each(ctx, part.Name, func(feat *countio.Feature) error {
		for _, p := range picks {
			if err := p.visit(feat, f.Params.Model); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range picks {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// pick selects the features of one model from one part.
type pick struct {
	solution Solution
	emit     func([]byte)
	rows     []modelio.FeatureRow
	bytes    int
	partial  map[[2]float64]*lastNames // groups of which the model has some features only
}

func newPick(s Solution, emit func([]byte)) *pick {
	return &pick{solution: s, emit: emit, partial: map[[2]float64]*lastNames{}}
}

func (p *pick) visit(feat *countio.Feature, model solver.Model) error {
	var counts [2]float64
	for i, label := range feat.Labels {
		if label == p.solution.Model.Positive {
			counts[0] = model.Count(feat.Occurrences[i], feat.Documents[i])
		} else {
			counts[1] = model.Count(feat.Occurrences[i], feat.Documents[i])
		}
	}
	n, all := p.solution.Selector.Selects(counts[0], counts[1])
	switch {
	case all:
		return p.add(p.row(feat, counts))
	case n > 0:
		group := p.partial[counts]
		if group == nil {
			group = &lastNames{limit: n}
			p.partial[counts] = group
		}
		group.offer(p.row(feat, counts))
	}
	return nil
}

func (p *pick) row(feat *countio.Feature, counts [2]float64) modelio.FeatureRow {
	params := p.solution.Parameters
	thetaPositive, thetaNegative := params.Theta(counts[0], counts[1])
	return modelio.FeatureRow{
		Problem: p.solution.Model.Problem, K: p.solution.Model.K, Feature: feat.Name, FeatureID: feat.ID,
		CountPositive: counts[0], CountNegative: counts[1],
		Score:         params.Score(counts[0], counts[1]),
		ThetaPositive: thetaPositive, ThetaNegative: thetaNegative,
		Weight: params.Weight(counts[0], counts[1]),
	}
}

// add emits the rows when they would make too large an element.
func (p *pick) add(row modelio.FeatureRow) error {
	const overhead = 128 // of a row beside its strings, at most
	p.rows = append(p.rows, row)
	if p.bytes += len(row.Feature) + len(row.Problem) + overhead; p.bytes < MaxElement/2 {
		return nil
	}
	return p.flush()
}

func (p *pick) flush() error {
	err := emitRecord(p.emit, p.rows)
	p.rows, p.bytes = nil, 0
	return err
}

func (p *pick) finish() error {
	for _, group := range p.partial {
		for _, row := range group.rows {
			if err := p.add(row); err != nil {
				return err
			}
		}
	}
	if len(p.rows) == 0 {
		return nil
	}
	return p.flush()
}

// lastNames keeps the rows with the first names of all that are offered; the last of them is on top of a heap.
type lastNames struct {
	limit int64
	rows  []modelio.FeatureRow
}

func (l *lastNames) offer(row modelio.FeatureRow) {
	heap.Push(l, row)
	if int64(len(l.rows)) > l.limit {
		heap.Pop(l)
	}
}

func (l *lastNames) Len() int           { return len(l.rows) }
func (l *lastNames) Less(i, j int) bool { return cmp.Less(l.rows[j].Feature, l.rows[i].Feature) }
func (l *lastNames) Swap(i, j int)      { l.rows[i], l.rows[j] = l.rows[j], l.rows[i] }
func (l *lastNames) Push(x any)         { l.rows = append(l.rows, x.(modelio.FeatureRow)) }
func (l *lastNames) Pop() any {
	row := l.rows[len(l.rows)-1]
	l.rows = l.rows[:len(l.rows)-1]
	return row
}
