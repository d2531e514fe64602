// Package solver selects, from class counts alone, the k features of the maximum-likelihood sparse naive Bayes model, and
// bounds how far the selection is from the optimum. It uses no Beam, files or names: its input is groups of features with
// equal counts (f⁺, f⁻), its output is how many features to take from each group.
//
// The theory is that of Askari, d'Aspremont and El Ghaoui, "Naive Feature Selection: a Nearly Tight Convex Relaxation
// for Sparse Naive Bayes" (arXiv:1905.09884), with the corrections in docs/method.md. Let α in (0, 1) be the share of the
// positive class,
//
//	h_i(α) = f⁺_i log(p_i/α) + f⁻_i log((1-p_i)/(1-α)) ≥ 0,   p_i = f⁺_i/(f⁺_i+f⁻_i)
//
// and s_k the sum of the k largest values. All likelihoods are gains over the model without any selected feature,
// C = φ(0), in nats. A support J of k features has the masses B± = Σ_J f±, and its best model gains
//
//	D(J) = min_α Σ_J h_i(α) = Σ_J h_i(α_J),   α_J = B⁺/(B⁺+B⁻)
//
// So φ(k) - C = max_J D(J), and by weak duality it is at most ψ(k) - C = min_α s_k(h(α)), a convex problem in one
// variable. [Solve] minimizes ψ exactly with cuts (dual.go), recovers a support and improves it by swaps (primal.go), and
// enumerates the few features whose side the bound does not settle (enumerate.go). If the enumeration completes, the
// support is proven optimal.
//
// The Bernoulli model separates by feature, and its answer is always exact.
//
// [Path] solves for many k, [Bounds] computes ψ alone, and a [Curve] chooses k by a rule. Every [Method] but the first
// ranks features one by one, with the same bound. [Vectors] hold counts in more than two classes; they make the groups of
// one class against the rest or another class. Package solver/joint selects one set of features for all classes.
package solver
