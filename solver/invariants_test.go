package solver

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// checkResult checks what holds for every answer: the size of the support, the order of the bounds, that the gain is
// the likelihood of the θ returned, and that the bound is s_k(h) at the α returned.
func checkResult(t *testing.T, what string, p Problem, r Result) {
	t.Helper()
	var size int64
	for i, n := range r.Take {
		if n < 0 || n > p.Groups[i].Size {
			t.Errorf("%s: %d features taken of a group of %d", what, n, p.Groups[i].Size)
		}
		size += n
	}
	if k := min(p.K, p.features()); size != k || r.K != k {
		t.Errorf("%s: the support has %d features and says %d, want %d", what, size, r.K, k)
	}
	if !(r.Gap >= 0) || r.UpperBound-r.Gain != r.Gap || r.Gain < 0 {
		t.Errorf("%s: gain %v, bound %v, gap %v", what, r.Gain, r.UpperBound, r.Gap)
	}
	var scores numeric.Accumulator
	for i, n := range r.Take {
		if n > 0 {
			scores.Add(float64(n) * r.Parameters.Score(p.Groups[i].Positive, p.Groups[i].Negative))
		}
	}
	solvertest.Near(t, what+" sum of scores", scores.Value(), r.Gain, 1e-12*r.Gain+1e-290)
	base, gain, params, err := Evaluate(p, r.Take)
	if err != nil || base != r.Base || gain != r.Gain && p.Model == Multinomial || params != r.Parameters && !math.IsNaN(params.Intercept) {
		t.Errorf("%s: evaluated again the support is worth %v over %v, %v", what, gain, base, err)
	}
	bound, err := Bound(p, r.Odds)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	solvertest.Near(t, what+" bound at α", bound, r.UpperBound, 1e-12*r.UpperBound+1e-25*r.Parameters.Mass)
	checkLikelihood(t, what, p, r)
}

// checkLikelihood computes the log-likelihood of the model returned, as the definition has it.
func checkLikelihood(t *testing.T, what string, p Problem, r Result) {
	t.Helper()
	if p.Model != Multinomial || r.K == 0 {
		return
	}
	var likelihood, thetaPositive, thetaNegative, size float64
	add := func(n int64, a, b, tp, tn float64) {
		f := float64(n)
		likelihood += f * (numeric.XLogY(a, tp) + numeric.XLogY(b, tn))
		size += f * math.Abs(numeric.XLogY(a, tp)+numeric.XLogY(b, tn))
		thetaPositive += f * tp
		thetaNegative += f * tn
	}
	for i, g := range smoothed(p) {
		if n := r.Take[i]; n > 0 {
			tp, tn := r.Parameters.Theta(p.Groups[i].Positive, p.Groups[i].Negative)
			add(n, g.Positive, g.Negative, tp, tn)
		}
		if n := g.Size - r.Take[i]; n > 0 {
			pooled := (g.Positive + g.Negative) / r.Parameters.Mass
			add(n, g.Positive, g.Negative, pooled, pooled)
		}
	}
	solvertest.Near(t, what+" Σθ⁺", thetaPositive, 1, 1e-9)
	solvertest.Near(t, what+" Σθ⁻", thetaNegative, 1, 1e-9)
	// The last term is for θ near 1, whose rounding a large count multiplies.
	solvertest.Near(t, what+" likelihood", likelihood, r.Base+r.Gain, 1e-12*size+1e-15*r.Parameters.Mass)
}

// bruteForce returns φ(k)-C for every k, by looking at every support.
func bruteForce(positive, negative []float64, smoothing float64) []float64 {
	m := len(positive)
	best := make([]float64, m+1)
	for set := 1; set < 1<<m; set++ {
		var bp, bn float64
		for i := range m {
			if set>>i&1 == 1 {
				bp += positive[i] + smoothing
				bn += negative[i] + smoothing
			}
		}
		if bp == 0 || bn == 0 {
			continue
		}
		alpha, beta := odds(bp / bn).shares()
		var gain numeric.Accumulator
		for i := range m {
			if set>>i&1 == 1 {
				gain.Add(divergence(positive[i]+smoothing, negative[i]+smoothing, alpha, beta))
			}
		}
		k := bits.OnesCount(uint(set))
		if k > 1 {
			best[k] = max(best[k], gain.Value())
		}
	}
	return best
}

