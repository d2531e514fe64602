// Package evaluation measures how well the decisions of a model fit labeled documents. A [Tally] of a decision can be merged
// with those of other documents, in any order, with the same result to the last bit; [Figures] returns the metrics, as
// scikit-learn defines them. It knows no files and no Beam.
package evaluation

import (
	"maps"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
)

// MaxScores is how many distinct scores all tallies of an evaluation keep together, for the AUC. They take 100 MB, and 300 MB
// while they are merged. Each tally may have an equal part, see New.
const MaxScores = 1 << 22

// Tally is what a decision made of labeled documents. Its exported fields are for encoding; those of a piece are parts.
type Tally struct {
	Confusion      map[Cell]int64 // documents
	LogLoss, Brier Sum
	Bins           [Bins]Bin
	Rankings       map[int]*Ranking // by class; of two classes only that of the second
	TooManyScores  bool             // there are no Rankings for that reason
	Against        Contingency

	decision  model.Decision
	maxScores int
}

// Cell is a cell of a confusion matrix: two numbers of classes.
type Cell struct{ True, Predicted int32 }

// Bins is the number of bins of the predicted class' probability, of equal width.
const Bins = 10

// Bin has the documents whose predicted class has a probability in its range: more than the lower limit, at most the upper
// one.
type Bin struct {
	Documents, Correct int64
	Probability        Sum // of the predicted class
}

// New returns an empty tally of a decision. It may keep maxScores distinct scores in all classes together, usually MaxScores
// divided by the number of decisions; if there are more, it has no AUC.
func New(d model.Decision, maxScores int) *Tally {
	return &Tally{Confusion: map[Cell]int64{}, Rankings: map[int]*Ranking{}, decision: d, maxScores: maxScores}
}

// ClassOf returns the number of the class that a label is in a decision, or -1. known are the labels of the model, sorted; they
// decide which labels are the rest.
func ClassOf(d model.Decision, known []string, label string) int {
	// A single problem of this strategy has a rest without a name; a label may have the same name.
	if d.Strategy == modelio.OneVersusRest && d.Problem != modelio.OneVersusRest {
		if label == d.Classes[0] {
			return 0
		}
		if _, ok := slices.BinarySearch(known, label); ok {
			return 1
		}
		return -1
	}
	if i, ok := slices.BinarySearch(d.Classes, label); ok {
		return i
	}
	return -1
}

// The limits of a logarithm of a probability in the log loss, as in scikit-learn: the probability is at least ε and at most 1 - ε.
var (
	minLogProb = math.Log(0x1p-52)
	maxLogProb = math.Log1p(-0x1p-52)
)

// Add adds a document of a class, n times. The scores are those of the decision.
func (t *Tally) Add(class int, s model.Scores, n int64) {
	if n <= 0 {
		return
	}
	t.Confusion[Cell{int32(class), int32(s.Class)}] += n
	if s.LogProbs != nil {
		t.addProbabilities(class, s, n)
	}
	if t.TooManyScores {
		return
	}
	if len(t.decision.Classes) == 2 {
		t.rank(1, s.Scores[1], class == 1, n)
	} else {
		for c := range t.decision.Classes {
			score := s.Scores[c]
			if s.LogProbs != nil { // the score that roc_auc_score requires
				score = probability(s.LogProbs[c])
			}
			t.rank(c, score, class == c, n)
		}
	}
}

func (t *Tally) addProbabilities(class int, s model.Scores, n int64) {
	l := s.LogProbs[class]
	if !(l >= minLogProb) {
		l = minLogProb
	}
	t.LogLoss.Add(-min(l, maxLogProb), n)
	square := 0.0
	for c, l := range s.LogProbs {
		difference := probability(l)
		if c == class {
			difference = 1 - difference
		}
		square += difference * difference
	}
	t.Brier.Add(square, n)
	p := probability(s.LogProbs[s.Class])
	bin := &t.Bins[binOf(p)]
	bin.Documents += n
	bin.Probability.Add(p, n)
	if s.Class == class {
		bin.Correct += n
	}
}

