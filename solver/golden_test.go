package solver

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/sparsenb/sparsenb/internal/golden"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

const goldenDir = "../testdata/golden"

// problemOf builds the problem of an instance in groups, or with each feature in a separate group.
func problemOf(t *testing.T, in golden.Instance, k int64, grouped bool) (Problem, []int) {
	t.Helper()
	p := Problem{K: k, Smoothing: float64(in.Smoothing), DocumentsPositive: float64(in.NPlus), DocumentsNegative: float64(in.NMinus)}
	if in.Model == "bnb" {
		p.Model = Bernoulli
	}
	if !grouped {
		index := make([]int, len(in.FPlus))
		for i := range in.PositiveCounts {
			p.Groups = append(p.Groups, Group{in.PositiveCounts[i], in.NegativeCounts[i], 1})
			index[i] = i
		}
		return p, index
	}
	groups, err := GroupFeatures(in.PositiveCounts, in.NegativeCounts)
	if err != nil {
		t.Fatal(err)
	}
	p.Groups = groups
	return p, indexOf(groups, in.PositiveCounts, in.NegativeCounts)
}

// indexOf returns for every feature the index of its group.
func indexOf(groups []Group, positive, negative []float64) []int {
	index := make([]int, len(positive))
	for i, a := range positive {
		index[i] = GroupOf(groups, a, negative[i])
	}
	return index
}

func TestGoldenMultinomial(t *testing.T) {
	t.Parallel()
	instances, err := golden.Load(goldenDir, "mnb_")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range instances {
		for _, want := range in.Results {
			for _, grouped := range []bool{false, true} {
				p, index := problemOf(t, in, want.K, grouped)
				r, err := Solve(p, Settings{})
				if err != nil {
					t.Errorf("%s k=%d: %v", in.ID, want.K, err)
					continue
				}
				what := in.ID + " k=" + strconv.FormatInt(want.K, 10)
				tol := in.Tol.RelGain*float64(want.PsiGain) + in.Tol.AbsGain
				solvertest.Near(t, what+" base", r.Base, float64(in.C), 1e-12*math.Abs(float64(in.C)))
				solvertest.Near(t, what+" upper bound", r.UpperBound, float64(want.PsiGain), tol)
				if want.AlphaUnique {
					a := float64(want.Alpha)
					solvertest.Near(t, what+" alpha", r.Alpha, a, in.Tol.RelAlpha*min(a, 1-a))
				}
				if r.Gain < float64(want.BestCutGain)-tol {
					t.Errorf("%s: gain %v is below that of the better cut, %v", what, r.Gain, want.BestCutGain)
				}
				if want.Proven() {
					solvertest.Near(t, what+" gain", r.Gain, float64(want.PhiGain), tol)
					if r.Certificate != Optimal {
						t.Errorf("%s: the certificate is %v after %d nodes, want optimal", what, r.Certificate, r.Nodes)
					}
				}
				checkResult(t, what, p, r)
				checkParameters(t, what, r, index, in, want)
			}
		}
	}
}

// checkParameters compares θ and weights with the reference on the reference's own support, whose parameters do not
// depend on which of several optimal supports the solver chose.
func checkParameters(t *testing.T, what string, r Result, index []int, in golden.Instance, want golden.Result) {
	t.Helper()
	tp, tm, w := want.ThetaPlus, want.ThetaMinus, want.Weights
	if tp == nil {
		return
	}
	take := make([]int64, len(in.FPlus))
	for _, i := range want.Support {
		take[i] = 1
	}
	plain, _ := problemOf(t, in, want.K, false)
	params := parametersMultinomial(plain, smoothed(plain), take)
	for _, i := range want.Support {
		a, b := params.Theta(in.PositiveCounts[i], in.NegativeCounts[i])
		solvertest.Near(t, what+" θ⁺", a, float64(tp[i]), in.Tol.RelTheta*float64(tp[i]))
		solvertest.Near(t, what+" θ⁻", b, float64(tm[i]), in.Tol.RelTheta*float64(tm[i]))
		got := params.Weight(in.PositiveCounts[i], in.NegativeCounts[i])
		solvertest.Near(t, what+" weight", got, float64(w[i]), in.Tol.RelWeight*max(1, math.Abs(float64(w[i]))))
	}
	solvertest.Near(t, what+" intercept", r.Parameters.Intercept, float64(want.Intercept), 1e-12)
	if want.NPhiSupports == 1 {
		for _, i := range want.Support {
			if r.Take[index[i]] == 0 {
				t.Errorf("%s: feature %d of the only optimal support was not selected", what, i)
			}
		}
	}
}

