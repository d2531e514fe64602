package joint

import (
	"math"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// exactDivergence is h(α) of dense smoothed counts f, with α in the proportions of w.
func exactDivergence(f, w []float64) float64 {
	n := solvertest.Zero
	g, all, h := n(), n(), n()
	for c := range f {
		g.Add(g, solvertest.Exact(f[c]))
		all.Add(all, solvertest.Exact(w[c]))
	}
	for c := range f {
		if f[c] > 0 {
			// p/α = (f/g)/(w/Σw)
			ratio := n().Quo(n().Mul(solvertest.Exact(f[c]), all), n().Mul(g, solvertest.Exact(w[c])))
			h.Add(h, n().Mul(solvertest.Exact(f[c]), solvertest.ExactLog(ratio)))
		}
	}
	x, _ := h.Float64()
	return x
}

func TestDivergenceIsPrecise(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(18)
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
		got, want := at.divergence(classesOf, counts, g, smoothing), exactDivergence(dense, w)
		// Shares and masses are rounded, which moves h by ulps of the differences. Absent classes that are not looked at
		// one by one are a difference of sums, which may lose three digits.
		tolerance := 4e-15*want + 1e-15*size
		if 2*len(counts) < classes {
			tolerance += 1e-12 * want
		}
		solvertest.Near(t, "h", got, want, tolerance)
		if t.Failed() {
			t.Fatalf("counts %v smoothed by %v, shares in proportion to %v", f, smoothing, w)
		}
	}
}

// One class has all but 1e-20 of the mass: its share rounds to 1.
func TestDivergenceOfAHeavyClass(t *testing.T) {
	t.Parallel()
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
		solvertest.Near(t, "h", at.divergence(c.classes, c.counts, g, 0), c.want, 1e-14*c.want+1e-33)
	}
}

// A large smoothing brings all features near to the shares of their support, and their scores are small beside the
// counts. They are known to the precision of the counts all the same, and so is their sum, by class or by feature.
func TestScoresKeepTheirDigitsUnderSmoothing(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(31)
	for i := range 40 {
		classes := 3 + rng.IntN(12)
		smoothing := math.Pow(10, -3+9*float64(i)/39)
		var support [][]float64
		mass := make([]float64, classes)
		for range 12 {
			f := make([]float64, classes)
			for range 1 + rng.IntN(2) {
				f[rng.IntN(classes)] = float64(1 + rng.IntN(10))
			}
			if i%3 == 0 { // one class has nearly all
				f[0] += 1e6
			}
			support = append(support, f)
			for c, n := range f {
				mass[c] += n + smoothing
			}
		}
		at := sharesOf(mass)
		params := Parameters{Smoothing: smoothing, Features: int64(len(support)), Support: mass, Mass: numeric.Total(mass), At: at}
		for _, f := range support {
			dense := make([]float64, classes)
			for c := range f {
				dense[c] = f[c] + smoothing
			}
			present, counts := sparse(f)
			want, size := exactDivergence(dense, mass), 0.0
			for c, n := range dense {
				size += math.Abs(n - numeric.Total(dense)*at.Alpha[c])
			}
			tolerance := 1e-12*want + 2e-15*size // shares and counts are rounded
			solvertest.Near(t, "score", params.Score(present, counts), want, tolerance)
			solvertest.Near(t, "sum of the parts", numeric.Total(params.Parts(nil, present, counts)), want, tolerance)
			if t.Failed() {
				t.Fatalf("counts %v smoothed by %v, shares %v", f, smoothing, at.Alpha)
			}
		}
	}
}

// The same of documents, with a feature and without it.
func TestPresenceKeepsItsDigitsUnderSmoothing(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(32)
	for i := range 60 {
		classes := 3 + rng.IntN(12)
		p := Parameters{Model: solver.Bernoulli, Smoothing: math.Pow(10, -3+9*float64(i)/59)}
		var documents, all []float64
		for range classes {
			n := math.Ceil(math.Exp(9 * rng.Float64()))
			p.Documents = append(p.Documents, n)
			documents = append(documents, n+2*p.Smoothing)
		}
		p.Mass, p.At = numeric.Total(documents), sharesOf(documents)
		all = make([]float64, classes)
		for range 8 {
			f := make([]float64, classes)
			for range 1 + rng.IntN(2) {
				c := rng.IntN(classes)
				f[c] = math.Ceil(p.Documents[c] * rng.Float64())
			}
			with, without, size := make([]float64, classes), make([]float64, classes), 0.0
			copy(all, f)
			for c := range f {
				with[c] = f[c] + p.Smoothing
				without[c] = documents[c] - with[c]
			}
			for c, n := range with {
				size += 2 * math.Abs(n-numeric.Total(with)*p.At.Alpha[c])
			}
			present, counts := sparse(f)
			want := exactDivergence(with, documents) + exactDivergence(without, documents)
			tolerance := 1e-12*want + 4e-15*size
			solvertest.Near(t, "score", p.Score(present, counts), want, tolerance)
			solvertest.Near(t, "sum of the parts", numeric.Total(p.Parts(nil, present, counts)), want, tolerance)
			if t.Failed() {
				t.Fatalf("documents %v of %v, smoothed by %v", f, p.Documents, p.Smoothing)
			}
		}
	}
}
