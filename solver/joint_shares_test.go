package solver

import (
	"math"
	"math/big"
	"testing"
)

// exactJointDivergence is h(α) of dense smoothed counts f, with α in the proportions of w.
func exactJointDivergence(f, w []float64) float64 {
	n := func() *big.Float { return new(big.Float).SetPrec(precision) }
	g, all, h := n(), n(), n()
	for c := range f {
		g.Add(g, exact(f[c]))
		all.Add(all, exact(w[c]))
	}
	for c := range f {
		if f[c] > 0 {
			// p/α = (f/g)/(w/Σw)
			ratio := n().Quo(n().Mul(exact(f[c]), all), n().Mul(g, exact(w[c])))
			h.Add(h, n().Mul(exact(f[c]), exactLog(ratio)))
		}
	}
	x, _ := h.Float64()
	return x
}

func TestJointDivergenceIsPrecise(t *testing.T) {
	rng := random(18)
	for i := range 120 {
		classes := 1 + rng.IntN(9)
		smoothing := []float64{0, 1, 1e-3}[rng.IntN(3)]
		width := []float64{1, 60}[rng.IntN(2)]
		w, f := make([]float64, classes), make([]float64, classes)
		for c := range w {
			w[c] = math.Exp(width * rng.NormFloat64())
			if rng.IntN(3) > 0 {
				f[c] = math.Exp(20 * rng.NormFloat64())
			}
			if i%4 == 0 { // almost in balance
				f[c] = w[c] * (1 + 1e-6*rng.Float64())
			}
		}
		at, g, size := sharesOf(w), 0.0, 0.0
		dense := make([]float64, classes)
		for c := range f {
			dense[c] = f[c] + smoothing
			g += dense[c]
		}
		for c := range f {
			size += math.Abs(dense[c] - g*at.Alpha[c])
		}
		classesOf, counts := sparse(f)
		got, want := at.divergence(classesOf, counts, g, smoothing), exactJointDivergence(dense, w)
		// Shares and masses are rounded, which moves h by ulps of the differences. Absent classes that are not looked at
		// one by one are a difference of sums.
		tolerance := 4e-15*want + 1e-15*size
		if 2*len(counts) < classes {
			tolerance += 2e-16 * float64(classes) * (g + smoothing*(math.Abs(at.Logs)+math.Abs(math.Log(g))))
		}
		near(t, "h", got, want, tolerance)
		if t.Failed() {
			t.Fatalf("counts %v smoothed by %v, shares in proportion to %v", f, smoothing, w)
		}
	}
}

// One class has all but 1e-20 of the mass, which a share written as 1 does not tell.
func TestJointDivergenceOfAHeavyClass(t *testing.T) {
	at := sharesOf([]float64{1e10, 1e-10, 2e-10})
	for _, c := range []struct {
		classes []int32
		counts  []float64
		want    float64
	}{
		{[]int32{0}, []float64{5}, 1.5e-19}, // -5 log(1 - 3e-20)
		{[]int32{0, 1, 2}, []float64{3e10, 3e-10, 6e-10}, 0},
		{[]int32{0, 1}, []float64{1, 1e-20}, 2e-20}, // 1e-20 log(1/1) + the share of the class that is absent
	} {
		g := smoothedMass(c.counts, 0, 3)
		near(t, "h", at.divergence(c.classes, c.counts, g, 0), c.want, 1e-14*c.want+1e-33)
	}
}
