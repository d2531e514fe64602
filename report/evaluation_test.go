package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestNewEvaluation(t *testing.T) {
	row := func(k int64, metric, class, predicted string, value float64) modelio.EvaluationRow {
		return modelio.EvaluationRow{Problem: "p", K: k, Metric: metric, Class: class, Predicted: predicted, Value: value}
	}
	e := NewEvaluation([]modelio.EvaluationRow{
		row(1, evaluation.Accuracy, "", "", 0.5),
		row(2, evaluation.Accuracy, "", "", 0.75),
		row(2, evaluation.AgainstAccuracy, "", "", 0.875),
		row(2, evaluation.CalibrationDocuments, "0.5-0.6", "", 1),
		row(2, evaluation.CalibrationDocuments, "0.9-1.0", "", 3),
		row(2, evaluation.CalibrationProbability, "0.5-0.6", "", 0.6),
		row(2, evaluation.CalibrationProbability, "0.9-1.0", "", 1),
		row(2, evaluation.Confusion, "a", "a", 1),
		row(2, evaluation.Confusion, "b", "a", 1),
		row(2, evaluation.Confusion, "b", "b", 2),
		row(2, evaluation.McNemarOnlyAgainst, "", "", 1),
		row(2, evaluation.McNemarP, "", "", 0.04),
		row(2, evaluation.Support, "b", "", 3),
		row(2, evaluation.Support, "a", "", 1),
		row(3, evaluation.Accuracy, "", "", 0.75),
	})
	if len(e.Decisions) != 3 || e.Best != 1 {
		t.Fatalf("%+v", e)
	}
	best := e.Decisions[e.Best]
	if best.K != 2 || !slices.Equal(best.Classes(), []string{"a", "b"}) || best.Documents("b", "b") != 2 || best.Documents("a", "b") != 0 ||
		!slices.Equal(best.Mistakes(), []Confusion{{"b", "a", 1}}) {
		t.Errorf("%+v", best)
	}
	if e.SameK() {
		t.Error("the ks differ")
	}
	rule := row(3, evaluation.Accuracy, "", "", 0.25)
	rule.KRequested = "auto:knee"
	if e := NewEvaluation([]modelio.EvaluationRow{row(3, evaluation.Accuracy, "", "", 0.75), rule}); len(e.Decisions) != 2 || !e.SameK() || e.Decisions[1].Figures[evaluation.Accuracy] != 0.25 {
		t.Errorf("%+v", e)
	}
	if text := best.Calibration(); text != "The mean probability of the predicted class is 0.900; 0.750 of the predictions are correct." {
		t.Error(text)
	}
	if text := best.Compared("other"); !strings.Contains(text, "0 documents are predicted correctly by this model only, 1 by that one only: this model is significantly worse (McNemar's test, exact: p = 0.04)") {
		t.Error(text)
	}
	if none := e.Decisions[0]; none.Compared("other") != "" || none.Calibration() != "" {
		t.Error(none)
	}
}
