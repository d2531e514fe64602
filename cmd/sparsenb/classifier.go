package main

import "flag"

// classifierFlags define how the models classify documents by the selected features.
type classifierFlags struct{ classifier, c *string }

func addClassifierFlags(fs *flag.FlagSet) classifierFlags {
	return classifierFlags{
		classifier: fs.String("classifier", "", "=NAME what computes the weights of the selected features: mnb, cnb or bnb (multinomial, complement or Bernoulli naive Bayes, from the counts), or logistic (logistic regression, l2) or svm (linear SVM, squared hinge), for which train reads the text again (default: mnb, or bnb with --model=bernoulli)"),
		c:          fs.String("c", "", "=C inverse strength of the penalty of --classifier=logistic and svm, scikit-learn's C (default 1)"),
	}
}

func (f classifierFlags) options() map[string]string {
	return map[string]string{"classifier": *f.classifier, "c": *f.c}
}
