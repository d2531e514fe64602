package solver

import (
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Selector decides from the counts of a feature alone whether a support selects it. It is small even for many features: it
// selects features that score far above the threshold, rejects those far below, and lists the groups near it. The margins
// are far wider than rounding, so every machine decides alike.
type Selector struct {
	Model                                Model
	Smoothing                            float64
	DocumentsPositive, DocumentsNegative float64
	Alpha, Beta                          float64    // where the scores are computed: α and 1-α
	Statistic                            *Statistic // ranks the features; nil if their scores do

	// Features that score above High are selected, those below Low are not; all others are listed in Near.
	High, Low float64
	Near      []Taken
}

// Taken is a group from which the support takes Take of Size features. The caller chooses which: they have equal counts.
type Taken struct {
	Positive, Negative float64
	Take, Size         int64
}

// Selector returns the selector of r. p is the problem that r solves.
func (r Result) Selector(p Problem) Selector {
	s := Selector{
		Model:             p.Model,
		Smoothing:         p.Smoothing,
		DocumentsPositive: p.DocumentsPositive,
		DocumentsNegative: p.DocumentsNegative,
	}
	s.Alpha, s.Beta = odds(r.Odds).shares()
	if r.K == 1 && p.Model == Multinomial { // selected at the share of all counts
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

// Selects returns how many of the features with these counts the support selects. all means every one of them, and n is
// then not counted.
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
