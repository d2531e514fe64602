package modelio

// The values of the column classifier: how the weights and the intercepts of a model are computed for the selected features.
const (
	MultinomialNB = "mnb"      // multinomial naive Bayes, from occurrences
	ComplementNB  = "cnb"      // complement naive Bayes, from occurrences
	BernoulliNB   = "bnb"      // Bernoulli naive Bayes, from documents
	Logistic      = "logistic" // logistic regression with an l2 penalty, from the documents
	SVM           = "svm"      // linear support vector machine with the squared hinge loss, from the documents
)

// Classifiers are the values of --classifier.
var Classifiers = []string{MultinomialNB, ComplementNB, BernoulliNB, Logistic, SVM}

// DefaultClassifier returns the classifier that a naive Bayes model is by itself. Every model of a run without a column
// classifier has it.
func DefaultClassifier(model string) string {
	if model == "bernoulli" {
		return BernoulliNB
	}
	return MultinomialNB
}

// AddedColumns returns the columns that files of earlier versions lack.
func (ModelRow) AddedColumns() []string { return []string{"classifier"} }

// AddedColumns returns the columns that files of earlier versions lack.
func (FeatureRow) AddedColumns() []string { return []string{"classifier"} }

// setClassifiers completes the tables of a run without a column classifier.
func (p *Published) setClassifiers() {
	classifiers := map[Key]string{}
	for i := range p.Models {
		m := &p.Models[i]
		if m.Classifier == "" {
			m.Classifier = DefaultClassifier(m.Model)
		}
		classifiers[m.Key()] = m.Classifier
	}
	for i := range p.Features {
		if f := &p.Features[i]; f.Classifier == "" {
			f.Classifier = classifiers[f.Key()]
		}
	}
}
