package evaluation

import (
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// The metrics of evaluation.parquet. Those of scikit-learn have zero_division=0.
const (
	Documents        = "documents"               // that are evaluated: those with a label of the decision
	OtherClass       = "documents_other_class"   // with a label of the model that is not in the decision, if any
	UnknownLabel     = "documents_unknown_label" // with a label that the model does not know; by class: the labels with the most documents
	WithoutLabel     = "documents_without_label"
	Accuracy         = "accuracy"
	AccuracyLow      = "accuracy_low" // Wilson's interval for 95 %
	AccuracyHigh     = "accuracy_high"
	BalancedAccuracy = "balanced_accuracy" // the mean recall of the classes that have documents
	MacroF1          = "macro_f1"          // the mean of the classes that have documents or were predicted
	MicroF1          = "micro_f1"
	LogLoss          = "log_loss"  // natural logarithm, per document; probabilities are at least 2⁻⁵² and at most 1-2⁻⁵²
	Brier            = "brier"     // Σ (p - y)² per document, for two classes half of it: scale_by_half="auto"
	AUC              = "auc"       // of two classes; of several the mean, and by class, of one class against the rest
	Precision        = "precision" // by class
	Recall           = "recall"    // by class
	F1               = "f1"        // by class
	Support          = "support"   // by class: its documents
	Confusion        = "confusion" // by true and predicted class: documents, if there are any

	// By bin of the predicted class' probability, if it has documents.
	CalibrationDocuments   = "calibration_documents"
	CalibrationAccuracy    = "calibration_accuracy"
	CalibrationProbability = "calibration_probability" // the mean

	// Of two models.
	AgainstAccuracy    = "against_accuracy"
	AgainstK           = "against_k"
	AgainstSmoothing   = "against_smoothing"
	McNemarOnlyModel   = "mcnemar_only_model"   // documents for which only this decision is correct
	McNemarOnlyAgainst = "mcnemar_only_against" // documents for which only the other is
	McNemarP           = "mcnemar_p"
	McNemarStatistic   = "mcnemar_statistic" // χ², if p is not that of the exact test
)

// Labels counts the documents by whether the model knows their labels.
type Labels struct {
	Known, Without int64
	Unknown        corpusio.LabelCounts
}

// Merge adds the documents of o.
func (l *Labels) Merge(o Labels) {
	l.Known += o.Known
	l.Without += o.Without
	l.Unknown.Merge(o.Unknown)
}

// UnknownDocuments returns the number of documents with a label that the model does not know.
func (l Labels) UnknownDocuments() int64 {
	n := l.Unknown.Unnamed
	for _, documents := range l.Unknown.ByName {
		n += documents
	}
	return n
}

// Figures returns the rows of evaluation.parquet for a decision, sorted. A metric that is not defined has no row, as the AUC if
// a class has no documents.
func Figures(t *Tally, labels Labels) []modelio.EvaluationRow {
	f := figures{tally: t}
	m := t.matrix()
	f.add(Documents, "", float64(m.all))
	f.add(WithoutLabel, "", float64(labels.Without))
	f.add(UnknownLabel, "", float64(labels.UnknownDocuments()))
	for _, l := range labels.Unknown.Top(modelio.MaxOtherLabels) {
		f.add(UnknownLabel, l.Label, float64(l.Documents))
	}
	if other := labels.Known - m.all; other > 0 {
		f.add(OtherClass, "", float64(other))
	}
	if m.all > 0 {
		f.addConfusion(m)
		f.addProbabilities(m.all)
		f.addAUC()
	}
	slices.SortFunc(f.rows, modelio.EvaluationRow.Compare)
	return f.rows
}

type figures struct {
	tally *Tally
	rows  []modelio.EvaluationRow
}

func (f *figures) add(metric, class string, value float64) {
	d := f.tally.decision
	f.rows = append(f.rows, modelio.EvaluationRow{Problem: d.Problem, Strategy: d.Strategy, Classifier: d.Classifier, K: d.K, KRequested: d.Requested,
		Smoothing: d.Smoothing, Metric: metric, Class: class, Value: value})
}

// matrix has the sums of the confusion matrix, by class.
type matrix struct {
	all, correct          int64
	hits, true, predicted []int64
}

func (t *Tally) matrix() matrix {
	n := len(t.decision.Classes)
	m := matrix{hits: make([]int64, n), true: make([]int64, n), predicted: make([]int64, n)}
	for cell, documents := range t.Confusion {
		m.all += documents
		m.true[cell.True] += documents
		m.predicted[cell.Predicted] += documents
		if cell.True == cell.Predicted {
			m.correct += documents
			m.hits[cell.True] += documents
		}
	}
	return m
}

func (f *figures) addConfusion(m matrix) {
	accuracy := float64(m.correct) / float64(m.all)
	low, high := wilson(m.correct, m.all)
	f.add(Accuracy, "", accuracy)
	f.add(AccuracyLow, "", low)
	f.add(AccuracyHigh, "", high)
	f.add(MicroF1, "", accuracy) // as every document has one class and one prediction
	var recalls, f1s, classes, used float64
	for c, name := range f.tally.decision.Classes {
		recall, f1 := ratio(m.hits[c], m.true[c]), ratio(2*m.hits[c], m.true[c]+m.predicted[c])
		f.add(Precision, name, ratio(m.hits[c], m.predicted[c]))
		f.add(Recall, name, recall)
		f.add(F1, name, f1)
		f.add(Support, name, float64(m.true[c]))
		if m.true[c] > 0 {
			recalls += recall
			classes++
		}
		if m.true[c]+m.predicted[c] > 0 {
			f1s += f1
			used++
		}
	}
	f.add(BalancedAccuracy, "", recalls/classes)
	f.add(MacroF1, "", f1s/used)
	for cell, documents := range f.tally.Confusion {
		f.add(Confusion, f.tally.decision.Classes[cell.True], float64(documents))
		f.rows[len(f.rows)-1].Predicted = f.tally.decision.Classes[cell.Predicted]
	}
}

// ratio is 0 if both are 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// wilson returns the score interval of Wilson (1927) for a proportion, with a confidence of 95 %. n must be above 0.
func wilson(correct, n int64) (low, high float64) {
	const z = 1.959963984540054 // the quantile 0.975 of the normal distribution
	p, size := float64(correct)/float64(n), float64(n)
	center := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, center-half), min(1, center+half)
}

