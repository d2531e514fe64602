package tuning

import "github.com/sparsenb/sparsenb/evaluation"

// Tally is what the models made of documents. Tallies add up to the same sum in any order. It can be encoded with gob.
type Tally struct {
	Read      int64       // documents
	Documents [][]int64   // by fold and class: how often documents count
	Figures   [][]Figures // by fold and point
	First     int         // number of the first point in Figures; not 0 only in pieces
}

// Figures are those of one model.
type Figures struct {
	Correct []int64 // by class
	LogLoss evaluation.Sum
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
				t.Figures[f][o.First+i].Correct[c] += n
			}
			t.Figures[f][o.First+i].LogLoss.Merge(o.Figures[f][i].LogLoss)
		}
	}
}

// pieceFigures is about how many figures a piece has at most: encoded with gob they take less than 1 MiB.
const pieceFigures = 100_000

// Pieces cuts the tally into pieces that add up to it. They share its memory.
func (t *Tally) Pieces() (pieces []*Tally) {
	pieces = append(pieces, &Tally{Read: t.Read, Documents: t.Documents})
	for f, figures := range t.Figures {
		n := max(1, pieceFigures/(len(t.Documents[f])+2))
		for first := 0; first < len(figures); first += n {
			piece := &Tally{Figures: make([][]Figures, len(t.Figures)), First: first}
			piece.Figures[f] = figures[first:min(len(figures), first+n)]
			pieces = append(pieces, piece)
		}
	}
	return pieces
}
