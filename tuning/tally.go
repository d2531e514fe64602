package tuning

import (
	"math"
	"math/bits"
	"slices"
)

// Tally is what the models made of documents. Tallies add up to the same sum in any order. It can be encoded with gob.
type Tally struct {
	Read      int64       // documents
	Documents [][]int64   // by fold and class: how often documents count
	Figures   [][]Figures // by fold and point
}

// Figures are those of one model.
type Figures struct {
	Correct []int64 // by class
	LogLoss Sum
}

// NewTally returns an empty tally.
func NewTally(p *Plan) *Tally {
	t := &Tally{}
	for range p.Folds.Number {
		t.Documents = append(t.Documents, make([]int64, len(p.Classes)))
		figures := make([]Figures, len(p.Presence)*p.Smoothing*p.K)
		correct := make([]int64, len(figures)*len(p.Classes))
		for i := range figures {
			figures[i].Correct, correct = correct[:len(p.Classes):len(p.Classes)], correct[len(p.Classes):]
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

// Complete reports whether the documents of each fold and class are those that were counted.
func (t *Tally) Complete(p *Plan) bool {
	return slices.EqualFunc(t.Documents, p.Expected, func(a, b []int64) bool { return slices.Equal(a, b) })
}

// Sum is a sum of numbers from 0 on in units of 2⁻⁶⁴, to which a number is truncated when it is added. Additions are exact, in
// any order. The sum must be less than 2⁶⁴.
type Sum struct{ Whole, Fraction uint64 }

// Add adds x, n times.
func (s *Sum) Add(x float64, n int64) {
	whole := uint64(x)
	fraction := uint64((x - float64(whole)) * (1 << 64))
	carry, low := bits.Mul64(fraction, uint64(n))
	s.Merge(Sum{whole*uint64(n) + carry, low})
}

// Merge adds another sum.
func (s *Sum) Merge(o Sum) {
	var carry uint64
	s.Fraction, carry = bits.Add64(s.Fraction, o.Fraction, 0)
	s.Whole, _ = bits.Add64(s.Whole, o.Whole, carry)
}

// Float returns the sum.
func (s Sum) Float() float64 { return float64(s.Whole) + math.Ldexp(float64(s.Fraction), -64) }