func (f *figures) addProbabilities(documents int64) {
	t := f.tally
	if !t.decision.Probable {
		return
	}
	brier := t.Brier.Float() / float64(documents)
	if len(t.decision.Classes) == 2 {
		brier /= 2
	}
	f.add(LogLoss, "", t.LogLoss.Float()/float64(documents))
	f.add(Brier, "", brier)
	for i, bin := range t.Bins {
		if bin.Documents == 0 {
			continue
		}
		name := binName(i)
		f.add(CalibrationDocuments, name, float64(bin.Documents))
		f.add(CalibrationAccuracy, name, ratio(bin.Correct, bin.Documents))
		f.add(CalibrationProbability, name, bin.Probability.Float()/float64(bin.Documents))
	}
}

// binName returns the limits of a bin: 0.5-0.6 has the probabilities above 0.5, up to 0.6.
func binName(bin int) string { return fmt.Sprintf("%.1f-%.1f", float64(bin)/Bins, float64(bin+1)/Bins) }

func (f *figures) addAUC() {
	t := f.tally
	t.limitScores(0)
	if t.TooManyScores {
		return
	}
	if len(t.decision.Classes) == 2 {
		if area, ok := t.Rankings[1].auc(); ok {
			f.add(AUC, "", area)
		}
		return
	}
	var areas, defined float64
	for c, name := range t.decision.Classes {
		if area, ok := t.Rankings[c].auc(); ok {
			f.add(AUC, name, area)
			areas += area
			defined++
		}
	}
	if int(defined) == len(t.decision.Classes) {
		f.add(AUC, "", areas/defined)
	}
}
