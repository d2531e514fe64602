// Package paper is the machinery of the paper as the paper has it: an oracle that tests hold package solver against. It
// is for up to some hundred features and only for tests.
//
// The paper is A. Askari, A. d'Aspremont and L. El Ghaoui, "Naive Feature Selection: a Nearly Tight Convex Relaxation
// for Sparse Naive Bayes". Where it is corrected a comment names the erratum (E1 to E17) or the fact (S0 to S6) of
// docs/method.md, and unless that is a slip of the pen a test computes the printed version too and shows that it is wrong.
//
// Nothing is shared with the solver, nor made as clever: logarithms are plain, a search is a bisection, every feature
// is on its own. Values are therefore good to some 1e-14 of the mass S, where the solver keeps the digits of a gain that
// is small beside it. Like the solver's they are gains over C = φ(0), unless a comment says log-likelihood.
//
// A support is a sorted list of features. Functions expect a mass above zero and 0 ≤ k ≤ m.
package paper
