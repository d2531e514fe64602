package tuning

import "github.com/sparsenb/sparsenb/evaluation"

// Tally is what the models made of documents. Tallies add up to the same sum in any order. It can be encoded with gob.
type Tally struct {
	Read      int64       // documents
	Documents [][]int64   // by fold and class: how often documents count
	Figures   [][]Figures // by fold and point
}

// Figures are those of one model.
type Figures struct {
	Correct []int64 // by class
	LogLoss evaluation.Sum
}

// NewTally returns an empty tally.
func NewTally(p *Plan) *Tally {
	return newTally(p.Folds.Number, len(p.Presence)*p.Smoothing*p.K, len(p.Classes))
}

func newTally(folds, points, classes int) *Tally {
	t := &Tally{}
	for range folds {
		t.Documents = append(t.Documents, make([]int64, classes))
		figures := make([]Figures, points)
		correct := make([]int64, points*classes)
		for i := range figures {
			figures[i].Correct, correct = correct[:classes:classes], correct[classes:]
		}
		t.Figures = append(t.Figures, figures)
	}
	return t
}

// Merge adds another tally of the same plan, or a piece of one.
func (t *Tally) Merge(o *Tally) {
	t.Read += o.Read
	for f := range o.Documents {
		for c, n := range o.Documents[f] {
			t.Documents[f][c] += n
		}
	}
	for f := range o.Figures {
		for i := range o.Figures[f] {
			for c, n := range o.Figures[f][i].Correct {
				t.Figures[f][i].Correct[c] += n
			}
			t.Figures[f][i].LogLoss.Merge(o.Figures[f][i].LogLoss)
		}
	}
}

// Pieces cuts the tally into pieces that add up to it, one for each fold.
func (t *Tally) Pieces() (pieces []*Tally) {
	pieces = append(pieces, &Tally{Read: t.Read, Documents: t.Documents})
	for f := range t.Figures {
		piece := &Tally{Figures: make([][]Figures, len(t.Figures))}
		piece.Figures[f] = t.Figures[f]
		pieces = append(pieces, piece)
	}
	return pieces
}
