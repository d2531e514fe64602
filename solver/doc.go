// Package solver picks, from class counts alone, the k features of a sparse naive Bayes model of maximum likelihood,
// and proves how near to the optimum the choice is. It knows nothing of Beam, files or names: its input is groups of
// features that share the same pair of counts (f⁺, f⁻), its output is how many features of each group to take.
//
// The theory is that of Askari, d'Aspremont and El Ghaoui, "Naive Feature Selection: a Nearly Tight Convex Relaxation
// for Sparse Naive Bayes" (arXiv:1905.09884), as corrected in docs/method.md. For α in (0, 1), the share of the positive class, let
//
//	h_i(α) = f⁺_i log(p_i/α) + f⁻_i log((1-p_i)/(1-α)) ≥ 0,   p_i = f⁺_i/(f⁺_i+f⁻_i)
//
// and let s_k be the sum of the k largest values. All likelihoods are reported as gains over the model without any
// selected feature, C = φ(0). For a support J of k features, B± = Σ_J f±, the gain of its best model is
//
//	D(J) = min_α Σ_J h_i(α) = Σ_J h_i(α_J),   α_J = B⁺/(B⁺+B⁻)
//
// so that φ(k) - C = max_J D(J), and weak duality bounds it by ψ(k) - C = min_α s_k(h(α)), a convex problem in one
// variable. [Solve] minimises it exactly with cuts, recovers a support, improves it by swaps, and then enumerates the
// few features whose side the bound does not settle; when that enumeration finishes, the support is proven optimal.
//
// For the Bernoulli model the problem separates and the answer is always exact.
//
// [Path] solves for many k, [Bounds] finds ψ alone, and a [Curve] finds a k by a rule. A [Method] other than the first
// ranks features one by one, as others do, with the same bound. Of more than two classes, [Vectors] hold the counts:
// they make the groups of one class against the rest or another, and [Joint] selects one set of features for all.
package solver
