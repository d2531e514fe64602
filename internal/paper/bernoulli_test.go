package paper

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
)

// Theorem 1 with its corrections is exact: it equals brute force and the solver.
func TestBernoulliIsExact(t *testing.T) {
	eachInstance(t, 31, 480, 8, func(r *rand.Rand, in instance) {
		positive, negative := documents(r, in.Positive), documents(r, in.Negative)
		best := bruteForceBernoulli(in.Counts, positive, negative)
		groups, err := solver.GroupFeatures(in.Positive, in.Negative)
		if err != nil {
			t.Fatal(err)
		}
		rounding := 1e-13 * (positive + negative) * float64(in.Features())
		for k, want := range best {
			what := fmt.Sprintf("%s n=%v,%v k=%d", in.name, positive, negative, k)
			p := Bernoulli(in.Counts, positive, negative, k)
			value := BernoulliLogLikelihood(in.Counts, positive, negative, p)
			near(t, what+": log-likelihood", value, want, rounding)
			s, err := solver.Solve(solver.Problem{Groups: groups, Model: solver.Bernoulli, K: int64(k), DocumentsPositive: positive, DocumentsNegative: negative}, solver.Settings{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			near(t, what+": the solver's log-likelihood", s.Base+s.Gain, want, rounding)
		}
	})
}

// documents is a number of documents that counts can come from.
func documents(r *rand.Rand, counts []float64) float64 {
	n := 1.0
	for _, f := range counts {
		n = max(n, f)
	}
	return n + float64(r.IntN(10))
}

// bruteForceBernoulli returns for every k the greatest log-likelihood of a support, each with θ at its best: f±/n±
// where the classes may differ and g/n elsewhere.
func bruteForceBernoulli(c Counts, positive, negative float64) []float64 {
	best := make([]float64, c.Features()+1)
	for k := range best {
		best[k] = math.Inf(-1)
	}
	for set := range uint(1) << c.Features() {
		p := Point{members(set), make([]float64, c.Features()), make([]float64, c.Features())}
		for i := range c.Positive {
			if set>>i&1 == 1 {
				p.Positive[i], p.Negative[i] = c.Positive[i]/positive, c.Negative[i]/negative
			} else {
				p.Positive[i] = (c.Positive[i] + c.Negative[i]) / (positive + negative)
				p.Negative[i] = p.Positive[i]
			}
		}
		k := bits.OnesCount(set)
		best[k] = max(best[k], BernoulliLogLikelihood(c, positive, negative, p))
	}
	return best
}

// The example of E1 and E2: documents in which three features occur, ten of either class.
var tenDocuments = Counts{[]float64{9, 2, 5}, []float64{1, 3, 5}}

// E1: θ⁺ = θ⁻ on the top k, as the theorem prints, has a far lower likelihood, and leaves more than k features different.
func TestPrintedBernoulliTheoremIsReversed(t *testing.T) {
	p := Bernoulli(tenDocuments, 10, 10, 1)
	printed := Bernoulli(tenDocuments, 10, 10, 3)
	for _, i := range p.Support {
		printed.Positive[i] = (tenDocuments.Positive[i] + tenDocuments.Negative[i]) / 20
		printed.Negative[i] = printed.Positive[i]
	}
	near(t, "log-likelihood", BernoulliLogLikelihood(tenDocuments, 10, 10, p), -31.611306, 5e-7)
	near(t, "brute force", bruteForceBernoulli(tenDocuments, 10, 10)[1], -31.611306, 5e-7)
	near(t, "log-likelihood as printed", BernoulliLogLikelihood(tenDocuments, 10, 10, printed), -38.838554, 5e-7)
}

// E2: scores are n times a mutual information, but with f⁺ in both logarithms one of them is negative.
func TestPrintedBernoulliScoresCanBeNegative(t *testing.T) {
	z := BernoulliScores(tenDocuments, 10, 10)
	for i, want := range []struct{ correct, printed float64 }{{7.36, 9.56}, {0.134, -1.08}, {0, 0}} {
		a, b := tenDocuments.Positive[i], tenDocuments.Negative[i]
		printed := xlogy(a, a/10) + xlogy(10-a, 1-a/10) + xlogy(b, a/10) + xlogy(10-b, 1-b/10) - binomial(a+b, 20)
		near(t, "w-v", z[i], want.correct, 5e-3)
		near(t, "w-v as printed", printed, want.printed, 5e-3)
	}
}
