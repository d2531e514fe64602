package joint

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Selector decides from the counts of a feature alone whether a support selects it, as [solver.Selector] does for two
// classes. It can be encoded with gob; [Selector.Rule] prepares it for use.
type Selector struct {
	Model     solver.Model
	Smoothing float64
	Documents []float64
	At        Shares // where the scores are computed

	// Features that score above High are selected, those below Low are not; all others are listed in Near.
	High, Low float64
	Near      []Taken
}

// Taken is a vector from which the support takes Take of Size features. The caller chooses which: they have equal counts.
type Taken struct {
	Classes    []int32
	Counts     []float64
	Take, Size int64
}

// Selector returns the selector of r. p is the problem that r solves.
func (r Result) Selector(p Problem) Selector {
	s := Selector{
		Model:     p.Model,
		Smoothing: p.Smoothing,
		Documents: p.Documents,
		At:        sharesOf(r.Alpha),
	}
	if r.K == 1 && p.Model == solver.Multinomial { // selected at the shares of all counts
		s.At = sharesOf(newRanking(p).masses())
	}
	if r.K == 0 {
		s.Low, s.High = math.MaxFloat64, math.MaxFloat64
		return s
	}
	score := s.scoring()
	s.Low, s.High = topk.Thresholds(r.Take, r.Parameters.Resolution(), func(i int) (float64, int64) {
		return score(p.Entries(i)), p.Size(i)
	})
	for i, n := range r.Take {
		classes, counts := p.Entries(i)
		if h := score(classes, counts); s.Low <= h && h <= s.High {
			s.Near = append(s.Near, Taken{slices.Clone(classes), slices.Clone(counts), n, p.Size(i)})
		}
	}
	slices.SortFunc(s.Near, compareTaken)
	return s
}

func compareTaken(a, b Taken) int {
	return cmp.Or(slices.Compare(a.Classes, b.Classes), slices.Compare(a.Counts, b.Counts))
}

func (s Selector) scoring() func(classes []int32, counts []float64) float64 {
	if s.Model == solver.Bernoulli {
		return newPresence(Parameters{Smoothing: s.Smoothing, Documents: s.Documents, At: s.At}).score
	}
	return func(classes []int32, counts []float64) float64 {
		return s.At.divergence(classes, counts, smoothedMass(counts, s.Smoothing, len(s.At.Alpha)), s.Smoothing)
	}
}

// Rule returns a function that returns how many of the features with the given counts the support selects. all means every
// one of them, and n is then not counted. Counts are above zero, in ascending order of their classes. The function may be
// called from several goroutines.
func (s Selector) Rule() func(classes []int32, counts []float64) (n int64, all bool) {
	score := s.scoring()
	return func(classes []int32, counts []float64) (int64, bool) {
		switch h := score(classes, counts); {
		case h > s.High:
			return 0, true
		case h < s.Low:
			return 0, false
		}
		i, ok := slices.BinarySearchFunc(s.Near, Taken{Classes: classes, Counts: counts}, compareTaken)
		if !ok {
			return 0, false
		}
		t := s.Near[i]
		return t.Take, t.Take == t.Size
	}
}
