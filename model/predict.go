package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Prediction is what a model says about a document.
type Prediction struct {
	Label string  // the predicted class
	Score float64 // of the class, see Scores

	// Probability is that of the class, and LogProbability its natural logarithm. Both are 0 unless Decision.Probable.
	Probability, LogProbability float64

	Classes []string  // of the decision
	Scores  []float64 // by class
}

// Predict decides about a text. The model must have one decision; [Model.At] chooses one of several.
func (m *Model) Predict(text string) (Prediction, error) {
	if len(m.decisions) > 1 {
		return Prediction{}, modelio.Usagef("the model has %d decisions, %s; choose one with At", len(m.decisions), m.list(m.decisions))
	}
	if !m.text {
		return Prediction{}, modelio.Usagef("the model was made from matrices, whose features are not those of a text; use NewPredictor and Features")
	}
	m.start.Do(func() {
		first := m.NewPredictor(nil)
		m.predictors.New = func() any { return first.Clone() }
	})
	p := m.predictors.Get().(*Predictor)
	defer m.predictors.Put(p)
	p.text = append(p.text[:0], text...)
	results, err := p.Text(p.text)
	if err != nil {
		return Prediction{}, err
	}
	s := results[0]
	prediction := Prediction{Label: s.Decision.Classes[s.Class], Score: s.Scores[s.Class], Classes: s.Decision.Classes, Scores: slices.Clone(s.Scores)}
	if s.LogProbs != nil {
		prediction.LogProbability = s.LogProbs[s.Class]
		prediction.Probability = math.Exp(prediction.LogProbability)
	}
	return prediction, nil
}

// At returns the model with the decisions of one k and smoothing only. The error for others names the nearest.
func (m *Model) At(k int64, smoothing float64) (*Model, error) {
	chosen := &Model{config: m.config, text: m.text, names: m.names, presence: m.presence, functions: m.functions, sha256: m.sha256, manifest: m.manifest}
	for i, d := range m.decisions {
		if d.K == k && d.Smoothing == smoothing {
			chosen.decisions, chosen.rules = append(chosen.decisions, d), append(chosen.rules, m.rules[i])
		}
	}
	if len(chosen.decisions) > 0 {
		return chosen, nil
	}
	return nil, modelio.Usagef("the model has no k = %d with smoothing %v; the nearest is k = %d with smoothing %v", k, smoothing, m.nearest(k, smoothing).K, m.nearest(k, smoothing).Smoothing)
}

// nearest returns the decision with the nearest smoothing, and of these the one with the nearest k.
func (m *Model) nearest(k int64, smoothing float64) Decision {
	distance := func(a, b float64) float64 { return math.Abs(a - b) }
	return slices.MinFunc(m.decisions, func(a, b Decision) int {
		if x, y := distance(a.Smoothing, smoothing), distance(b.Smoothing, smoothing); x != y {
			if x < y {
				return -1
			}
			return 1
		}
		x, y := distance(float64(a.K), float64(k)), distance(float64(b.K), float64(k))
		if x < y {
			return -1
		}
		return 1
	})
}

func (m *Model) list(decisions []Decision) string {
	const most = 5
	var list []string
	for _, d := range decisions[:min(len(decisions), most)] {
		list = append(list, d.String())
	}
	if n := len(decisions) - most; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(list, "; ")
}
