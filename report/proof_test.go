package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestProof(t *testing.T) {
	row := func(k, m int64, gain, bound float64, certificate string) modelio.ModelRow {
		return modelio.ModelRow{Problem: "a vs b", Model: "multinomial", Method: "nfs", Smoothing: 1, K: k, M: m, Gain: gain, UpperBoundGain: bound, Gap: bound - gain, Certificate: certificate, Classifier: "mnb"}
	}
	tied := row(2, 9, 4, 4, "optimal")
	tied.TiedSelected, tied.TiedLeftOut = 1, 2
	chi := row(2, 9, 1, 4, "heuristic")
	chi.Method = "chi2"
	bernoulli := row(1, 9, 0, 0, "optimal")
	bernoulli.Model, bernoulli.Classifier = "bernoulli", "bnb"
	// Scores of 3, 2 and 1 for the model of k = 3.
	logistic := row(9, 9, 4, 4, "optimal")
	logistic.Classifier = modelio.Logistic
	var features []modelio.FeatureRow
	for i, score := range []float64{3, 2, 1} {
		features = append(features, modelio.FeatureRow{Problem: "a vs b", Smoothing: 1, K: 3, Rank: int64(i + 1), Score: score})
	}
	for name, c := range map[string]struct {
		models []modelio.ModelRow
		want   []string
	}{
		"optimal": {[]modelio.ModelRow{row(3, 9, 4, 5, "optimal")}, []string{
			"Proven: no other 3 of the 9 words have a larger gain. The upper bound is 1.00 (20 %) higher than the gain, but the search excluded every other selection. So the difference is a weakness of the bound, not of the selection."}},
		"one": {[]modelio.ModelRow{row(1, 9, 4, 4, "optimal")}, []string{"Proven: no other of the 9 words has a larger gain. No selection can exceed the upper bound, and this one reaches it."}},
		"ties": {[]modelio.ModelRow{tied}, []string{"Proven: no other 2 of the 9 words have a larger gain. No selection can exceed the upper bound, and this one reaches it.",
			"Ties: some selected words could be exchanged for others that were not selected, without changing the gain. That the others are missing does not mean that they matter less."}},
		"other weights": {[]modelio.ModelRow{logistic}, []string{"All words are selected, so there is no other selection.",
			"This is about the naive Bayes model that selected the words. The weights of logistic regression (l2), C = 2 were computed for them afterwards."}},
		"all": {[]modelio.ModelRow{row(9, 9, 4, 4, "optimal")}, []string{"All words are selected, so there is no other selection."}},
		// The weakest two gain 3.
		"bounded": {[]modelio.ModelRow{row(3, 9, 97.5, 100, "bounded")}, []string{"Not proven optimal: the search stopped before it had excluded every other selection. " +
			"Another one may have a larger gain, but larger by at most 2.50, which is 2.5 % of the upper bound, as much as the weakest 2 selected words gain."}},
		"bounded, little": {[]modelio.ModelRow{row(3, 9, 99.5, 100, "bounded")}, []string{"Not proven optimal: the search stopped before it had excluded every other selection. " +
			"Another one may have a larger gain, but larger by at most 0.5, which is 0.5 % of the upper bound, less than the weakest selected word gains."}},
		"bounded, much": {[]modelio.ModelRow{row(3, 9, 90, 100, "bounded")}, []string{"Not proven optimal: the search stopped before it had excluded every other selection. " +
			"Another one may have a larger gain, but larger by at most 10.00, which is 10 % of the upper bound."}},
		"heuristic":                {[]modelio.ModelRow{chi}, []string{"The words were ranked by chi2, which does not look for the largest gain. The best 2 words may gain more, by at most 3.00, which is 75 % of the upper bound. --method=nfs, the default, looks for them."}},
		"heuristic, but the bound": {[]modelio.ModelRow{row(2, 9, 4, 4, "heuristic")}, []string{"Proven: no other 2 of the 9 words have a larger gain. No selection can exceed the upper bound, and this one reaches it."}},
		"k = 1":                    {[]modelio.ModelRow{row(1, 9, 0, 5, "optimal")}, []string{"One word alone gains nothing in a multinomial model, whichever it is: the probabilities of a class add up to 1, so two have to differ. Use k ≥ 2."}},
		"equal":                    {[]modelio.ModelRow{bernoulli}, []string{"No words gain anything: the classes do not differ in their counts."}},
		"several": {[]modelio.ModelRow{row(1, 9, 0, 5, "optimal"), row(2, 9, 3, 4, "optimal"), row(3, 9, 98, 100, "optimal"), row(4, 9, 5, 5, "optimal"), row(5, 9, 50, 100, "bounded"), row(9, 9, 7, 7, "optimal")}, []string{
			"1 of 6 models gains nothing. One word alone gains nothing in a multinomial model, whichever it is: the probabilities of a class add up to 1, so two have to differ. Use k ≥ 2.",
			"1 of 6 models: all words are selected, so there is no other selection.",
			"1 of 6 models is proven optimal: no other selection of the same size has a larger gain. None can exceed the upper bound, and these reach it.",
			"2 of 6 models are proven optimal, although the upper bound is higher than the gain, by 25 % at most (a vs b, smoothing 1, k = 2): the search excluded every other selection.",
			"1 of 6 models is not proven optimal: the search stopped before it had excluded every other selection. Another one may have a larger gain, but larger by at most 50 % of the upper bound (a vs b, smoothing 1, k = 5)."}},
		"joint": {[]modelio.ModelRow{tied, tied, tied}, []string{"Proven: no other 2 of the 9 words have a larger gain. No selection can exceed the upper bound, and this one reaches it.",
			"Ties: some selected words could be exchanged for others that were not selected, without changing the gain. That the others are missing does not mean that they matter less."}},
	} {
		got := Proof(modelio.Published{Models: c.models, Features: features, Manifest: modelio.Manifest{Run: modelio.Run{Options: map[string]string{"analyzer": "word", "c": "2"}}}})
		if len(got) < 2 || !strings.HasPrefix(got[0], "The gain says") || !strings.HasPrefix(got[len(got)-1], "All this is about the documents") {
			t.Fatalf("%s: %q", name, got)
		}
		if got := got[1 : len(got)-1]; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Proof(modelio.Published{}); got != nil {
		t.Errorf("without models: %q", got)
	}
}
