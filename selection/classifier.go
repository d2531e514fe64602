package selection

import (
	"math"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Fitted reports whether a classifier is fitted to the documents, and not computed from the counts of the features.
func Fitted(classifier string) bool {
	return classifier == modelio.Logistic || classifier == modelio.SVM
}

// classifier returns the classifier that was asked for, or the default.
func (p Params) classifier() string {
	if p.Classifier == "" {
		return modelio.DefaultClassifier(p.Model.String())
	}
	return p.Classifier
}

// NeedsOccurrences reports whether the classifier is computed from the occurrences of the features, while the selection is
// made from their documents.
func (p Params) NeedsOccurrences() bool {
	c := p.classifier()
	return p.Model == solver.Bernoulli && p.Weights != modelio.BinaryWeights && (c == modelio.MultinomialNB || c == modelio.ComplementNB)
}

// Counted says what the counts of a selected feature are.
func (p Params) Counted() Counted { return Counted{p.CountsDocuments(), p.NeedsOccurrences()} }

// NeedsDocuments reports whether the classifier is computed from the documents of the features, while the selection is made
// from their occurrences.
func (p Params) NeedsDocuments() bool {
	return p.Model != solver.Bernoulli && p.classifier() == modelio.BernoulliNB
}

// classify computes the intercepts and weights of a model that is not classified by its own naive Bayes model, and not fitted.
// It returns the models with the intercepts, and sets the weights in the rows of the features, which are in the same order.
func classify(models []modelio.ModelRow, features []rankedFeature, rows []modelio.FeatureRow) []modelio.ModelRow {
	m := models[0]
	if m.Classifier == modelio.DefaultClassifier(m.Model) || Fitted(m.Classifier) {
		return models
	}
	counts := make([][]float64, len(features))
	for i, f := range features {
		switch {
		case m.Classifier == modelio.BernoulliNB && m.Model != solver.Bernoulli.String():
			counts[i] = f.Documents
		case m.Classifier != modelio.BernoulliNB && f.Occurrences != nil:
			counts[i] = f.Occurrences
		default:
			counts[i] = f.Counts
		}
	}
	b := newBayes(models, counts)
	models = append([]modelio.ModelRow{}, models...)
	intercepts := b.intercepts(counts)
	for i := range models {
		models[i].Intercept = intercepts[i]
	}
	for i, n := range counts {
		for c, w := range b.weights(n) {
			rows[i*len(models)+c].Weight = w
		}
	}
	return models
}

// bayes is a naive Bayes classifier of some features. It has two sides, or a side for each class of a joint model.
type bayes struct {
	classifier string
	joint      bool
	smoothing  float64
	mass       []float64 // by side, of all features, smoothed: counts, or for cnb the counts of the other sides
	documents  []float64 // by side; nil if unknown
}

func newBayes(models []modelio.ModelRow, counts [][]float64) bayes {
	m := models[0]
	b := bayes{classifier: m.Classifier, joint: m.Strategy == modelio.Joint, smoothing: m.Smoothing}
	known := func(n *int64) {
		if n != nil {
			b.documents = append(b.documents, float64(*n))
		}
	}
	sides := len(models)
	if b.joint {
		for _, m := range models {
			known(m.DocsPositive)
		}
	} else {
		sides = 2
		known(m.DocsPositive)
		known(m.DocsNegative)
	}
	if len(b.documents) < sides {
		b.documents = nil
	}
	b.mass = make([]float64, sides)
	for side := range b.mass {
		var column []float64
		for _, n := range counts {
			column = append(column, b.count(n, side))
		}
		b.mass[side] = solver.Sum(column)
	}
	return b
}

// count returns the smoothed count of a feature that a side is described by: its own, or for cnb that of the other sides.
func (b bayes) count(n []float64, side int) float64 {
	if b.classifier == modelio.ComplementNB {
		return sumWithout(n, side) + b.smoothing
	}
	return n[side] + b.smoothing
}

// weights returns what an occurrence of a feature, or for bnb its presence, adds to the log-odds of the positive side; of a
// joint model, to the log-probability of each class, up to a constant. A weight is infinite if a count is 0 and there is no
// smoothing, and 0 if the counts do not determine it.
func (b bayes) weights(n []float64) []float64 {
	reference := b.reference(n)
	w := make([]float64, len(b.mass))
	for side := range w {
		if share := b.share(n, side); share != reference && !math.IsNaN(share) && !math.IsNaN(reference) {
			w[side] = b.log(share) - b.log(reference)
		}
	}
	return w[:b.rows()]
}

// log is the part of a score that a share adds.
func (b bayes) log(share float64) float64 {
	switch b.classifier {
	case modelio.ComplementNB:
		return -math.Log(share)
	case modelio.BernoulliNB:
		return math.Log(share) - math.Log1p(-share)
	}
	return math.Log(share)
}

// rows is the number of rows of the model.
func (b bayes) rows() int {
	if b.joint {
		return len(b.mass)
	}
	return 1
}

// share returns the smoothed share of a feature in a side: of the counts of all features, or for bnb of the documents.
// It is NaN if the side has none.
func (b bayes) share(n []float64, side int) float64 {
	return b.count(n, side) / b.total(side)
}

func (b bayes) total(side int) float64 {
	if b.classifier == modelio.BernoulliNB {
		return b.documents[side] + 2*b.smoothing
	}
	return b.mass[side]
}

// reference returns the share that the others are compared with: that of the second side, or of all classes together, as in
// package joint.
func (b bayes) reference(n []float64) float64 {
	if !b.joint {
		return b.share(n, 1)
	}
	var count, total float64
	for side := range b.mass {
		count, total = count+b.count(n, side), total+b.total(side)
	}
	return count / total
}

// intercepts returns the log-odds of a document without any of the features; of a joint model, by class, its log-probability
// up to a constant. Without known documents, and for cnb, the sides are equally likely.
func (b bayes) intercepts(counts [][]float64) []float64 {
	intercepts := make([]float64, b.rows())
	for side := range intercepts {
		switch {
		case b.documents == nil || b.classifier == modelio.ComplementNB:
		case b.joint:
			intercepts[side] = math.Log(b.documents[side] / solver.Sum(b.documents))
		default:
			intercepts[side] = math.Log(b.documents[0] / b.documents[1])
		}
	}
	if b.classifier != modelio.BernoulliNB {
		return intercepts
	}
	for _, n := range counts {
		reference := b.reference(n)
		for side := range intercepts {
			if share := b.share(n, side); share != reference {
				intercepts[side] += math.Log1p(-share) - math.Log1p(-reference)
			}
		}
	}
	return intercepts
}
