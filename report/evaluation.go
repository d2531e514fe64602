package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// Evaluation is what a run of evaluate found.
type Evaluation struct {
	Decisions []Evaluated // in the order of evaluation.parquet
	Best      int         // the one with the highest accuracy, of equal ones the first
}

// Evaluated are the figures about a decision. A figure that is not defined is missing.
type Evaluated struct {
	modelio.Key
	KRequested string
	Classifier string
	Figures    map[string]float64            // by metric
	ByClass    map[string]map[string]float64 // by metric, and class or bin
	Confusions []Confusion                   // those with the most documents first
}

// Confusion is a cell of the confusion matrix, with at least one document.
type Confusion struct {
	True, Predicted string
	Documents       float64
}

// NewEvaluation returns the contents of evaluation.parquet.
func NewEvaluation(rows []modelio.EvaluationRow) (e Evaluation) {
	for i, row := range rows {
		if i == 0 || row.Key() != rows[i-1].Key() || row.KRequested != rows[i-1].KRequested || row.Classifier != rows[i-1].Classifier {
			e.Decisions = append(e.Decisions, Evaluated{Key: row.Key(), KRequested: row.KRequested, Classifier: row.Classifier, Figures: map[string]float64{}, ByClass: map[string]map[string]float64{}})
		}
		d := &e.Decisions[len(e.Decisions)-1]
		switch {
		case row.Metric == evaluation.Confusion:
			d.Confusions = append(d.Confusions, Confusion{row.Class, row.Predicted, row.Value})
		case row.Class == "":
			d.Figures[row.Metric] = row.Value
		case d.ByClass[row.Metric] == nil:
			d.ByClass[row.Metric] = map[string]float64{row.Class: row.Value}
		default:
			d.ByClass[row.Metric][row.Class] = row.Value
		}
	}
	for i := range e.Decisions {
		d := &e.Decisions[i]
		slices.SortStableFunc(d.Confusions, func(a, b Confusion) int { return cmp.Compare(b.Documents, a.Documents) })
		if d.Figures[evaluation.Accuracy] > e.Decisions[e.Best].Figures[evaluation.Accuracy] {
			e.Best = i
		}
	}
	return e
}

// SameK reports whether decisions differ in nothing but the k that was requested.
func (e Evaluation) SameK() bool {
	keys := map[modelio.Key]bool{}
	for _, d := range e.Decisions {
		keys[d.Key] = true
	}
	return len(keys) < len(e.Decisions)
}

// Classes returns the classes of the decision, by label.
func (d Evaluated) Classes() []string { return slices.Sorted(maps.Keys(d.ByClass[evaluation.Support])) }

// Documents returns how many documents of a class are predicted as another, or as the same.
func (d Evaluated) Documents(class, predicted string) float64 {
	for _, c := range d.Confusions {
		if c.True == class && c.Predicted == predicted {
			return c.Documents
		}
	}
	return 0
}

// Mistakes returns the cells of the confusion matrix that are wrong, those with the most documents first.
func (d Evaluated) Mistakes() []Confusion {
	return slices.DeleteFunc(slices.Clone(d.Confusions), func(c Confusion) bool { return c.True == c.Predicted })
}

// Calibration compares the predicted probabilities with the accuracy in a sentence; "" if there are no probabilities.
func (d Evaluated) Calibration() string {
	documents, sum := 0.0, 0.0
	for bin, n := range d.ByClass[evaluation.CalibrationDocuments] {
		documents += n
		sum += n * d.ByClass[evaluation.CalibrationProbability][bin]
	}
	if documents == 0 {
		return ""
	}
	return fmt.Sprintf("The mean probability of the predicted class is %.3f; %.3f of the predictions are correct.", sum/documents, d.Figures[evaluation.Accuracy])
}

// significant is the p-value below which a difference is called significant.
const significant = 0.05

// Compared says in a sentence whether this model is better than another one, in the folder against; "" if they were not compared.
func (d Evaluated) Compared(against string) string {
	f := d.Figures
	p, ok := f[evaluation.McNemarP]
	if !ok {
		return ""
	}
	test := "exact"
	if _, ok := f[evaluation.McNemarStatistic]; ok {
		test = "χ² with continuity correction"
	}
	verdict := "this model is significantly better"
	switch {
	case p >= significant:
		verdict = "the difference is not significant"
	case f[evaluation.Accuracy] < f[evaluation.AgainstAccuracy]:
		verdict = "this model is significantly worse"
	}
	return fmt.Sprintf("%s with k = %s has the accuracy %.4f. %s predicted correctly by this model only, %s by that one only: %s (McNemar's test, %s: p %s).", against,
		humanize.Comma(int64(f[evaluation.AgainstK])), f[evaluation.AgainstAccuracy], isOrAre(f[evaluation.McNemarOnlyModel]),
		humanize.Comma(int64(f[evaluation.McNemarOnlyAgainst])), verdict, test, PValue(p))
}

func isOrAre(documents float64) string {
	if documents == 1 {
		return "1 document is"
	}
	return Plural(int64(documents), "document") + " are"
}

// PValue formats a p-value, with its sign of comparison.
func PValue(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return fmt.Sprintf("= %.2g", p)
}
