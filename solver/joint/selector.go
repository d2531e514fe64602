package joint

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Selector tells from the counts of a feature alone whether a support has it, as [Selector] does for two classes.
// It travels as it is; [Selector.Rule] makes it ready for use.
type Selector struct {
	Model     solver.Model
	Smoothing float64
	Documents []float64
	At        Shares // where the scores are taken

	// Features that score above High are in, those below Low are out, all others are listed in Near.
	High, Low float64
	Near      []Taken
}

// Taken is a vector of which the support has Take features out of Size. Which ones is the caller's choice: they
// are all alike.
type Taken struct {
	Classes    []int32
	Counts     []float64
	Take, Size int64
}

// Selector returns the rule by which r selects features of p, the problem that r solves.
func (r Result) Selector(p Problem) Selector {
	s := Selector{
		Model:     p.Model,
		Smoothing: p.Smoothing,
		Documents: p.Documents,
		At:        sharesOf(r.Alpha),
	}
	if r.K == 1 && p.Model == solver.Multinomial { // which is selected at the shares of all counts
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

// Rule returns the function that tells how many of the features with these counts, above zero and in ascending classes,
// belong to the support. all means every one of them, and n is then not counted. The function may be called from
// several goroutines.
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
