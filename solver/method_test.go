package solver

import (
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// A method that has a name only is refused: it may not rank by what another ranks by.
func TestAMethodOfWhichOnlyTheNameIsKnown(t *testing.T) {
	Methods = append(Methods, "novel")
	defer func() { Methods = methods() }()
	p := Problem{Groups: []Group{{3, 1, 1}, {1, 2, 1}}, Method: "novel", K: 1, DocumentsPositive: 5, DocumentsNegative: 5}
	if _, err := Solve(p, Settings{}); err == nil || err.Error() != `solver: unknown method "novel"` {
		t.Error(err)
	}
	for _, m := range methods() {
		p.Method = m
		if _, err := Solve(p, Settings{}); err != nil {
			t.Error(err)
		}
	}
}

// A method ranks by its statistic; its gain is below what the solver finds, its bound the same.
func TestMethods(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(12)
	for range solvertest.Count(300) {
		m := 1 + rng.IntN(30)
		kind, positive, negative := solvertest.Instance(rng, m)
		if rng.IntN(8) == 0 {
			clear(negative)
		}
		groups, err := GroupFeatures(positive, negative)
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []Model{Multinomial, Bernoulli} {
			for _, method := range Methods {
				p := Problem{Groups: groups, Model: model, Method: method, K: int64(rng.IntN(m + 1)), Smoothing: float64(rng.IntN(2)), DocumentsPositive: 1e17, DocumentsNegative: 3e17}
				if p.Smoothing == 0 && slices.Max(positive) == 0 && slices.Max(negative) == 0 {
					continue
				}
				r, err := Solve(p, Settings{})
				if err != nil {
					t.Fatalf("%s %v: %v", kind, method, err)
				}
				what := kind + " " + string(method) + " " + model.String()
				checkResult(t, what, p, r)
				exact := p
				exact.Method = ""
				best, err := Solve(exact, Settings{})
				if err != nil {
					t.Fatal(err)
				}
				solvertest.Near(t, what+" bound", r.UpperBound, best.UpperBound, 1e-12*best.UpperBound)
				if method == NFS {
					solvertest.Near(t, what, r.Gain, best.Gain, 1e-12*best.Gain)
					continue
				}
				if best.Certificate == Optimal && r.Gain > best.Gain*(1+1e-10)+1e-13 {
					t.Errorf("%s: gain %v, but %v is optimal", what, r.Gain, best.Gain)
				}
				if p.K > 0 && r.Certificate != Heuristic {
					t.Errorf("%s: certificate %v", what, r.Certificate)
				}
				checkRanks(t, what, p, r)
			}
		}
	}
}

// checkRanks holds that no feature left out has a larger statistic than one taken, and that the selector agrees.
func checkRanks(t *testing.T, what string, p Problem, r Result) {
	t.Helper()
	s, selector := p.Statistic(), r.Selector(p)
	least, most := largest, 0.0
	for i, g := range p.Groups {
		if v := s.Of(g.Positive, g.Negative); r.Take[i] > 0 {
			least = min(least, v)
		} else {
			most = max(most, v)
		}
		n, all := selector.Selects(g.Positive, g.Negative)
		if all {
			n = g.Size
		}
		if n != r.Take[i] {
			t.Errorf("%s: the selector takes %d of group %d, the result %d", what, n, i, r.Take[i])
		}
	}
	if least < most {
		t.Errorf("%s: %v is taken, %v is not", what, least, most)
	}
}

// From scikit-learn 1.6: chi2([[1,0,3],[2,1,0],[0,4,1],[3,1,1]], [0,0,1,1]) and
// chi2 of unequal classes, [0,1,1,1].
func TestChi2IsScikitLearns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		positive, negative [3]float64
		documents          [2]float64
		want               [3]float64
	}{
		{[3]float64{3, 5, 2}, [3]float64{3, 1, 3}, [2]float64{2, 2}, [3]float64{0, 2.6666666666666665, 0.2}},
		{[3]float64{5, 6, 2}, [3]float64{1, 0, 3}, [2]float64{3, 1}, [3]float64{0.22222222222222224, 2, 3.2666666666666666}},
	} {
		p := Problem{Method: Chi2, DocumentsPositive: c.documents[0], DocumentsNegative: c.documents[1]}
		for i, want := range c.want {
			solvertest.Near(t, "chi2", p.Statistic().Of(c.positive[i], c.negative[i]), want, 1e-14)
		}
	}
}
