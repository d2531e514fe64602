package pipeline

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sparsenb/sparsenb/internal/golden"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Every reference vector of the solver, from a CSV through the pipeline to Parquet.
func TestGoldenVectorsThroughSelect(t *testing.T) {
	for _, prefix := range []string{"mnb_", "bnb_"} {
		instances, err := golden.Load("../testdata/golden", prefix)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range instances {
			t.Run(in.ID, func(t *testing.T) { checkGolden(t, in) })
		}
	}
}

func featureName(i int) string { return fmt.Sprintf("f%06d", i) }

func checkGolden(t *testing.T, in golden.Instance) {
	var csv bytes.Buffer
	csv.WriteString("plus,feature,minus\n")
	for i := range in.PositiveCounts {
		fmt.Fprintf(&csv, "%s,%s,%s\n", strconv.FormatFloat(in.PositiveCounts[i], 'g', -1, 64), featureName(i), strconv.FormatFloat(in.NegativeCounts[i], 'g', -1, 64))
	}
	var ks []string
	for _, r := range in.Results {
		if r.K > 0 {
			ks = append(ks, strconv.FormatInt(r.K, 10))
		}
	}
	sel := choose(t, "plus", ks...)
	sel.Smoothing = []float64{float64(in.Smoothing)}
	if in.Model == "bnb" {
		sel.Model = solver.Bernoulli
	}
	dir := filepath.Join(t.TempDir(), "out")
	documents := map[string]int64{"plus": int64(in.NPlus), "minus": int64(in.NMinus)}
	if err := runSelect(t, dir, save(t, "counts.csv", csv.String()), documents, sel); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	models := map[int64]modelio.ModelRow{}
	for _, m := range p.Models {
		models[m.K] = m
	}
	for _, want := range in.Results {
		if want.K == 0 {
			continue
		}
		m, ok := models[want.K]
		if !ok || m.M != int64(len(in.FPlus)) {
			t.Fatalf("k = %d: %+v", want.K, m)
		}
		checkModel(t, in, want, m, p.Of(m))
	}
}

func checkModel(t *testing.T, in golden.Instance, want golden.Result, m modelio.ModelRow, features []modelio.FeatureRow) {
	t.Helper()
	what := fmt.Sprintf("k = %d: ", want.K)
	var gain float64
	selected := map[string]modelio.FeatureRow{}
	for _, f := range features {
		gain += f.Score
		selected[f.Feature] = f
	}
	if int64(len(selected)) != want.K {
		t.Errorf("%s%d features", what, len(selected))
	}
	if in.Model == "bnb" {
		tol := in.Tol.RelGain*float64(want.Gain) + in.Tol.AbsGain
		near(t, what+"gain", m.Gain, float64(want.Gain), tol)
		near(t, what+"sum of scores", gain, float64(want.Gain), tol)
		near(t, what+"base + gain", m.Base+m.Gain, float64(want.Opt), 1e-12*math.Abs(float64(want.Opt))+tol)
		for _, i := range want.Sure {
			if _, ok := selected[featureName(i)]; !ok {
				t.Errorf("%sfeature %d is not selected", what, i)
			}
		}
		return
	}
	tol := in.Tol.RelGain*float64(want.PsiGain) + in.Tol.AbsGain
	near(t, what+"upper bound", m.UpperBoundGain, float64(want.PsiGain), tol)
	near(t, what+"sum of scores", gain, m.Gain, tol)
	near(t, what+"intercept", m.Intercept, math.Log(float64(in.NPlus)/float64(in.NMinus)), 1e-12)
	if want.AlphaUnique {
		near(t, what+"α", m.Alpha, float64(want.Alpha), in.Tol.RelAlpha*min(float64(want.Alpha), 1-float64(want.Alpha)))
	}
	if want.Proven() {
		near(t, what+"gain", m.Gain, float64(want.PhiGain), tol)
		if m.Certificate != "optimal" {
			t.Errorf("%scertificate %s", what, m.Certificate)
		}
	} else if m.Gain < float64(want.BestCutGain)-tol || m.Gain > m.UpperBoundGain {
		t.Errorf("%sgain %v, better cut %v, bound %v", what, m.Gain, want.BestCutGain, m.UpperBoundGain)
	}
	if want.NPhiSupports != 1 {
		return
	}
	for at, i := range want.Support {
		f, ok := selected[featureName(i)]
		if !ok {
			t.Errorf("%sfeature %d of the only optimal support is not selected", what, i)
			continue
		}
		if f.CountPositive != in.PositiveCounts[i] || f.CountNegative != in.NegativeCounts[i] {
			t.Errorf("%sfeature %d has counts %v and %v", what, i, f.CountPositive, f.CountNegative)
		}
		if want.ThetaPlus != nil {
			same(t, what+"θ⁺", f.ThetaPositive, float64(want.ThetaPlus[i]), in.Tol.RelTheta)
			same(t, what+"θ⁻", f.ThetaNegative, float64(want.ThetaMinus[i]), in.Tol.RelTheta)
			same(t, what+"weight", f.Weight, float64(want.Weights[i]), in.Tol.RelWeight)
		} else if want.SupportWeights != nil {
			same(t, what+"θ⁺", f.ThetaPositive, float64(want.SupportThetaP[at]), in.Tol.RelTheta)
			same(t, what+"θ⁻", f.ThetaNegative, float64(want.SupportThetaM[at]), in.Tol.RelTheta)
			same(t, what+"weight", f.Weight, float64(want.SupportWeights[at]), in.Tol.RelWeight)
		}
	}
}

// same compares numbers, which may be infinite, with a relative tolerance.
func same(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance*max(math.Abs(want), 1e-300)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
