// Package model applies published models to documents. It is for services, and for the steps that predict and evaluate; it
// knows no Beam. A [Model] may be used by many goroutines:
//
//	m, err := model.Open(ctx, "out/model")
//	…
//	p, err := m.Predict("a fine film")
//	fmt.Println(p.Label, p.Probability)
//
// A run has a model for each problem, k and smoothing. A [Decision] is a rule that assigns a document to a class with one or
// several of them; docs/predict.md has the rules.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Model is the models of a run: all problems, ks and smoothings. It does not change.
type Model struct {
	config    kernel.Config
	text      bool     // the features are those of texts, and not of matrices
	names     []string // of all features, sorted by bytes
	presence  bool     // a feature counts once in a document
	functions []function
	decisions []Decision
	rules     []rule // of decisions

	sha256   string // of the manifest
	manifest modelio.Manifest

	start      sync.Once
	predictors sync.Pool // of *Predictor, for Predict
}

// Params are the parts of a model that is not in a folder.
type Params struct {
	Analyzer modelio.Analyzer
	Models   []modelio.ModelRow   // rows with the same key follow each other, by class
	Features []modelio.FeatureRow // of a joint model, a row for each class follows each other, in the order of Models
	IDF      *kernel.IDF          // only with the weights tfidf
}

// New returns a model. Decisions are those of [Model.Decisions]. Errors have an exit code, see modelio.Error: ExitUsage for an
// analyzer that this program does not know, and ExitData for tables that do not fit together.
func New(p Params) (*Model, error) {
	config, err := kernel.FromAnalyzer(p.Analyzer)
	if err != nil {
		return nil, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	config.IDF = p.IDF
	m := &Model{config: config, text: true}
	if err := m.add(p); err != nil {
		exit := modelio.ExitData
		if e := (*modelio.Error)(nil); errors.As(err, &e) {
			exit = e.Exit
		}
		return nil, &modelio.Error{Exit: exit, Err: err}
	}
	return m, nil
}

// add adds the functions of all models, and the decisions.
func (m *Model) add(p Params) error {
	if len(p.Models) == 0 {
		return errors.New("there is no model")
	}
	if err := checkKnown(p.Models); err != nil {
		return err
	}
	var columns map[string]int32
	m.names, columns = namesOf(p.Features)
	if _, err := kernel.NewColumns(m.config, m.names); err != nil {
		return err
	}
	m.presence = classifierOf(p.Models[0]) == modelio.BernoulliNB
	features := map[modelio.Key][]modelio.FeatureRow{}
	for at := 0; at < len(p.Features); { // without a copy
		n := 1
		for at+n < len(p.Features) && p.Features[at+n].Key() == p.Features[at].Key() {
			n++
		}
		key := p.Features[at].Key()
		if _, twice := features[key]; twice {
			return fmt.Errorf("%s: the features do not follow each other", key)
		}
		features[key] = p.Features[at : at+n]
		at += n
	}
	seen := map[modelio.Key]bool{}
	for at := 0; at < len(p.Models); {
		n, key := 1, p.Models[at].Key()
		for at+n < len(p.Models) && p.Models[at+n].Key() == key {
			n++
		}
		rows := p.Models[at : at+n]
		if seen[key] {
			return fmt.Errorf("%s: the rows of the model do not follow each other", key)
		}
		seen[key] = true
		if a, b := classifierOf(p.Models[0]), classifierOf(rows[0]); a != b {
			return fmt.Errorf("%s: the classifiers %s and %s cannot be used together", key, a, b)
		}
		functions, err := functionsOf(rows, features[key], columns)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		m.functions = append(m.functions, functions...)
		at += n
	}
	for key := range features {
		if !seen[key] {
			return fmt.Errorf("%s: there are features, but no model", key)
		}
	}
	return m.decide(p.Models)
}

// namesOf returns the distinct names of features, sorted by bytes, and their places.
func namesOf(features []modelio.FeatureRow) (names []string, places map[string]int32) {
	places = map[string]int32{}
	for _, f := range features {
		if _, ok := places[f.Feature]; !ok {
			places[f.Feature] = 0
			names = append(names, f.Feature)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a, b) })
	for i, name := range names {
		places[name] = int32(i)
	}
	return names, places
}

// Decisions returns the decisions, sorted by problem, smoothing and k.
func (m *Model) Decisions() []Decision { return m.decisions }

// SHA256 returns the checksum of the manifest of the run, which identifies the model; "" if it is of [New].
func (m *Model) SHA256() string { return m.sha256 }

// Manifest returns the manifest of the run; zero if the model is of [New].
func (m *Model) Manifest() modelio.Manifest { return m.manifest }

// checkKnown fails if rows of a model have values that this program does not know.
func checkKnown(rows []modelio.ModelRow) error {
	for _, row := range rows {
		switch {
		case !(row.Smoothing >= 0) || math.IsInf(row.Smoothing, 0):
			return fmt.Errorf("%s: the smoothing is %v, and must be a number of at least 0; train again", row.Problem, row.Smoothing)
		case row.Model != "multinomial" && row.Model != "bernoulli":
			return fmt.Errorf("unknown model %q; it was probably written by a newer version of sparsenb", row.Model)
		case !slices.Contains(modelio.Classifiers, classifierOf(row)):
			return fmt.Errorf("unknown classifier %q; it was probably written by a newer version of sparsenb", row.Classifier)
		}
	}
	return nil
}
