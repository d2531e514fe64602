package model_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
)

// linear is a case of testdata/linear.py.
type linear struct {
	File       string   `json:"file"`
	Classes    []string `json:"classes"`
	Columns    []string `json:"columns"`
	Classifier string   `json:"classifier"`
	Strategy   string   `json:"strategy"`
}

type fittedLinear struct {
	Coefficients  [][]float64 `json:"coefficients"` // by problem, and so are intercepts
	Intercepts    []float64   `json:"intercepts"`
	Predicted     []string    `json:"predicted"`
	Decisions     any         `json:"decisions"` // by document, and class unless there are two
	Probabilities [][]float64 `json:"probabilities"`
}

// words is the analyzer of words.
var words = modelio.Analyzer{Unit: "word", Ngrams: [2]int{1, 1}, Lowercase: modelio.FullLowercase, TokenPattern: `(?u)\b\w\w+\b`}

// model returns the model with scikit-learn's coefficients.
func (l linear) model(t *testing.T, f fittedLinear) *model.Model {
	t.Helper()
	p := model.Params{Analyzer: words}
	add := func(name, positive, negative string, problem int, sign float64) {
		p.Models = append(p.Models, modelio.ModelRow{
			Problem: name, Positive: positive, Negative: negative, Model: "multinomial", KRequested: "all", K: int64(len(l.Columns)),
			Strategy: l.Strategy, Classifier: l.Classifier, Intercept: sign * f.Intercepts[problem], Smoothing: 1,
		})
		for i, w := range l.Columns {
			p.Features = append(p.Features, modelio.FeatureRow{
				Problem: name, K: int64(len(l.Columns)), Smoothing: 1, Feature: w, Class: positive, Weight: sign * f.Coefficients[problem][i],
			})
		}
	}
	pair := 0
	for i, c := range l.Classes {
		switch l.Strategy {
		case modelio.Binary:
			if i == 1 {
				add("binary", c, l.Classes[0], 0, 1)
			}
		case modelio.OneVersusRest:
			add(c+" vs rest", c, "", i, 1)
		case modelio.OneVersusOne:
			for _, other := range l.Classes[i+1:] {
				add(c+" vs "+other, c, other, pair, -1)
				pair++
			}
		case modelio.Joint:
			add("joint", c, "", i, 1)
		}
	}
	if l.Strategy == modelio.Joint { // a feature has a row for each class
		n, k := len(l.Classes), len(l.Columns)
		rows := make([]modelio.FeatureRow, len(p.Features))
		for i, f := range p.Features {
			rows[i%k*n+i/k] = f
		}
		p.Features = rows
	}
	m, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Logistic regression and support vector machines decide and normalize as scikit-learn's.
func TestLinearClassifiers(t *testing.T) {
	t.Parallel()
	outside.Python(t)
	labels := []string{"a", "b", "c", "d"}
	file := save(t, "train.tsv", draw(rand.New(rand.NewPCG(14, 3)), labels, 300))
	columns := []string{"only00", "only11", "only21", "only31", "some1", "some2", "some3", "w1", "w2", "w5", "w12"}
	var cases []linear
	for _, classifier := range []string{modelio.Logistic, modelio.SVM} {
		for _, strategy := range []string{modelio.Binary, modelio.OneVersusRest, modelio.OneVersusOne, modelio.Joint} {
			l := linear{file, labels, columns, classifier, strategy}
			if strategy == modelio.Binary {
				l.Classes = labels[:2]
			}
			cases = append(cases, l)
		}
	}
	for i, f := range python[fittedLinear](t, "linear.py", cases) {
		l := cases[i]
		m := l.model(t, f)
		if d := m.Decisions(); len(d) != 1 || d[0].Probable != (f.Probabilities != nil) || d[0].Classifier != l.Classifier {
			t.Fatalf("%+v", d)
		}
		p := m.NewPredictor(nil)
		for at, document := range read(t, file) {
			results, err := p.Text([]byte(document[1]))
			if err != nil {
				t.Fatal(err)
			}
			s := results[0]
			if got := s.Decision.Classes[s.Class]; got != f.Predicted[at] {
				t.Fatalf("%s %s, document %d: %s, want %s", l.Classifier, l.Strategy, at, got, f.Predicted[at])
			}
			decisions, ok := f.Decisions.([]any)[at].([]any)
			if !ok { // of the second class
				decisions = []any{-f.Decisions.([]any)[at].(float64), f.Decisions.([]any)[at]}
			}
			for c, want := range decisions {
				if got := s.Scores[c]; !(math.Abs(got-want.(float64)) < 1e-12) {
					t.Fatalf("%s %s, document %d: scores %v, want %v", l.Classifier, l.Strategy, at, s.Scores, decisions)
				}
				if f.Probabilities != nil && !(math.Abs(math.Exp(s.LogProbs[c])-f.Probabilities[at][c]) < 1e-12) {
					t.Fatalf("%s %s, document %d: logarithms %v, want of %v", l.Classifier, l.Strategy, at, s.LogProbs, f.Probabilities[at])
				}
			}
		}
	}
}
