package modelio

import "testing"

// The models of earlier versions are those of naive Bayes.
func TestRunsWithoutClassifier(t *testing.T) {
	p := Published{
		Models: []ModelRow{
			{Problem: "a vs b", K: 1, Model: "multinomial"},
			{Problem: "a vs b", K: 2, Model: "bernoulli"},
			{Problem: "a vs b", K: 3, Model: "multinomial", Classifier: SVM},
		},
		Features: []FeatureRow{{Problem: "a vs b", K: 1}, {Problem: "a vs b", K: 2}, {Problem: "a vs b", K: 3, Classifier: SVM}},
	}
	p.setClassifiers()
	for i, want := range []string{MultinomialNB, BernoulliNB, SVM} {
		if p.Models[i].Classifier != want || p.Features[i].Classifier != want {
			t.Errorf("%q and %q, want %s", p.Models[i].Classifier, p.Features[i].Classifier, want)
		}
	}
}
