package tuning

import (
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Scorer applies the models of a plan to documents, each document to those of its fold. It is for one goroutine.
type Scorer struct {
	plan       *Plan
	vectorizer *kernel.Vectorizer
	numbers    map[string]int // of classes
	tally      *Tally

	presence []float64   // a 1 for each column of a row
	sums     []sum       // of a table with one output, by smoothing and set
	terms    []float64   // of another table, by smoothing, set and output: the sum of values times terms
	values   []float64   // by smoothing and set: the sum of values
	scores   [][]float64 // by problem: by smoothing, k and output
	joined   []float64   // by class
	votes    []float64
}

// NewScorer returns a scorer with an empty tally. columns are those of the plan.
func NewScorer(p *Plan, columns *kernel.Columns) *Scorer {
	s := &Scorer{
		plan: p, vectorizer: columns.NewVectorizer(), numbers: map[string]int{}, tally: newTally(p.Folds.Number, len(p.Presence)*p.Smoothing*p.K, len(p.Classes)),
		joined: make([]float64, len(p.Classes)), votes: make([]float64, len(p.Classes)),
	}
	for i, label := range p.Classes {
		s.numbers[label] = i
	}
	return s
}

// Tally returns what was added up.
func (s *Scorer) Tally() *Tally { return s.tally }

// Add applies the models to a document. It counts once for each of its classes, as in training. An error is a
// *kernel.ValueError, or says that the file has changed.
func (s *Scorer) Add(d *corpusio.Document) error {
	var row kernel.Vector
	var err error
	if d.Features != nil {
		row, err = s.vectorizer.Features(d.Features)
	} else {
		row, err = s.vectorizer.Text(d.Text)
	}
	if err != nil || d.Weight == 0 {
		return err
	}
	fold := s.plan.Folds.Of(d)
	s.tally.Read++
	labels := make([]int, 0, 1)
	for i := range 1 + len(d.MoreLabels) {
		label := d.Label
		if i > 0 {
			label = d.MoreLabels[i-1]
		}
		class, ok := s.numbers[string(label)]
		if !ok {
			class, ok = s.numbers[kernel.CleanLabel(label)]
		}
		if !ok {
			return fmt.Errorf("a document has the class %.40q, which was not counted; the input has probably changed", label)
		}
		labels = append(labels, class)
		s.tally.Documents[fold][class] += int64(d.Weight)
	}
	for setting, tables := range s.plan.Tables[fold] {
		values := row.Values
		if s.plan.Presence[setting] {
			for len(s.presence) < len(row.Columns) {
				s.presence = append(s.presence, 1)
			}
			values = s.presence[:len(row.Columns)]
		}
		if len(s.scores) < len(tables) {
			s.scores = make([][]float64, len(tables))
		}
		for i := range tables {
			s.scores[i] = s.score(&tables[i], row.Columns, values, s.scores[i])
		}
		s.decide(fold, setting, tables, labels, int64(d.Weight))
	}
	return nil
}

// sum is the sum of the values of features, and of the values times the terms.
type sum struct{ value, term float64 }

// score returns the scores of a table's models, by smoothing, k and output: log-odds, or of a joint problem logarithms of
// probabilities up to a constant.
func (s *Scorer) score(t *Table, columns []int32, values, scores []float64) []float64 {
	scores = append(scores[:0], t.Intercepts...)
	if t.Outputs > 1 {
		return s.scoreOutputs(t, columns, values, scores)
	}
	smoothings, ks, most := s.plan.Smoothing, s.plan.K, t.sets()
	if n := smoothings * most; cap(s.sums) < n {
		s.sums = make([]sum, n)
	} else {
		s.sums = s.sums[:n]
		clear(s.sums)
	}
	sums := s.sums
	for i, c := range columns {
		row := int(t.Rows[c])
		if row < 0 {
			continue
		}
		x := values[i]
		for _, c := range t.cells[row*smoothings : (row+1)*smoothings] {
			sum := &sums[c.at]
			sum.value += x
			sum.term += float64(x * c.term) // not fused: all machines round alike
		}
	}
	for a, sets := range t.Ks {
		for k := range ks {
			i := a*ks + k
			if t.Flat[i] {
				continue
			}
			for set := 1; set < len(sets); set++ {
				if sum := sums[a*most+set]; sets[set]>>k&1 == 1 && sum.value != 0 {
					scores[i] += sum.term - float64(sum.value*t.Offsets[i])
				}
			}
		}
	}
	return scores
}

// scoreOutputs is score for a joint problem.
func (s *Scorer) scoreOutputs(t *Table, columns []int32, values, scores []float64) []float64 {
	smoothings, ks, most := s.plan.Smoothing, s.plan.K, t.sets()
	s.terms, s.values = zeros(s.terms, smoothings*most*t.Outputs), zeros(s.values, smoothings*most)
	for i, c := range columns {
		row := int(t.Rows[c])
		if row < 0 {
			continue
		}
		x := values[i]
		for a, set := range t.Sets[row*smoothings : (row+1)*smoothings] {
			at := a*most + int(set)
			s.values[at] += x
			terms := t.Terms[(row*smoothings+a)*t.Outputs:]
			for o := range t.Outputs {
				s.terms[at*t.Outputs+o] += float64(x * terms[o])
			}
		}
	}
	for a, sets := range t.Ks {
		for k := range ks {
			i := a*ks + k
			if t.Flat[i] {
				continue
			}
			for set := 1; set < len(sets); set++ {
				x := s.values[a*most+set]
				if sets[set]>>k&1 == 0 || x == 0 {
					continue
				}
				for o := range t.Outputs {
					scores[i*t.Outputs+o] += s.terms[(a*most+set)*t.Outputs+o] - float64(x*t.Offsets[i*t.Outputs+o])
				}
			}
		}
	}
	return scores
}

func zeros(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// decide adds the decisions for a document to the tally.
func (s *Scorer) decide(fold, setting int, tables []Table, labels []int, weight int64) {
	points := s.plan.Smoothing * s.plan.K
	for i := range points {
		predicted := s.decision(tables, i)
		figures := &s.tally.Figures[fold][setting*points+i]
		for _, class := range labels {
			if predicted == class {
				figures.Correct[class] += weight
			}
			if s.plan.Strategy != modelio.OneVersusOne || len(tables) == 1 {
				figures.LogLoss.Add(-s.logProbability(tables, i, class), weight)
			}
		}
	}
}

// decision returns the predicted class of a point, of equal ones the first. It leaves in joined what logProbability needs.
// The rules are those of package model.
func (s *Scorer) decision(tables []Table, i int) int {
	t := &tables[0]
	switch {
	case t.Outputs > 1:
		copy(s.joined, s.scores[0][i*t.Outputs:(i+1)*t.Outputs])
		return highest(s.joined)
	case len(tables) == 1:
		odds := s.scores[0][i]
		s.joined[t.Positive], s.joined[t.Negative] = odds, 0
		return highest(s.joined)
	case s.plan.Strategy == modelio.OneVersusOne:
		return s.vote(tables, i)
	}
	for j := range tables {
		s.joined[tables[j].Positive] = s.scores[j][i]
	}
	predicted := highest(s.joined)
	for c, odds := range s.joined {
		s.joined[c] = logSigmoid(odds)
	}
	return predicted
}

// vote returns the class with most votes of the pairs, and of these the one with the highest sum of confidences, as
// scikit-learn's OneVsOneClassifier.
func (s *Scorer) vote(tables []Table, i int) int {
	clear(s.votes)
	clear(s.joined)
	for j := range tables {
		a, b, odds := tables[j].Positive, tables[j].Negative, s.scores[j][i]
		confidence := math.Exp(logSigmoid(-odds))
		s.joined[a] -= confidence
		s.joined[b] += confidence
		if odds >= 0 {
			s.votes[a]++
		} else {
			s.votes[b]++
		}
	}
	for c, x := range s.joined {
		s.joined[c] = s.votes[c] + x/(3*(math.Abs(x)+1))
	}
	return highest(s.joined)
}

// logProbability returns the logarithm of the probability of a class after decision.
func (s *Scorer) logProbability(tables []Table, i, class int) float64 {
	var l float64
	if t := &tables[0]; len(tables) == 1 && t.Outputs == 1 {
		l = logSigmoid(s.joined[class] - s.joined[t.Positive+t.Negative-int32(class)])
	} else {
		top := s.joined[highest(s.joined)]
		sum := 0.0
		for _, x := range s.joined {
			sum += math.Exp(x - top)
		}
		l = s.joined[class] - top - math.Log(sum)
	}
	return evaluation.LimitLogProb(l)
}

func logSigmoid(x float64) float64 {
	if x < 0 {
		return x - math.Log1p(math.Exp(x))
	}
	return -math.Log1p(math.Exp(-x))
}

func highest(scores []float64) int {
	best := 0
	for c, x := range scores {
		if x > scores[best] {
			best = c
		}
	}
	return best
}