func TestBruteForce(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(1)
	bounded, solved := 0, 0
	for range solvertest.Count(4000) {
		m := 1 + rng.IntN(12)
		kind, positive, negative := solvertest.Instance(rng, m)
		smoothing := []float64{0, 0, 1, 0.1}[rng.IntN(4)]
		if slices.Max(positive)+slices.Max(negative)+smoothing == 0 {
			continue
		}
		want := bruteForce(positive, negative, smoothing)
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; k <= m; k++ {
			what := fmt.Sprintf("%s m=%d k=%d smoothing=%v %v %v", kind, m, k, smoothing, positive, negative)
			p := Problem{Groups: groups, K: int64(k), Smoothing: smoothing}
			r, err := Solve(p, Settings{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			solvertest.Near(t, what+" gain", r.Gain, want[k], 1e-11*want[k]+1e-13)
			if k > 0 && k < m {
				// ψ(k-1) ≤ φ(k) ≤ ψ(k) ≤ φ(k+1), of which a solver of ψ alone guarantees the last two.
				slack := 1e-12*r.UpperBound + 1e-13
				if r.UpperBound < want[k]-slack || r.UpperBound > want[k+1]+slack {
					t.Errorf("%s: bound %v is not between φ(k) = %v and φ(k+1) = %v", what, r.UpperBound, want[k], want[k+1])
				}
			}
			checkResult(t, what, p, r)
			solved++
			if r.Certificate != Optimal {
				bounded++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d problems solved, %d without a proof", solved, bounded)
	if bounded > 0 {
		t.Errorf("%d of %d small problems were left without a proof", bounded, solved)
	}
}

// solveFor returns a function that solves the problem of the counts for a k.
func solveFor(t *testing.T, positive, negative []float64) func(k int64) Result {
	groups, err := GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	return func(k int64) Result {
		r, err := Solve(Problem{Groups: groups, K: k, DocumentsPositive: 1, DocumentsNegative: 1}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

func TestSymmetries(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(2)
	for range solvertest.Count(300) {
		m := 2 + rng.IntN(200)
		kind, positive, negative := solvertest.Instance(rng, m)
		if slices.Max(positive) == 0 || slices.Max(negative) == 0 {
			continue
		}
		order := rng.Perm(m)
		p2, n2 := make([]float64, m), make([]float64, m)
		for i, j := range order {
			p2[i], n2[i] = positive[j], negative[j]
		}
		solve, solveSwapped := solveFor(t, positive, negative), solveFor(t, negative, positive)
		solveScaled, solvePermuted := solveFor(t, scaled(positive, 1024), scaled(negative, 1024)), solveFor(t, p2, n2)
		previous := Result{}
		increment := math.Inf(1)
		for k := int64(1); k <= int64(m); k += 1 + int64(rng.IntN(m)/20) {
			what := fmt.Sprintf("%s m=%d k=%d", kind, m, k)
			r := solve(k)
			tol := 1e-11*r.UpperBound + 1e-13

			swapped := solveSwapped(k)
			solvertest.Near(t, what+" bound with the classes swapped", swapped.UpperBound, r.UpperBound, tol)
			if r.Certificate == Optimal && swapped.Certificate == Optimal {
				solvertest.Near(t, what+" gain with the classes swapped", swapped.Gain, r.Gain, tol)
			}
			if r.Status == Kink && swapped.Status == Kink && r.UpperBound > 1e-9 {
				solvertest.Near(t, what+" alpha with the classes swapped", 1-swapped.Alpha, r.Alpha, 1e-5)
			}

			big := solveScaled(k)
			solvertest.Near(t, what+" bound of scaled counts", big.UpperBound/1024, r.UpperBound, tol)

			permuted := solvePermuted(k)
			if permuted.Gain != r.Gain || permuted.UpperBound != r.UpperBound || !slices.Equal(permuted.Take, r.Take) {
				t.Errorf("%s: the answer depends on the order of the features", what)
			}

			// ψ is concave and does not decrease.
			if previous.K > 0 {
				step := (r.UpperBound - previous.UpperBound) / float64(r.K-previous.K)
				if step < -tol || step > increment+tol {
					t.Errorf("%s: the bound rises by %v a feature after %v", what, step, increment)
				}
				increment = step
			}
			previous = r
		}
		if t.Failed() {
			return
		}
	}
}

// The paper's statements that only hold with the corrections of docs/method.md.
func TestSingleFeatureGainsNothing(t *testing.T) {
	t.Parallel()
	r := solveFor(t, []float64{9, 2, 5}, []float64{1, 3, 5})(1)
	if r.Gain != 0 || r.Certificate != Optimal || r.UpperBound <= 0 {
		t.Errorf("k=1: gain %v, certificate %v, bound %v; want 0, optimal, above 0", r.Gain, r.Certificate, r.UpperBound)
	}
}

func TestGroupsAreOneFeatureEach(t *testing.T) {
	t.Parallel()
	positive := []float64{3, 3, 0, 3, 0, 8, math.Copysign(0, -1), 900, 900, 0.5, math.Copysign(0, -1), 0}
	negative := []float64{1, 1, 5, 1, 5, 2, 5, 1, 1, 0.5, 700, 700}
	groups, err := GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	want := []Group{{900, 1, 2}, {0, 700, 2}, {8, 2, 1}, {0, 5, 3}, {3, 1, 3}, {0.5, 0.5, 1}}
	if index := indexOf(groups, positive, negative); !slices.Equal(groups, want) || !slices.Equal(index, []int{4, 4, 3, 4, 3, 2, 3, 0, 0, 5, 1, 1}) {
		t.Errorf("groups %v, index %v; want %v", groups, index, want)
	}
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1), 1e200, 1e-200} {
		if _, err := GroupFeatures([]float64{1, wrong}, []float64{1, 1}); err == nil {
			t.Errorf("the count %v is taken", wrong)
		}
	}
}

// As many groups as features, and the table has to grow.
func TestGroupsOfManyCounts(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(6)
	positive, negative := make([]float64, 10_000), make([]float64, 10_000)
	sizes := map[Group]int64{}
	for i := range positive {
		positive[i], negative[i] = float64(rng.IntN(300))/float64(1+rng.IntN(2)), float64(rng.IntN(3)*rng.IntN(300))
		sizes[Group{Positive: positive[i], Negative: negative[i]}]++
	}
	groups, err := GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != len(sizes) || !slices.IsSortedFunc(groups, CompareGroups) {
		t.Errorf("%d groups, want %d, in order", len(groups), len(sizes))
	}
	for _, g := range groups {
		if sizes[Group{Positive: g.Positive, Negative: g.Negative}] != g.Size {
			t.Errorf("group %v has %d features", g, sizes[Group{Positive: g.Positive, Negative: g.Negative}])
		}
	}
}

func TestStoppedBoundsHold(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(3)
	for range solvertest.Count(200) {
		_, positive, negative := solvertest.Instance(rng, 40)
		groups, _ := GroupFeatures(positive, negative)
		p := Problem{Groups: groups, K: 7}
		full, err := Solve(p, Settings{})
		if err != nil {
			continue
		}
		short, err := Solve(p, Settings{MaxEvaluations: 1, MaxNodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if short.UpperBound < full.Gain*(1-1e-12) || short.Gain > full.UpperBound*(1+1e-12) {
			t.Errorf("stopped early: gain %v, bound %v; complete: gain %v, bound %v", short.Gain, short.UpperBound, full.Gain, full.UpperBound)
		}
		checkResult(t, "stopped early", p, short)
	}
}
