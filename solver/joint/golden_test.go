package joint

import (
	"slices"
	"strconv"
	"testing"

	"github.com/sparsenb/sparsenb/internal/golden"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := golden.LoadJoint("../../testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range cases {
		for _, want := range in.Results {
			p, index := problemOf(t, in.Counts, want.K, 0)
			what := in.ID + " k=" + strconv.FormatInt(want.K, 10)
			r := mustSolve(t, p, solver.Settings{})
			// The reference has ψ from a crude search: up to a relative 1e-9 lies between its bounds.
			slack := 1e-12*r.UpperBound + 1e-14
			if r.UpperBound < want.PsiGainLow-slack || r.UpperBound > want.PsiGainHigh+slack {
				t.Errorf("%s: bound %v is not between %v and %v", what, r.UpperBound, want.PsiGainLow, want.PsiGainHigh)
			}
			solvertest.Near(t, what+" gain", r.Gain, want.PhiGain, 1e-12*want.PhiGain+1e-14)
			if r.Certificate != solver.Optimal {
				t.Errorf("%s: the certificate is %v", what, r.Certificate)
			}
			if !slices.ContainsFunc(want.PhiSupports, func(support []int) bool {
				take := make([]int64, p.Len())
				for _, i := range support {
					take[index[i]]++
				}
				return slices.Equal(take, r.Take)
			}) {
				t.Errorf("%s: the support %v is not one of %v", what, r.Take, want.PhiSupports)
			}
			checkResult(t, what, p, r)
		}
	}
}
