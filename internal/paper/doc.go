// Package paper implements the algorithms of the paper as they are printed. Tests compare package solver with it. It is
// only for tests, with at most a few hundred features.
//
// The paper is A. Askari, A. d'Aspremont and L. El Ghaoui, "Naive Feature Selection: a Nearly Tight Convex Relaxation
// for Sparse Naive Bayes". Where the code corrects it, a comment names the erratum (E1 to E17) or the fact (S0 to S6) of
// docs/method.md. Unless the erratum is a typo, a test also computes the printed version and shows that it is wrong.
//
// The package shares no code with the solver and is simpler: plain logarithms, bisection, features one by one. Its values
// have errors near 1e-14 of the mass S, while the solver keeps the digits of gains that are small beside S. Values are
// gains over C = φ(0), as in the solver, unless a comment says log-likelihood.
//
// A support is a sorted list of features. Functions expect a mass above zero and 0 ≤ k ≤ m.
package paper
