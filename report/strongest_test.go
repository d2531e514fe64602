package report

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// listed shows the lists as text.
func listed(lists []Strongest) (text []string) {
	for _, l := range lists {
		line := l.Class
		if l.Against != "" {
			line += " not " + l.Against
		}
		line += ":"
		for _, f := range l.Features {
			line += fmt.Sprintf(" %s×%.2g", f.Name, math.Exp(f.Weight))
		}
		if l.More > 0 {
			line += fmt.Sprintf(" +%d", l.More)
		}
		text = append(text, line)
	}
	return text
}

func TestStrongestFeatures(t *testing.T) {
	model := func(problem, strategy, positive, negative string, smoothing float64, k int64) modelio.ModelRow {
		return modelio.ModelRow{Problem: problem, Strategy: strategy, Positive: positive, Negative: negative, Smoothing: smoothing, K: k}
	}
	feature := func(m modelio.ModelRow, name string, weight, gain float64) modelio.FeatureRow {
		return modelio.FeatureRow{Problem: m.Problem, Smoothing: m.Smoothing, K: m.K, Feature: name, Weight: weight, Score: gain, Class: m.Positive}
	}
	two := math.Ln2
	first, last := model("a vs b", modelio.Binary, "a", "b", 0, 9), model("a vs b", modelio.Binary, "a", "b", 1, 5)
	ovr := model("a vs rest", modelio.OneVersusRest, "a", "", 1, 2)
	other := model("b vs rest", modelio.OneVersusRest, "b", "", 1, 2)
	ovo := model("a vs b", modelio.OneVersusOne, "a", "b", 1, 2)
	jointA, jointB := model("joint", modelio.Joint, "a", "", 1, 2), model("joint", modelio.Joint, "b", "", 1, 2)
	var many []modelio.FeatureRow
	for i := range 13 {
		many = append(many, feature(last, fmt.Sprintf("w%02d", i), two, float64(i)))
	}
	for name, c := range map[string]struct {
		run  modelio.Published
		want []string
	}{
		"no models": {},
		// By gain, not by weight; the last smoothing.
		"two classes": {modelio.Published{
			Models: []modelio.ModelRow{first, last},
			Features: []modelio.FeatureRow{feature(first, "x", 1, 1), feature(last, "y", 2*two, 5), feature(last, "z", -two, 7),
				feature(last, "u", 4*two, 1), feature(last, "v", math.Inf(-1), 9), feature(last, "zero", 0, 9), feature(last, "nan", math.NaN(), 9)},
		}, []string{"a: y×4 u×16", "b: v×+Inf z×2"}},
		"more":           {modelio.Published{Models: []modelio.ModelRow{last}, Features: many}, []string{"a: w12×2 w11×2 w10×2 w09×2 w08×2 w07×2 w06×2 w05×2 w04×2 w03×2 +3", "b:"}},
		"one of several": {modelio.Published{Models: []modelio.ModelRow{ovr}, Features: []modelio.FeatureRow{feature(ovr, "x", -two, 1)}}, []string{"a:", "the rest: x×2"}},
		"several": {modelio.Published{Models: []modelio.ModelRow{ovr, other}, Features: []modelio.FeatureRow{feature(ovr, "x", -two, 1), feature(other, "y", two, 1)}},
			[]string{"a:", "b: y×2"}},
		"pairs": {modelio.Published{Models: []modelio.ModelRow{ovo}, Features: []modelio.FeatureRow{feature(ovo, "x", -two, 1), feature(ovo, "y", two, 1)}},
			[]string{"a not b: y×2", "b not a: x×2"}},
		"joint": {modelio.Published{Models: []modelio.ModelRow{jointA, jointB}, Features: []modelio.FeatureRow{
			feature(jointA, "x", two, 1), feature(jointB, "x", -two, 1), feature(jointA, "y", 3*two, 2), feature(jointB, "y", two, 1)}},
			[]string{"a: y×8 x×2", "b: y×2"}},
		"buckets": {modelio.Published{Models: []modelio.ModelRow{ovr}, Features: []modelio.FeatureRow{feature(ovr, "0f", two, 1)}, Buckets: []modelio.BucketRow{{Feature: "0f", Name: "upon"}}},
			[]string{"a: 0f (upon)×2", "the rest:"}},
	} {
		if got := listed(StrongestFeatures(c.run)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestIndicationMeans(t *testing.T) {
	run := func(options map[string]string, rows ...modelio.ModelRow) modelio.Published {
		return modelio.Published{Manifest: modelio.Manifest{Run: modelio.Run{Options: options}}, Models: rows}
	}
	words := map[string]string{"analyzer": "word"}
	for want, p := range map[string]modelio.Published{
		"": run(words),
		"×2: each occurrence of the word doubles the odds of the class.":                                                               run(words, modelio.ModelRow{Classifier: "mnb"}),
		"×2: a document that contains the word doubles the odds of the class.":                                                         run(map[string]string{"analyzer": "word", "weights": "binary"}, modelio.ModelRow{Classifier: "mnb"}),
		"×2: a document that contains the n-gram doubles the odds of the class.":                                                       run(map[string]string{"analyzer": "word", "ngrams": "1,2"}, modelio.ModelRow{Classifier: "bnb"}),
		"×2: each occurrence of a name in the bucket doubles the odds of the class.":                                                   run(map[string]string{"analyzer": "word", "hash_bits": "4"}, modelio.ModelRow{Classifier: "logistic"}),
		"×2: a weight of 1 of the word in a document doubles the odds of the class.":                                                   run(map[string]string{"analyzer": "word", "weights": "log", "value_unit": "2^-20"}, modelio.ModelRow{Classifier: "mnb"}),
		"+1: each occurrence of the word adds 1 to the decision value of the class.":                                                   run(words, modelio.ModelRow{Classifier: "svm", Strategy: modelio.Joint}),
		"×2: each occurrence of the word doubles the probability of the class, before those of all classes are scaled to add up to 1.": run(words, modelio.ModelRow{Classifier: "mnb", Strategy: modelio.Joint}),
	} {
		if got := IndicationMeans(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
