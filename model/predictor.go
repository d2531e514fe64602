package model

import (
	"slices"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Scores are what a decision says about a document.
type Scores struct {
	Decision *Decision
	Class    int // the predicted one, in Decision.Classes; of equal scores the first

	// Scores are by class: log-odds against the rest or the other class, votes and confidences for ovo, or logarithms of
	// probabilities up to a constant for joint. They may be infinite with smoothing 0, but are not NaN.
	Scores []float64

	LogProbs []float64 // by class, natural logarithms of probabilities that sum to 1; nil unless Decision.Probable
}

// Predictor applies a model. It is for one goroutine, and reuses its memory.
type Predictor struct {
	*table
	vectorizer *kernel.Vectorizer
	row        kernel.Vector // of the last document
	text       []byte        // of Model.Predict

	finite []float64 // by function: the intercept and the weights of the document's features
	orders []float64 // see score; nil if all are 0
	carry  []float64 // what rounding has lost of orders

	results []Scores
	scores  []score // of a decision
	votes   []float64
}

// table has the weights of the functions that some decisions use, by feature. It does not change.
type table struct {
	model      *Model
	decisions  []int // of Model.decisions
	columns    *kernel.Columns
	functions  []int32 // by place in the table, of Model.functions
	places     []int32 // the reverse; -1 for functions without a place
	intercepts []score
	start      []int // the entries of column c are those from start[c] to start[c+1]
	entries    []entry
	orders     []float64 // of entries; nil if all are 0
}

type entry struct {
	function int32 // its place
	weight   float64
}

// NewPredictor returns a predictor of all decisions for which keep is true, in their order; nil keeps all. Columns of other
// decisions cost nothing.
func (m *Model) NewPredictor(keep func(Decision) bool) *Predictor {
	t := &table{model: m, places: slices.Repeat([]int32{-1}, len(m.functions))}
	for d, decision := range m.decisions {
		if keep != nil && !keep(decision) {
			continue
		}
		t.decisions = append(t.decisions, d)
		for _, f := range m.rules[d].functions {
			if t.places[f] < 0 {
				t.places[f] = int32(len(t.functions))
				t.functions = append(t.functions, f)
			}
		}
	}
	t.addWeights()
	return t.predictor()
}

// addWeights adds the weights of the functions.
func (t *table) addWeights() {
	m := t.model
	used, limits := make([]int, len(m.names)), false // number of entries by name
	for _, f := range t.functions {
		t.intercepts = append(t.intercepts, m.functions[f].intercept)
		limits = limits || m.functions[f].orders != nil || m.functions[f].intercept.order != 0
		for _, c := range m.functions[f].columns {
			used[c]++
		}
	}
	var names []string
	next, total := make([]int, len(m.names)), 0 // place of the next entry by name
	for c, n := range used {
		if n > 0 {
			names, t.start, next[c] = append(names, m.names[c]), append(t.start, total), total
			total += n
		}
	}
	t.start, t.entries = append(t.start, total), make([]entry, total)
	if limits {
		t.orders = make([]float64, total)
	}
	for place, f := range t.functions {
		f := m.functions[f]
		for i, c := range f.columns {
			t.entries[next[c]] = entry{int32(place), f.weights[i]}
			if f.orders != nil {
				t.orders[next[c]] = f.orders[i]
			}
			next[c]++
		}
	}
	columns, err := kernel.NewColumns(m.config, names)
	if err != nil { // New has checked all names
		panic("model.NewPredictor: " + err.Error())
	}
	t.columns = columns
}

func (t *table) predictor() *Predictor {
	p := &Predictor{table: t, vectorizer: t.columns.NewVectorizer(), finite: make([]float64, len(t.functions))}
	if t.orders != nil {
		p.orders, p.carry = make([]float64, len(t.functions)), make([]float64, len(t.functions))
	}
	most := 0
	for _, d := range t.decisions {
		decision := &t.model.decisions[d]
		n := len(decision.Classes)
		s := Scores{Decision: decision, Scores: make([]float64, n)}
		if decision.Probable {
			s.LogProbs = make([]float64, n)
		}
		p.results, most = append(p.results, s), max(most, n)
	}
	p.scores, p.votes = make([]score, most), make([]float64, most)
	return p
}

// Clone returns a predictor of the same decisions for another goroutine. It shares the weights, and takes little memory.
func (p *Predictor) Clone() *Predictor { return p.table.predictor() }

// Columns returns the number of features that the predictor looks for.
func (p *Predictor) Columns() int { return len(p.start) - 1 }

// Text returns the scores of a text, one for each decision that is kept. They are valid until the next call. An error is a fault
// of the document, such as a *kernel.ValueError.
func (p *Predictor) Text(text []byte) ([]Scores, error) {
	row, err := p.vectorizer.Text(text)
	return p.predict(row, err)
}

// Features is Text for a document whose features are known.
func (p *Predictor) Features(features []feature.Value) ([]Scores, error) {
	row, err := p.vectorizer.Features(features)
	return p.predict(row, err)
}

func (p *Predictor) predict(row kernel.Vector, err error) ([]Scores, error) {
	if p.row = row; err != nil {
		p.row = kernel.Vector{}
		return nil, err
	}
	for f, s := range p.intercepts {
		p.finite[f] = s.finite
	}
	p.add(row)
	if p.orders != nil {
		for f, s := range p.intercepts {
			p.orders[f], p.carry[f] = s.order, 0
		}
		p.addOrders(row)
	}
	for i := range p.results {
		r := &p.model.rules[p.decisions[i]]
		r.decide(p, r, &p.results[i])
	}
	return p.results, nil
}

// add adds the weights of a document's features, in the order of their names. So a sum depends neither on the other decisions
// nor on the order of the features in the document.
func (p *Predictor) add(row kernel.Vector) {
	finite, entries := p.finite, p.entries
	for i, c := range row.Columns {
		value := row.Values[i]
		if p.model.presence {
			value = 1
		}
		for _, e := range entries[p.start[c]:p.start[c+1]] {
			finite[e.function] += float64(value * e.weight) // the conversion forbids a fused operation: all machines round alike
		}
	}
}

// addOrders adds the orders of the weights. Their sum is exact, so that equal ones cancel.
func (p *Predictor) addOrders(row kernel.Vector) {
	for i, c := range row.Columns {
		value := row.Values[i]
		if p.model.presence {
			value = 1
		}
		for at := p.start[c]; at < p.start[c+1]; at++ {
			if order := p.table.orders[at]; order != 0 {
				f := p.entries[at].function
				a, b := p.orders[f], value*order
				s := a + b
				t := s - a
				p.orders[f] = s
				p.carry[f] += (a - (s - t)) + (b - t)
			}
		}
	}
}

// score returns the score of a function for the last document.
func (p *Predictor) score(function int32) score {
	f := p.places[function]
	if p.orders == nil {
		return score{0, p.finite[f]}
	}
	return score{p.orders[f] + p.carry[f], p.finite[f]}
}
