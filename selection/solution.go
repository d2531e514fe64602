package selection

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Solution is a problem solved for one k.
type Solution struct {
	Models  []modelio.ModelRow // one for a problem of two sides, one for each class for a joint problem
	Support Support
}

// Support decides from the counts of a feature whether a solution selects it, and computes its row. Counts are by side, as
// [Problem.Counts] returns them.
type Support interface {
	// counts is Problem.Counts.
	counts(models []modelio.ModelRow, labels []string, count func(i int) float64) []float64
	// absent returns the counts of a feature that occurs in none of the classes that the models name, and has the given sum
	// in all others; the sum is 0 if the models name all classes.
	absent(models []modelio.ModelRow, sum float64) []float64
	// resolution is the gain below which rounding decides.
	resolution() float64
	// rule returns a function that returns how many of the features with the given counts are selected. all means every
	// one of them, and n is then not counted.
	rule() func(counts []float64) (n int64, all bool)
	// statistic ranks a feature.
	statistic(counts []float64) float64
	// rows returns the rows of a feature, without the columns that do not depend on its counts. documents may be nil.
	rows(models []modelio.ModelRow, counts, documents []float64) []modelio.FeatureRow
}

// model has what the rows of the solution share.
func (s Solution) model() modelio.ModelRow { return s.Models[0] }

// Resolution is the gain below which rounding decides.
func (s Solution) Resolution() float64 { return s.Support.resolution() }

func (s Solution) counts(labels []string, count func(i int) float64) []float64 {
	return s.Support.counts(s.Models, labels, count)
}

// selectedRows is Rows of the selected features. If the solution selects only some features of a group
// with equal counts, it keeps the first by name.
func (s Solution) selectedRows(features []Feature) ([]modelio.ModelRow, []modelio.FeatureRow) {
	rule, taken := s.Support.rule(), map[string]int64{}
	ranked := slices.DeleteFunc(s.ranked(features), func(f rankedFeature) bool {
		n, all := rule(f.Counts)
		if all {
			return false
		}
		// Features with equal counts have equal statistics, so they are sorted by name.
		group := groupOf(f.Counts)
		taken[group]++
		return taken[group] > n
	})
	return s.number(ranked)
}

// Rows returns the rows of features, ranked, and the models with the intercepts of the classifier. If the classifier is
// fitted, the intercepts and the weights are those of naive Bayes.
func (s Solution) Rows(features []Feature) ([]modelio.ModelRow, []modelio.FeatureRow) {
	return s.number(s.ranked(features))
}

func (s Solution) number(ranked []rankedFeature) (models []modelio.ModelRow, rows []modelio.FeatureRow) {
	m := s.model()
	for i, f := range ranked {
		documents := f.Documents
		if m.Model == solver.Bernoulli.String() {
			documents = f.Counts
		}
		for _, row := range s.Support.rows(s.Models, f.Counts, documents) {
			row.Problem, row.Smoothing, row.K, row.Classifier = m.Problem, m.Smoothing, m.K, m.Classifier
			row.Rank, row.Feature, row.FeatureID, row.Statistic = int64(i)+1, f.Name, f.ID, f.statistic
			rows = append(rows, row)
		}
	}
	return classify(s.Models, ranked, rows), rows
}

type rankedFeature struct {
	Feature
	statistic float64
}

// ranked sorts features by statistic, then by the sum of their counts, both descending, and then by name.
func (s Solution) ranked(features []Feature) []rankedFeature {
	list := make([]rankedFeature, len(features))
	for i, f := range features {
		list[i] = rankedFeature{f, s.Support.statistic(f.Counts)}
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

func integer(n float64) *int64 {
	i := int64(n)
	return &i
}

// groupOf returns a key that features with equal counts share.
func groupOf(counts []float64) string {
	var b []byte
	for _, n := range counts {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n))
	}
	return string(b)
}