func TestGoldenBernoulli(t *testing.T) {
	t.Parallel()
	instances, err := golden.Load(goldenDir, "bnb_")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range instances {
		for _, want := range in.Results {
			p, index := problemOf(t, in, want.K, true)
			r, err := Solve(p, Settings{})
			if err != nil {
				t.Errorf("%s k=%d: %v", in.ID, want.K, err)
				continue
			}
			what := in.ID + " k=" + strconv.FormatInt(want.K, 10)
			tol := in.Tol.RelGain*float64(want.Gain) + in.Tol.AbsGain
			solvertest.Near(t, what+" gain", r.Gain, float64(want.Gain), tol)
			solvertest.Near(t, what+" base", r.Base, float64(in.VSum), 1e-12*math.Abs(float64(in.VSum)))
			if r.Certificate != Optimal || r.Gap != 0 {
				t.Errorf("%s: certificate %v, gap %v", what, r.Certificate, r.Gap)
			}
			for _, i := range want.Sure {
				if g := index[i]; r.Take[g] != p.Groups[g].Size {
					t.Errorf("%s: feature %d is above the cut but was not selected", what, i)
				}
			}
			for i := range in.FPlus {
				solvertest.Near(t, what+" score", r.Parameters.Score(in.PositiveCounts[i], in.NegativeCounts[i]), float64(in.Scores[i]), tol)
				if !slices.Contains(want.Support, i) || want.ThetaPlus == nil {
					continue
				}
				a, b := r.Parameters.Theta(in.PositiveCounts[i], in.NegativeCounts[i])
				solvertest.Near(t, what+" θ⁺", a, float64(want.ThetaPlus[i]), in.Tol.RelTheta*a)
				solvertest.Near(t, what+" θ⁻", b, float64(want.ThetaMinus[i]), in.Tol.RelTheta*b)
				w := float64(want.Weights[i])
				solvertest.Near(t, what+" weight", r.Parameters.Weight(in.PositiveCounts[i], in.NegativeCounts[i]), w, in.Tol.RelWeight*max(1, math.Abs(w)))
			}
			if len(want.Tied) == want.Need {
				solvertest.Near(t, what+" intercept", r.Parameters.Intercept, float64(want.Intercept), 1e-9*max(1, math.Abs(float64(want.Intercept))))
			}
			checkResult(t, what, p, r)
		}
	}
}

func TestGoldenErrors(t *testing.T) {
	t.Parallel()
	cases, err := golden.LoadErrors(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range cases {
		groups, err := GroupFeatures(in.PositiveCounts, in.NegativeCounts)
		if err == nil {
			p := Problem{Groups: groups, K: in.K, Smoothing: float64(in.Smoothing), DocumentsPositive: float64(in.NPlus), DocumentsNegative: float64(in.NMinus)}
			if in.Model == "bnb" {
				p.Model = Bernoulli
			}
			_, err = Solve(p, Settings{})
		}
		if err == nil {
			t.Errorf("%s was accepted", in.ID)
		}
	}
}

// Problems between two sides of several classes, from vectors of class counts.
func TestGoldenMulticlass(t *testing.T) {
	t.Parallel()
	cases, tol, err := golden.LoadMulticlass(goldenDir)
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		v := vectorsOf(t, c.Counts)
		rest, one := v.OneVersusRest(), v.OneVersusOne()
		var documents float64
		for _, n := range c.Documents {
			documents += n
		}
		for _, sub := range c.Subproblems {
			positive := sub.Classes[0]
			p := Problem{Groups: rest(int32(positive)), K: c.K, Smoothing: c.Smoothing,
				DocumentsPositive: c.Documents[positive], DocumentsNegative: documents - c.Documents[positive]}
			if c.Strategy == "ovo" {
				negative := sub.Classes[1]
				p.Groups, p.DocumentsNegative = one(int32(positive), int32(negative)), c.Documents[negative]
			}
			r, err := Solve(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s %v", c.ID, sub.Classes)
			checkResult(t, what, p, r)
			solvertest.Near(t, what+" ψ", r.UpperBound, sub.PsiGain, tol.RelGain*sub.PsiGain+1e-12)
			solvertest.Near(t, what+" φ", r.Gain, sub.PhiGain, tol.RelGain*sub.PhiGain+1e-12)
			if r.Certificate != Optimal {
				t.Errorf("%s: certificate %v", what, r.Certificate)
			}
			solvertest.Near(t, what+" intercept", r.Parameters.Intercept, sub.Intercept, 1e-12)
			if sub.Supports != 1 {
				continue
			}
			for i, want := range sub.Weights {
				a, b := sides(c, sub, i)
				got := 0.0
				if r.Take[GroupOf(p.Groups, a, b)] > 0 {
					got = r.Parameters.Weight(a, b)
				}
				solvertest.Near(t, fmt.Sprintf("%s weight %d", what, i), got, float64(want), 1e-9)
			}
		}
	}
}

func vectorsOf(t *testing.T, counts [][]float64) *Vectors {
	t.Helper()
	v := NewVectors(len(counts))
	for i := range counts[0] {
		var classes []int32
		var row []float64
		for c := range counts {
			classes, row = append(classes, int32(c)), append(row, counts[c][i])
		}
		if err := v.Add(classes, row, 1); err != nil {
			t.Fatal(err)
		}
	}
	return v.Group()
}

// sides are the counts of feature i on the two sides.
func sides(c golden.Multiclass, sub golden.Subproblem, i int) (positive, negative float64) {
	if c.Strategy == "ovo" {
		return c.Counts[sub.Classes[0]][i], c.Counts[sub.Classes[1]][i]
	}
	for class, row := range c.Counts {
		if class != sub.Classes[0] {
			negative += row[i]
		}
	}
	return c.Counts[sub.Classes[0]][i], negative
}
