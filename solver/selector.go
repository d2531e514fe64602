package solver

import (
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Selector tells from the counts of a feature alone whether a support has it. It is small however many features there
// are: those far above the threshold are in, those far below are out, and the groups near it are listed. The margins
// around the listed groups are far wider than rounding, so every machine that asks gets the same answer.
type Selector struct {
	Model                                Model
	Smoothing                            float64
	DocumentsPositive, DocumentsNegative float64
	Alpha, Beta                          float64    // the shares at which the scores are taken
	Statistic                            *Statistic // what ranks the features, if it is not their scores

	// Features that score above High are in, those below Low are out, all others are listed in Near.
	High, Low float64
	Near      []Taken
}

// Taken is a group of which the support has Take features out of Size. Which ones is the caller's choice: they are all
// alike.
type Taken struct {
	Positive, Negative float64
	Take, Size         int64
}

// Selector returns the rule by which r selects features of p, the problem that r solves.
func (r Result) Selector(p Problem) Selector {
	s := Selector{
		Model:             p.Model,
		Smoothing:         p.Smoothing,
		DocumentsPositive: p.DocumentsPositive,
		DocumentsNegative: p.DocumentsNegative,
	}
	s.Alpha, s.Beta = odds(r.Odds).shares()
	if r.K == 1 && p.Model == Multinomial { // which is selected at the share of all counts
		positive, negative := p.masses()
		s.Alpha, s.Beta = odds(positive / negative).shares()
	}
	s.Statistic = p.Statistic()
	if r.K == 0 {
		s.Low, s.High = math.MaxFloat64, math.MaxFloat64
		return s
	}
	s.Low, s.High = topk.Thresholds(r.Take, r.Parameters.Resolution(), func(i int) (float64, int64) {
		g := p.Groups[i]
		return s.score(g.Positive, g.Negative), g.Size
	})
	for i, g := range p.Groups {
		if score := s.score(g.Positive, g.Negative); s.Low <= score && score <= s.High {
			s.Near = append(s.Near, Taken{g.Positive, g.Negative, r.Take[i], g.Size})
		}
	}
	slices.SortFunc(s.Near, compareTaken)
	return s
}

func compareTaken(a, b Taken) int {
	return CompareGroups(Group{Positive: a.Positive, Negative: a.Negative}, Group{Positive: b.Positive, Negative: b.Negative})
}

func (s Selector) score(positive, negative float64) float64 {
	if s.Statistic != nil {
		return s.Statistic.Of(positive, negative)
	}
	if s.Model == Bernoulli {
		params := Parameters{Model: Bernoulli, Smoothing: s.Smoothing, DocumentsPositive: s.DocumentsPositive, DocumentsNegative: s.DocumentsNegative}
		return params.Score(positive, negative)
	}
	return divergence(positive+s.Smoothing, negative+s.Smoothing, s.Alpha, s.Beta)
}

// Selects returns how many of the features with these counts belong to the support. all means every one of them, and n
// is then not counted.
func (s Selector) Selects(positive, negative float64) (n int64, all bool) {
	switch score := s.score(positive, negative); {
	case score > s.High:
		return 0, true
	case score < s.Low:
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(s.Near, Taken{Positive: positive, Negative: negative}, compareTaken)
	if !ok {
		return 0, false
	}
	t := s.Near[i]
	return t.Take, t.Take == t.Size
}
