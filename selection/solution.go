package selection

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/joint"
)

// Solution is a problem solved for one k, and how to select its features: one of two sides, or a joint one.
type Solution struct {
	Models     []modelio.ModelRow // one, or if it is joint one for each class
	Parameters solver.Parameters
	Selector   solver.Selector
	Joint      *JointSolution
}

// JointSolution is what a joint problem has in place of parameters and a selector.
type JointSolution struct {
	Parameters joint.Parameters
	Selector   joint.Selector
}

// model is what all rows of the solution have in common.
func (s Solution) model() modelio.ModelRow { return s.Models[0] }

// Resolution is the gain up to which rounding decides.
func (s Solution) Resolution() float64 {
	if s.Joint != nil {
		return s.Joint.Parameters.Resolution()
	}
	return s.Parameters.Resolution()
}

// Counts are those of a feature on the sides of the problem: two, or if it is joint one for each class. Labels come in
// their order.
func (s Solution) Counts(labels []string, count func(i int) float64) []float64 {
	if s.Joint == nil {
		positive, negative := Sides(s.model(), labels, count)
		return []float64{positive, negative}
	}
	counts := make([]float64, len(s.Models))
	c := 0
	for i, label := range labels {
		for s.Models[c].Positive != label {
			c++
		}
		counts[c] = count(i)
	}
	return counts
}

// rule returns what tells how many of the features with these counts the model has. all means every one of them.
func (s Solution) rule() func(counts []float64) (n int64, all bool) {
	if s.Joint == nil {
		return func(counts []float64) (int64, bool) { return s.Selector.Selects(counts[0], counts[1]) }
	}
	rule := s.Joint.Selector.Rule()
	return func(counts []float64) (int64, bool) { return rule(present(counts)) }
}

// present are the counts above zero, and their classes.
func present(counts []float64) (classes []int32, above []float64) {
	for c, n := range counts {
		if n > 0 {
			classes, above = append(classes, int32(c)), append(above, n)
		}
	}
	return classes, above
}

// rows returns the features of the model, ranked. Of groups of which the model has some features only, the first by name
// stay.
func (s Solution) rows(features []Feature) []modelio.FeatureRow {
	rule, taken := s.rule(), map[string]int64{}
	ranked := slices.DeleteFunc(s.ranked(features), func(f rankedFeature) bool {
		n, all := rule(f.Counts)
		if all {
			return false
		}
		// Equal counts have equal statistics, so that within a group the features are sorted by name.
		group := groupOf(f.Counts)
		taken[group]++
		return taken[group] > n
	})
	return s.number(ranked)
}

// Rows returns features as rows of the model, ranked.
func (s Solution) Rows(features []Feature) []modelio.FeatureRow { return s.number(s.ranked(features)) }

func (s Solution) number(ranked []rankedFeature) (rows []modelio.FeatureRow) {
	for i, f := range ranked {
		for _, row := range s.of(f.Feature) {
			row.Problem, row.Smoothing, row.K = s.model().Problem, s.model().Smoothing, s.model().K
			row.Rank, row.Feature, row.FeatureID, row.Statistic = int64(i)+1, f.Name, f.ID, f.statistic
			rows = append(rows, row)
		}
	}
	return rows
}

type rankedFeature struct {
	Feature
	statistic float64
}

// ranked sorts features by what ranks them, then by their counts, both descending, and then by name.
func (s Solution) ranked(features []Feature) []rankedFeature {
	list := make([]rankedFeature, len(features))
	for i, f := range features {
		list[i] = rankedFeature{f, s.statistic(f.Counts)}
	}
	slices.SortFunc(list, func(a, b rankedFeature) int {
		return cmp.Or(
			-cmp.Compare(a.statistic, b.statistic),
			-cmp.Compare(solver.Sum(a.Counts), solver.Sum(b.Counts)),
			bytes.Compare([]byte(a.Name), []byte(b.Name)),
		)
	})
	return list
}

// statistic is what ranks a feature.
func (s Solution) statistic(counts []float64) float64 {
	switch {
	case s.Joint != nil:
		return s.Joint.Parameters.Score(present(counts))
	case s.Selector.Statistic != nil:
		return s.Selector.Statistic.Of(counts[0], counts[1])
	}
	return s.Parameters.Score(counts[0], counts[1])
}

// of returns the rows of a feature, without what all of them share.
func (s Solution) of(f Feature) []modelio.FeatureRow {
	documents := f.Documents
	if s.model().Model == solver.Bernoulli.String() {
		documents = f.Counts
	}
	if s.Joint == nil {
		thetaPositive, thetaNegative := s.Parameters.Theta(f.Counts[0], f.Counts[1])
		row := modelio.FeatureRow{
			Class: s.model().Positive, CountPositive: f.Counts[0], CountNegative: f.Counts[1],
			Score:         s.Parameters.Score(f.Counts[0], f.Counts[1]),
			ThetaPositive: thetaPositive, ThetaNegative: thetaNegative,
			Weight: s.Parameters.Weight(f.Counts[0], f.Counts[1]),
		}
		if documents != nil {
			row.DocumentsPositive, row.DocumentsNegative = whole(documents[0]), whole(documents[1])
		}
		return []modelio.FeatureRow{row}
	}
	p := s.Joint.Parameters
	classes, counts := present(f.Counts)
	theta, weights, parts := p.Theta(nil, classes, counts), p.Weights(nil, classes, counts), p.Parts(nil, classes, counts)
	rows := make([]modelio.FeatureRow, len(s.Models))
	for c, m := range s.Models {
		rows[c] = modelio.FeatureRow{
			Class: m.Positive, CountPositive: f.Counts[c], CountNegative: sumWithout(f.Counts, c),
			Score: parts[c], ThetaPositive: theta[c], ThetaNegative: p.Common(counts), Weight: weights[c],
		}
		if documents != nil {
			rows[c].DocumentsPositive, rows[c].DocumentsNegative = whole(documents[c]), whole(sumWithout(documents, c))
		}
	}
	return rows
}

// sumWithout adds up the counts of all classes but one.
func sumWithout(counts []float64, c int) float64 {
	return solver.Sum(counts[:c]) + solver.Sum(counts[c+1:])
}

// whole is a number of documents.
func whole(n float64) *int64 {
	i := int64(n)
	return &i
}

// groupOf is the same for features that have the same counts.
func groupOf(counts []float64) string {
	var b []byte
	for _, n := range counts {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n))
	}
	return string(b)
}
