// Package linear fits linear classifiers to sparse rows: logistic regression with an l2 penalty, and linear support vector
// machines with the squared hinge loss. The objectives are those of scikit-learn's LogisticRegression(C) and LinearSVC(C).
//
//	logistic, two classes      ½‖w‖² + C Σ log(1 + exp(-s (w·x + b)))
//	logistic, several classes  ½ Σ_c ‖w_c‖² - C Σ log softmax(w·x + b)_y
//	svm, class c and the rest  ½(‖w_c‖² + b_c²) + C Σ max(0, 1 - s (w_c·x + b_c))²
//
// The sums are over all documents; s is 1 in the class and -1 elsewhere. As in scikit-learn, the intercept b of logistic
// regression is not penalized, and that of a support vector machine is. The minimum is unique, but for a constant that all
// intercepts of several classes may share; those returned add up to 0.
//
// The same rows give the same bits, in whatever order they were added.
package linear
