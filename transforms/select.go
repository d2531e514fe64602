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
// and as side input one of Solved, and returns a PCollection<[]byte> of Selected. Of features that are alike, and of
// which a model has some only, each part gives as many as the model has: the first by name.
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
	picks := newPicks(f.Params.Model)
	err = each(solved, func(s Solved) error {
		if s.Solution != nil {
			picks.add(newPick(*s.Solution, emit))
		}
		return nil
	})
	if err != nil || len(picks.all) == 0 {
		return err
	}
	if err := f.Params.Source.Each(ctx, part.Name, picks.visit); err != nil {
		return err
	}
	for _, p := range picks.all {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// picks are the models that features are picked for. A feature is shown to the models of its classes. To a model of
// other classes it is one that they do not have, of which only the sum of its counts can tell: what such a model does is
// found once for each sum.
type picks struct {
	model   solver.Model
	all     []*pick
	byClass map[string][]*pick
	rest    bool                // a model has all other classes on its negative side
	absent  map[float64][]*pick // by the sum, those that take features which their classes do not have
	seen    int64
}

func newPicks(model solver.Model) *picks {
	return &picks{model: model, byClass: map[string][]*pick{}, absent: map[float64][]*pick{}}
}

func (s *picks) add(p *pick) {
	s.all = append(s.all, p)
	for _, m := range p.solution.Models {
		s.byClass[m.Positive] = append(s.byClass[m.Positive], p)
	}
	switch m := p.solution.model(); m.Strategy {
	case modelio.OneVersusRest:
		s.rest = true
	case modelio.OneVersusOne, modelio.Binary:
		s.byClass[m.Negative] = append(s.byClass[m.Negative], p)
	}
}

func (s *picks) visit(feat *countio.Feature) error {
	s.seen++
	count := func(i int) float64 { return s.model.Count(feat.Occurrences[i], feat.Documents[i]) }
	var sum float64
	for i, label := range feat.Labels {
		sum += count(i)
		for _, p := range s.byClass[label] {
			if err := s.show(p, feat, count); err != nil {
				return err
			}
		}
	}
	if !s.rest { // the sum does not matter
		sum = 0
	}
	takers, ok := s.absent[sum]
	if !ok {
		for _, p := range s.all {
			if p.solution.Joint != nil { // it has all classes
				continue
			}
			if n, all := p.rule(absent(p.solution.model(), sum)); all || n > 0 {
				takers = append(takers, p)
			}
		}
		s.absent[sum] = takers
	}
	for _, p := range takers {
		if err := s.show(p, feat, count); err != nil {
			return err
		}
	}
	return nil
}

// show gives a feature to a model, once.
func (s *picks) show(p *pick, feat *countio.Feature, count func(i int) float64) error {
	if p.seen == s.seen {
		return nil
	}
	p.seen = s.seen
	return p.visit(Feature{feat.Name, feat.ID, p.solution.Counts(feat.Labels, count)})
}

// pick selects the features of one model from one part.
type pick struct {
	solution Solution
	rule     func(counts []float64) (n int64, all bool)
	emit     func([]byte)
	features []Feature
	bytes    int
	partial  map[string]*firstNames // groups of which the model has some features only
	seen     int64                  // the feature that was shown last
}

func newPick(s Solution, emit func([]byte)) *pick {
	return &pick{solution: s, rule: s.rule(), emit: emit, partial: map[string]*firstNames{}}
}

func (p *pick) visit(feat Feature) error {
	n, all := p.rule(feat.Counts)
	switch {
	case all:
		return p.add(feat)
	case n > 0:
		counts := groupOf(feat.Counts)
		group := p.partial[counts]
		if group == nil {
			group = &firstNames{limit: n}
			p.partial[counts] = group
		}
		group.offer(feat)
	}
	return nil
}

// add emits the features when they would make too large an element.
func (p *pick) add(feat Feature) error {
	const overhead = 32 // of a feature beside its name and counts, at most
	p.features = append(p.features, feat)
	if p.bytes += len(feat.Name) + 9*len(feat.Counts) + overhead; p.bytes < MaxElement/2 {
		return nil
	}
	return p.flush()
}

func (p *pick) flush() error {
	err := emitRecord(p.emit, Selected{p.solution.model().Key(), p.features})
	p.features, p.bytes = nil, 0
	return err
}

func (p *pick) finish() error {
	for _, group := range p.partial {
		for _, feat := range group.features {
			if err := p.add(feat); err != nil {
				return err
			}
		}
	}
	if len(p.features) == 0 {
		return nil
	}
	return p.flush()
}

// firstNames keeps the features with the first names of all that are offered; the last of them is on top of a heap.
type firstNames struct {
	limit    int64
	features []Feature
}

func (l *firstNames) offer(feat Feature) {
	heap.Push(l, feat)
	if int64(len(l.features)) > l.limit {
		heap.Pop(l)
	}
}

func (l *firstNames) Len() int           { return len(l.features) }
func (l *firstNames) Less(i, j int) bool { return cmp.Less(l.features[j].Name, l.features[i].Name) }
func (l *firstNames) Swap(i, j int)      { l.features[i], l.features[j] = l.features[j], l.features[i] }
func (l *firstNames) Push(x any)         { l.features = append(l.features, x.(Feature)) }
func (l *firstNames) Pop() any {
	feat := l.features[len(l.features)-1]
	l.features = l.features[:len(l.features)-1]
	return feat
}
