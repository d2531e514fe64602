package selection

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

func modelsOf(strategy, classifier string, smoothing float64, documents ...int64) (models []modelio.ModelRow) {
	n := documents
	if strategy == modelio.Joint {
		for i := range n {
			models = append(models, modelio.ModelRow{Strategy: strategy, Classifier: classifier, Smoothing: smoothing, DocsPositive: &n[i]})
		}
		return models
	}
	return []modelio.ModelRow{{Strategy: strategy, Classifier: classifier, Smoothing: smoothing, DocsPositive: &n[0], DocsNegative: &n[1]}}
}

// A Bernoulli selection and its own model have the same weights as bnb from documents, and a multinomial selection the same
// as mnb from occurrences.
func TestNaiveBayesIsTheNativeModel(t *testing.T) {
	counts := [][]float64{{3, 0}, {0, 2}, {4, 4}, {0, 0}, {7, 1}}
	for _, smoothing := range []float64{0, 0.1, 1} {
		b := newBayes(modelsOf(modelio.Binary, modelio.MultinomialNB, smoothing, 10, 8), counts)
		params := solver.Parameters{Smoothing: smoothing, SupportPositive: b.mass[0], SupportNegative: b.mass[1]}
		for _, n := range counts {
			if got, want := b.weights(n)[0], params.Weight(n[0], n[1]); !(got == want || math.Abs(got-want) < 1e-15) {
				t.Errorf("mnb, smoothing %v, %v: %v, want %v", smoothing, n, got, want)
			}
		}
		b = newBayes(modelsOf(modelio.Binary, modelio.BernoulliNB, smoothing, 10, 8), counts)
		params = solver.Parameters{Model: solver.Bernoulli, Smoothing: smoothing, DocumentsPositive: 10, DocumentsNegative: 8}
		for _, n := range counts {
			if got, want := b.weights(n)[0], params.Weight(n[0], n[1]); !(got == want || math.Abs(got-want) < 1e-15) {
				t.Errorf("bnb, smoothing %v, %v: %v, want %v", smoothing, n, got, want)
			}
		}
	}
}

// Weights may be infinite without smoothing, but never NaN.
func TestWeightsAreNumbers(t *testing.T) {
	for _, strategy := range []string{modelio.Binary, modelio.Joint} {
		for _, classifier := range []string{modelio.MultinomialNB, modelio.ComplementNB, modelio.BernoulliNB} {
			for _, smoothing := range []float64{0, 1} {
				for _, counts := range [][][]float64{
					{{0, 0, 0}}, {{1, 0, 0}}, {{4, 3, 0}, {0, 0, 0}}, {{4, 4, 4}, {4, 0, 0}}, {{0, 4, 4}, {0, 0, 0}}, {},
				} {
					b := newBayes(modelsOf(strategy, classifier, smoothing, 4, 4, 4), counts)
					for _, n := range counts {
						for _, w := range b.weights(n) {
							if math.IsNaN(w) || smoothing > 0 && math.IsInf(w, 0) {
								t.Errorf("%s %s, smoothing %v, %v: weight %v", strategy, classifier, smoothing, counts, w)
							}
						}
					}
					for _, x := range b.intercepts(counts) {
						if smoothing > 0 && (math.IsNaN(x) || math.IsInf(x, 0)) {
							t.Errorf("%s %s, %v: intercept %v", strategy, classifier, counts, x)
						}
					}
				}
			}
		}
	}
}

func TestClassifiersThatCannotBe(t *testing.T) {
	documents := int64(3)
	known := []modelio.Class{{Label: "a", Documents: &documents}, {Label: "b", Documents: &documents}}
	unknown := []modelio.Class{{Label: "a"}, {Label: "b"}}
	for _, c := range []struct {
		params Params
		counts Counts
		want   string
	}{
		{Params{Classifier: "mnb"}, Counts{Classes: unknown}, ""},
		{Params{Classifier: "cnb"}, Counts{Classes: unknown}, ""},
		{Params{Classifier: "bnb"}, Counts{Classes: known, DocumentsKnown: true}, ""},
		{Params{Classifier: "bnb"}, Counts{Classes: unknown, DocumentsKnown: true}, "--classifier=bnb needs the number of documents of each class"},
		{Params{Classifier: "bnb"}, Counts{Classes: known}, "has no column documents"},
		{Params{Classifier: "mnb", Model: solver.Bernoulli}, Counts{Classes: known}, "needs the occurrences"},
		{Params{Classifier: "cnb", Model: solver.Bernoulli}, Counts{Classes: known, DocumentsKnown: true}, ""},
		{Params{Classifier: "svm", C: 1}, Counts{Classes: known, DocumentsKnown: true}, "use sparsenb train"},
		{Params{Classifier: "lr"}, Counts{}, "must be one of mnb, cnb, bnb, logistic, svm"},
		{Params{Classifier: "logistic", C: math.NaN()}, Counts{}, "--c=NaN"},
		{Params{Classifier: "logistic", C: -1}, Counts{}, "--c=-1: must be a number from"},
		{Params{Classifier: "cnb", C: 2}, Counts{}, "naive Bayes has --smoothing"},
	} {
		err := c.params.validateClassifier()
		if err == nil {
			err = c.counts.validateClassifier("TABLE", c.params)
		}
		var usage *modelio.Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &usage) || usage.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v, %+v: %v, want %q", c.params, c.counts, err, c.want)
		}
	}
}
