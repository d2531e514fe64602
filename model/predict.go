package model

import (
	"cmp"
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

	// Probability is that of the class, and LogProbability its natural logarithm. Both are 0 unless the Decision is Probable.
	Probability, LogProbability float64

	Classes []string  // of the decision
	Scores  []float64 // by class
}

// Predict decides about a text. The model must have one decision; [Model.At] chooses one of several.
func (m *Model) Predict(text string) (Prediction, error) {
	if len(m.decisions) > 1 {
		return Prediction{}, modelio.Usagef("the model has %d decisions, %s; choose one with At", len(m.decisions), listOf(m.decisions))
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

// At returns the model with the decisions of one k and smoothing only; those with the same k for all problems, if there are
// any. The error for others names the nearest.
func (m *Model) At(k int64, smoothing float64) (*Model, error) {
	chosen := &Model{config: m.config, text: m.text, names: m.names, presence: m.presence, functions: m.functions, sha256: m.sha256, manifest: m.manifest}
	same := func(d Decision) bool { return d.K == k && d.Smoothing == smoothing }
	uniform := slices.ContainsFunc(m.decisions, func(d Decision) bool { return same(d) && !d.Mixed })
	for i, d := range m.decisions {
		if same(d) && !(d.Mixed && uniform) {
			chosen.decisions, chosen.rules = append(chosen.decisions, d), append(chosen.rules, m.rules[i])
		}
	}
	if len(chosen.decisions) > 0 {
		return chosen, nil
	}
	nearest := m.nearest(k, smoothing)
	return nil, modelio.Usagef("the model has no k = %d with smoothing %v; the nearest is k = %d with smoothing %v", k, smoothing, nearest.K, nearest.Smoothing)
}

// nearest returns the decision with the nearest smoothing, and of these the one with the nearest k.
func (m *Model) nearest(k int64, smoothing float64) Decision {
	return slices.MinFunc(m.decisions, func(a, b Decision) int {
		return cmp.Or(
			cmp.Compare(math.Abs(a.Smoothing-smoothing), math.Abs(b.Smoothing-smoothing)),
			cmp.Compare(math.Abs(float64(a.K-k)), math.Abs(float64(b.K-k))),
		)
	})
}

// listOf names decisions in a message.
func listOf(decisions []Decision) string {
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
