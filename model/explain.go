package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Reason is a feature of the last document, and what it added to the score of the predicted class over the others.
type Reason struct {
	Feature string
	Value   float64 // in the document
	Weight  float64 // for the predicted class; may be infinite with smoothing 0
	Effect  float64 // Value · Weight, or Weight if a feature counts once in a document
}

// Explain returns the features of the last document that weighed most in a decision, by |Effect|, then name; at most n, and
// none without an effect. decision is a place in the result of Text. Weights are those of the log-odds of the predicted class
// against the other or the rest; the sum of those of its pairs for ovo; and for joint, the weights of the predicted class minus
// those of the second best.
func (p *Predictor) Explain(decision, n int) []Reason {
	signs := p.signs(decision)
	type effect struct {
		Reason
		exact score
	}
	var list []effect
	for i, c := range p.row.Columns {
		var weight score
		for at := p.start[c]; at < p.start[c+1]; at++ {
			e := p.entries[at]
			if sign := signs[e.function]; sign != 0 {
				w := score{0, e.weight}
				if p.table.orders != nil {
					w.order = p.table.orders[at]
				}
				weight = weight.plus(w.times(sign))
			}
		}
		if weight == (score{}) {
			continue
		}
		value := p.row.Values[i]
		exact := weight
		if !p.model.presence {
			exact = weight.times(value)
		}
		list = append(list, effect{Reason{p.columns.Names()[c], value, weight.float(), exact.float()}, exact})
	}
	slices.SortFunc(list, func(a, b effect) int {
		return cmp.Or(
			-cmp.Compare(math.Abs(a.exact.order), math.Abs(b.exact.order)),
			-cmp.Compare(math.Abs(a.exact.finite), math.Abs(b.exact.finite)),
			cmp.Compare(a.Feature, b.Feature),
		)
	})
	var reasons []Reason
	for _, e := range list[:min(n, len(list))] {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// signs returns by function of the table whether its weights speak for the predicted class, 1, or against it, -1.
func (p *Predictor) signs(decision int) []float64 {
	signs := make([]float64, len(p.functions))
	s, r := p.results[decision], p.model.rules[p.decisions[decision]]
	set := func(i int, sign float64) { signs[p.places[r.functions[i]]] = sign }
	switch n := len(s.Scores); {
	case s.Decision.Strategy == modelio.OneVersusOne && len(r.functions) > 1:
		pair := 0
		for i := range n {
			for j := i + 1; j < n; j++ {
				switch s.Class {
				case i:
					set(pair, 1)
				case j:
					set(pair, -1)
				}
				pair++
			}
		}
	case len(r.functions) == 1: // of two classes
		if set(0, 1); s.Class != r.positive {
			set(0, -1)
		}
	case s.Decision.Strategy == modelio.Joint:
		second := -1
		for c := range n {
			if c != s.Class && (second < 0 || p.score(r.functions[c]).compare(p.score(r.functions[second])) > 0) {
				second = c
			}
		}
		set(s.Class, 1)
		set(second, -1)
	default:
		set(s.Class, 1)
	}
	return signs
}
