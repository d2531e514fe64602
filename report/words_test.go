package report

import (
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		row  modelio.ModelRow
		want []string
	}{
		{modelio.ModelRow{K: 10, M: 99, Certificate: "optimal", Gain: 2, UpperBoundGain: 2.5, Gap: .5, Method: "nfs"},
			[]string{"log-likelihood gain 2.00, proven optimal: no other 10 words gain more (relaxation bound 2.50)"}},
		{modelio.ModelRow{K: 10, M: 99, Certificate: "optimal", Gain: 2, UpperBoundGain: 2, Method: "nfs"},
			[]string{"log-likelihood gain 2.00, proven optimal: no other 10 words gain more (equal to the relaxation bound)"}},
		{modelio.ModelRow{K: 1, M: 99, Certificate: "optimal", Method: "nfs"},
			[]string{"log-likelihood gain 0, proven optimal: no other word gains more (equal to the relaxation bound)"}},
		{modelio.ModelRow{K: 1000, M: 9999, Certificate: "bounded", Gain: 1990, UpperBoundGain: 2000, Gap: 10, Method: "nfs", KReason: "the knee"},
			[]string{"log-likelihood gain 1,990.00, at most 0.5 % below the optimum (relaxation bound 2,000.00)", "k = 1,000: the knee"}}, // 10/2000
		{modelio.ModelRow{K: 2, M: 99, Certificate: "heuristic", Gain: 1, UpperBoundGain: 4, Gap: 3, Method: "chi2", TiedSelected: 1, TiedLeftOut: 2},
			[]string{"log-likelihood gain 1.00 with method chi2, at most 75 % below the optimum (relaxation bound 4.00)", // 3/4
				"ties: 1 selected word and 2 unselected words have the same statistic; ties are broken by count, then by name"}},
		{modelio.ModelRow{K: 99, M: 99, Certificate: "optimal", Gain: 0.25, UpperBoundGain: 0.25, Method: "nfs"},
			[]string{"log-likelihood gain 0.25: all words selected"}},
	} {
		m := Model{Row: c.row, Vocabulary: Vocabulary{Feature: "word"}}
		if got := m.Remarks(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Gain(0): "0", Gain(0.012345): "0.01235", Gain(1234.567): "1,234.57", Gain(2e15): "2e+15",
		Count(0): "0", Count(1234567): "1,234,567", Count(0.001): "0.001", Count(33.5): "33.50", Count(2e15): "2e+15",
		Plural(1, "word"): "1 word", Plural(1200, "word"): "1,200 words",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A joint model shows a feature once, with the class that it indicates and the sum of its gains.
func TestSummarizeJoint(t *testing.T) {
	row := modelio.ModelRow{Problem: "joint", Strategy: modelio.Joint, K: 1, M: 9, Gain: 4.5, Model: "multinomial"}
	run := modelio.Published{Models: []modelio.ModelRow{row, row, row}}
	for i, class := range []string{"a", "b", "c"} {
		run.Features = append(run.Features, modelio.FeatureRow{
			Problem: "joint", K: 1, Rank: 1, Feature: "x", Class: class, Weight: []float64{-1, 2, 1}[i], CountPositive: float64(i), CountNegative: float64(3 - i), Score: 1.5,
		})
	}
	models := Summarize(run).Models
	if len(models) != 1 || len(models[0].Features) != 1 {
		t.Fatalf("%+v", models)
	}
	m, f := models[0], models[0].Features[0]
	if m.Title() != "1 of 9 words distinguishes 3 classes" || m.Sides != [2]string{"in class", "total"} {
		t.Errorf("%s, %v", m.Title(), m.Sides)
	}
	if f.Class != "b" || f.Weight != 2 || f.Counts != [2]float64{1, 3} || f.Gain != 4.5 { // 3·1.5
		t.Errorf("%+v", f)
	}
}
