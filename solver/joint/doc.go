// Package joint selects one set of k features for all of C classes, from class counts alone, and bounds how far the choice
// is from the optimum. It generalizes package solver, which selects for two classes; the paper has no more than two.
//
// Let f_ic be the count of feature i in class c, g_i = Σ_c f_ic, and S = Σ_i g_i. A support J has the masses B_c = Σ_J f_ic
// and |B| = Σ_c B_c. Features outside J have θ_i = g_i/S in all classes. The gain of the best model with support J is
//
//	D(J) = Σ_{i∈J,c} f_ic log(f_ic|B| / (g_i B_c)) = min_α Σ_J h_i(α),   h_i(α) = g_i·KL(f_i/g_i ‖ α)
//
// over α in the simplex of classes. So φ(k) - C = max_J D(J) is at most ψ(k) - C = min_α s_k(h(α)), where s_k is the sum
// of the k largest values and ψ is convex in α. At the minimizer of ψ at most C features are split, and rounding them up
// adds at most C-1 features, so ψ(k-C+1) ≤ φ(k) ≤ ψ(k). For two classes this is the problem of [solver.Solve], with the
// bounds of docs/method.md.
//
// [Solve] minimizes ψ with a cutting-plane method (dual.go, master.go), recovers a support and improves it by swaps
// (primal.go, swap.go), and enumerates the few features whose side the bound does not settle (enumerate.go). [Bounds]
// computes ψ alone, and [Evaluate] and [Bound] check a support without a search.
package joint
