// Package model applies published models to documents. It is for services, and for the steps that predict and evaluate; it
// knows no Beam. A [Model] may be used by many goroutines:
//
//	m, err := model.Open(ctx, "out/model")
//	…
//	p, err := m.Predict("a fine film")
//	fmt.Println(p.Label, p.Probability)
package model

import (
	"context"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Model is the models of a run: all problems, ks and smoothings. It does not change.
type Model struct {
	decisions []Decision
}

// Decision is a rule that assigns a document to a class: the model of the only two classes, or the models of all problems of
// a strategy with one k and smoothing together. A run whose problems do not tell all classes apart, as with --positive, has a
// decision for each problem, between the positive class and "rest".
type Decision struct {
	Problem    string // of the model if there is one, otherwise the strategy: ovr, ovo or joint
	Strategy   string // of the models: binary, ovr, ovo or joint
	Classifier string // of the models: mnb, bnb, cnb, logistic or svm
	K          int64
	Smoothing  float64
	Classes    []string // sorted by bytes; "rest" is the last one if the other side has no name
	Probable   bool     // there are probabilities: not for ovo and svm, as in scikit-learn
}

// Open reads the model in the output folder of train or select. It checks that the run is published, that its files have the
// checksums of its manifest, and that this program knows the analyzer. Errors have an exit code, see modelio.Error.
func Open(ctx context.Context, dir string) (*Model, error) { panic("to be written") }

// Params are the parts of a model that is not in a folder.
type Params struct {
	Analyzer modelio.Analyzer
	Models   []modelio.ModelRow   // sorted by key
	Features []modelio.FeatureRow // sorted by key and rank
	IDF      *kernel.IDF          // only with the weights tfidf
}

// New returns a model. Decisions are those of [Model.Decisions].
func New(p Params) (*Model, error) { panic("to be written") }

// Decisions returns the decisions, sorted by problem, smoothing and k.
func (m *Model) Decisions() []Decision { return m.decisions }

// Predictor applies a model. It is for one goroutine, and reuses its memory.
type Predictor struct {
	model *Model
}

// NewPredictor returns a predictor of all decisions for which keep is true; nil keeps all. Columns of other decisions cost
// nothing.
func (m *Model) NewPredictor(keep func(Decision) bool) *Predictor { panic("to be written") }

// Scores are what a decision says about a document.
type Scores struct {
	Decision *Decision
	Class    int       // the predicted one, in Decision.Classes; of equal scores the first
	Scores   []float64 // by class: log-odds of two classes (the second has the negative of the first), …
	LogProbs []float64 // by class, natural logarithms that sum to 1 as probabilities; nil unless Decision.Probable
}

// Text returns the scores of a text, one for each decision that is kept. They are valid until the next call.
func (p *Predictor) Text(text []byte) ([]Scores, error) { panic("to be written") }

// Features is Text for a document whose features are known.
func (p *Predictor) Features(features []feature.Value) ([]Scores, error) { panic("to be written") }

// Reason is a feature of the last document, and what it added to the score of the predicted class over the others.
type Reason struct {
	Feature string
	Value   float64 // in the document
	Weight  float64 // of the predicted class
	Effect  float64 // Value · Weight
}

// Explain returns the features of the last document that weighed most in a decision, by |Effect|, then name; at most n.
func (p *Predictor) Explain(decision, n int) []Reason { panic("to be written") }

// SHA256 returns the checksum of the manifest of the run, which identifies the model; "" if it is of [New].
func (m *Model) SHA256() string { panic("to be written") }

// Manifest returns the manifest of the run; zero if the model is of [New].
func (m *Model) Manifest() modelio.Manifest { panic("to be written") }