// probability is between 0 and 1, also if rounding made the logarithm positive.
func probability(logarithm float64) float64 {
	if !(logarithm < 0) {
		return 1
	}
	return math.Exp(logarithm)
}

// binOf returns the bin of a probability, as sklearn.calibration.calibration_curve with the strategy uniform.
func binOf(p float64) int {
	bin := 0
	for bin < Bins-1 && p > float64(bin+1)*(1.0/Bins) {
		bin++
	}
	return bin
}

func (t *Tally) rank(class int, score float64, positive bool, n int64) {
	r := t.Rankings[class]
	if r == nil {
		r = &Ranking{}
		t.Rankings[class] = r
	}
	if positive {
		r.add(ScoreCount{score, n, 0})
	} else {
		r.add(ScoreCount{score, 0, n})
	}
	if len(r.recent) == 0 { // it made a run
		t.limitScores(t.maxScores / 4)
	}
}

// limitScores drops the scores if there are more than allowed. Whether there are is found when it has kept slack more, as runs
// may have a score in common.
func (t *Tally) limitScores(slack int) {
	size := func() (n int) {
		for _, r := range t.Rankings {
			n += r.size()
		}
		return n
	}
	if size() <= t.maxScores+slack {
		return
	}
	t.Compact()
	if size() > t.maxScores {
		t.TooManyScores = true
		clear(t.Rankings)
	}
}

// Merge adds the tally, or a piece of a tally, of the same decision. It may keep parts of o.
func (t *Tally) Merge(o *Tally) {
	for cell, n := range o.Confusion {
		t.Confusion[cell] += n
	}
	t.LogLoss.Merge(o.LogLoss)
	t.Brier.Merge(o.Brier)
	for i := range t.Bins {
		t.Bins[i].Documents += o.Bins[i].Documents
		t.Bins[i].Correct += o.Bins[i].Correct
		t.Bins[i].Probability.Merge(o.Bins[i].Probability)
	}
	t.Against.Merge(o.Against)
	if t.TooManyScores = t.TooManyScores || o.TooManyScores; t.TooManyScores {
		clear(t.Rankings)
		return
	}
	for class, r := range o.Rankings {
		if t.Rankings[class] == nil {
			t.Rankings[class] = &Ranking{}
		}
		t.Rankings[class].merge(*r)
	}
	t.limitScores(t.maxScores / 4)
}

// Compact merges what is kept of scores, so that Merge with another tally takes less time.
func (t *Tally) Compact() {
	for _, r := range t.Rankings {
		r.compact()
	}
}

// MaxPieceSize is the largest size of a piece, and of pieces that are sent together: encoded with gob they take less than 1 MiB.
const MaxPieceSize = 16_000

// Size is the number of cells and scores of a piece, and about as much for the rest of it as they take.
func (t *Tally) Size() int {
	n := 16 + len(t.Confusion)
	for _, r := range t.Rankings {
		n += r.size()
	}
	return n
}

// maxPart is how many cells or scores a piece has at most.
const maxPart = MaxPieceSize - 16

// Pieces cuts the tally into pieces that add up to it. They share its memory.
func (t *Tally) Pieces() (pieces []*Tally) {
	t.limitScores(0)
	rest := *t
	rest.Confusion, rest.Rankings = nil, nil
	pieces = append(pieces, &rest)
	for cells := range slices.Chunk(slices.Collect(maps.Keys(t.Confusion)), maxPart) {
		piece := &Tally{Confusion: map[Cell]int64{}}
		for _, cell := range cells {
			piece.Confusion[cell] = t.Confusion[cell]
		}
		pieces = append(pieces, piece)
	}
	for class, r := range t.Rankings {
		r.compact()
		for _, run := range r.Runs {
			for some := range slices.Chunk(run, maxPart) {
				pieces = append(pieces, &Tally{Rankings: map[int]*Ranking{class: {Runs: [][]ScoreCount{some}}}})
			}
		}
	}
	return pieces
}
