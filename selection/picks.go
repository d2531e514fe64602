package selection

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection/histogram"
)

// Selected are features of one model that were found in one part.
type Selected struct {
	Model    modelio.Key
	Features []Feature
}

// Feature is a selected feature.
type Feature struct {
	Name      string
	ID        int64
	Counts    []float64 // on the sides of the problem: two, or one for each class of a joint problem
	Documents []float64 // likewise; nil if they are unknown

	Occurrences []float64 // likewise; nil unless the classifier needs them beside Counts
}

// Counted says what the counts of a feature are.
type Counted struct {
	Documents   bool // and not occurrences
	Occurrences bool // are wanted beside the documents, see Params.NeedsOccurrences
}

// Pick reads a part of the counts, and emits its selected features for every solution, in pieces of about most bytes.
// The pruner is that of the solutions.
func Pick(ctx context.Context, source countio.Source, pruner *Pruner, counted Counted, part string, solutions []Solution, most int, emit func(Selected) error) error {
	picks := newPicks(source, counted.Documents)
	picks.occurrences = counted.Occurrences
	for _, s := range solutions {
		picks.add(newPick(s, most, emit))
	}
	if err := pruner.Each(ctx, source, part, &picks.classes, PartVisitor{Left: picks.visit}); err != nil {
		return err
	}
	for _, p := range picks.all {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// picks are the models that features are picked for. The models that take a feature depend on its counts alone, and are found
// once for equal counts.
//
// A feature is offered to the models of its classes. For any other model its counts are zero but for their sum in the rest:
// the models that take such a feature are found once for each sum.
type picks struct {
	source  countio.Source
	counted bool // the counts are documents

	occurrences bool // are wanted, too
	classes     countio.Classes
	all         []*pick
	byClass     map[string][]*pick
	rest        bool                // a model has the rest of the classes as its negative side
	absent      map[float64][]*pick // by sum: the models that take features which do not occur in their named classes
	seen        int64

	takers map[string][]taker // by counts
	counts []float64
	key    []byte
}

// taker is a model that takes a feature.
type taker struct {
	pick    *pick
	counts  []float64   // of the feature, on the sides of the model
	partial *firstNames // the group of the feature, if the model takes only some of the group
}

// mostTakers limits the distinct counts whose takers are cached. Most features have one of a few counts.
const mostTakers = 1 << 16

func newPicks(source countio.Source, countsDocuments bool) *picks {
	return &picks{source: source, counted: countsDocuments, byClass: map[string][]*pick{}, absent: map[float64][]*pick{}, takers: map[string][]taker{}}
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
	s.counts = feat.Counts(s.counts[:0], s.counted)
	s.key = histogram.AppendKey(s.key[:0], feat.Classes, s.counts)
	takers, ok := s.takers[string(s.key)]
	if !ok {
		takers = s.find(feat.Classes, s.counts)
		if len(s.takers) < mostTakers {
			s.takers[string(s.key)] = takers
		}
	}
	for _, t := range takers {
		name, err := feat.Name()
		if err != nil {
			return err
		}
		if t.partial != nil && !t.partial.wants(name) {
			continue
		}
		selected := Feature{Name: string(name), ID: s.source.IDOf(feat, name), Counts: t.counts, Documents: s.documents(t.pick.solution, feat)}
		if s.occurrences {
			selected.Occurrences = s.sides(t.pick.solution, feat, feat.Occurrences)
		}
		if t.partial != nil {
			t.partial.put(selected)
		} else if err := t.pick.add(selected); err != nil {
			return err
		}
	}
	return nil
}

// documents returns the documents of a feature on the sides of a model, or nil if they are unknown.
func (s *picks) documents(m Solution, feat *countio.Feature) []float64 {
	if !feat.DocumentsKnown {
		return nil
	}
	return s.sides(m, feat, feat.Documents)
}

// sides returns numbers of a feature by class as those on the sides of a model.
func (s *picks) sides(m Solution, feat *countio.Feature, numbers []float64) []float64 {
	var labels []string
	for _, class := range feat.Classes {
		labels = append(labels, s.classes.Labels[class])
	}
	return m.counts(labels, func(i int) float64 { return numbers[i] })
}

func (s *picks) find(classes []int32, counts []float64) (takers []taker) {
	s.seen++
	var labels []string
	for _, class := range classes {
		labels = append(labels, s.classes.Labels[class])
	}
	count := func(i int) float64 { return counts[i] }
	var sum float64
	for i, label := range labels {
		sum += count(i)
		for _, p := range s.byClass[label] {
			takers = s.show(takers, p, labels, count)
		}
	}
	if !s.rest { // the sum does not matter
		sum = 0
	}
	without, ok := s.absent[sum]
	if !ok {
		for _, p := range s.all {
			counts := p.solution.Support.absent(p.solution.Models, sum)
			if n, all := p.rule(counts); all || n > 0 {
				without = append(without, p)
			}
		}
		s.absent[sum] = without
	}
	for _, p := range without {
		takers = s.show(takers, p, labels, count)
	}
	return takers
}

// show offers a feature to a model, once.
func (s *picks) show(takers []taker, p *pick, labels []string, count func(i int) float64) []taker {
	if p.seen == s.seen {
		return takers
	}
	p.seen = s.seen
	counts := p.solution.counts(labels, count)
	switch n, all := p.rule(counts); {
	case all:
		return append(takers, taker{p, counts, nil})
	case n > 0:
		return append(takers, taker{p, counts, p.group(counts, n)})
	}
	return takers
}

// pick selects the features of one model from one part.
type pick struct {
	solution Solution
	rule     func(counts []float64) (n int64, all bool)
	emit     func(Selected) error
	most     int // bytes to emit at once
	features []Feature
	bytes    int
	partial  map[string]*firstNames // groups from which the model takes only some features
	seen     int64                  // number of the feature that was offered last
}

func newPick(s Solution, most int, emit func(Selected) error) *pick {
	return &pick{solution: s, rule: s.Support.rule(), emit: emit, most: most, partial: map[string]*firstNames{}}
}

// group returns the group with these counts, from which the model takes n features.
func (p *pick) group(counts []float64, n int64) *firstNames {
	key := groupOf(counts)
	group := p.partial[key]
	if group == nil {
		group = &firstNames{limit: n}
		p.partial[key] = group
	}
	return group
}

// add adds a feature, and emits all when they reach the size of an element.
func (p *pick) add(feat Feature) error {
	const overhead = 32 // bytes of a feature other than its name and counts, at most
	p.features = append(p.features, feat)
	if p.bytes += len(feat.Name) + 9*(len(feat.Counts)+len(feat.Documents)+len(feat.Occurrences)) + overhead; p.bytes < p.most {
		return nil
	}
	return p.flush()
}

func (p *pick) flush() error {
	err := p.emit(Selected{p.solution.model().Key(), p.features})
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

// firstNames keeps the features whose names are first in byte order, in a heap with the last of them on top.
type firstNames struct {
	limit    int64
	features []Feature
}

// wants reports whether a feature of this name is among the first so far.
func (l *firstNames) wants(name []byte) bool {
	return int64(len(l.features)) < l.limit || string(name) < l.features[0].Name
}

// put adds such a feature.
func (l *firstNames) put(f Feature) {
	if int64(len(l.features)) < l.limit {
		heap.Push(l, f)
		return
	}
	l.features[0] = f
	heap.Fix(l, 0)
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
