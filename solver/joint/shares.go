package joint

import (
	"math"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Shares is a point of the simplex, a share α_c for every class, with values that speed up divergences. newShares makes it
// from the shares.
type Shares struct {
	Alpha []float64
	Log   []float64 // log α_c
	Logs  float64   // Σ log α_c

	// Heavy is the class with a share above one half, or -1. Rest is the sum of the other shares: 1-α_c would lose it if
	// one class has nearly everything.
	Heavy int
	Rest  float64

	// Uneven are ℓ(v_c) ≥ 0, where v_c = Cα_c - 1 is the distance of a share from the mean share. Unevenness is their sum,
	// and Surplus is the sum of the v_c, which is 0 except for rounding.
	Uneven              []float64
	Unevenness, Surplus float64
}

// newShares returns the point with the given shares, which must sum to 1 except for rounding. It keeps the slice.
func newShares(alpha []float64) Shares {
	s := Shares{Alpha: alpha, Log: make([]float64, len(alpha)), Heavy: -1, Uneven: make([]float64, len(alpha))}
	for c, a := range alpha {
		s.Log[c] = math.Log(a)
		if a > 0.5 {
			s.Heavy = c
		}
	}
	if s.Heavy >= 0 {
		for c, a := range alpha {
			if c != s.Heavy {
				s.Rest += a
			}
		}
		s.Log[s.Heavy] = math.Log1p(-s.Rest)
	}
	all := float64(len(alpha))
	var unevenness, surplus numeric.Accumulator
	for c, l := range s.Log {
		s.Logs += l
		v := math.FMA(all, alpha[c], -1)
		if s.Uneven[c] = v - (math.Log(all) + l); v > -0.5 {
			s.Uneven[c] = numeric.Ell(v)
		}
		unevenness.Add(s.Uneven[c])
		surplus.Add(v)
	}
	s.Unevenness, s.Surplus = unevenness.Value(), surplus.Value()
	return s
}

// sharesOf returns the shares of the classes in their masses, equal shares if there is no mass.
func sharesOf(mass []float64) Shares {
	all := numeric.Total(mass)
	alpha := make([]float64, len(mass))
	for c, x := range mass {
		alpha[c] = 1 / float64(len(mass))
		if all > 0 {
			alpha[c] = x / all
		}
	}
	return newShares(alpha)
}

// divergence is h(α) = g·KL(p‖α) = Σ_c f_c log(f_c/(g α_c)) of a feature with the smoothed counts f and their sum g. counts
// are not smoothed. It is computed as Σ_c [f log(f/e) - f + e] with e = gα_c: no term is negative, and shares that do not
// sum to exactly 1 have no effect of first order. Absent classes take no time unless they are fewer than half, or their
// sum cancels.
func (s *Shares) divergence(classes []int32, counts []float64, g, smoothing float64) float64 {
	if g == 0 {
		return 0
	}
	if 2*len(classes) >= len(s.Alpha) {
		return s.divergenceDense(classes, counts, g, smoothing)
	}
	h := 0.0
	for j, c := range classes {
		f := counts[j] + smoothing
		h += excess(f, s.surplus(f, g, c, counts, j, smoothing), g*s.Alpha[c])
	}
	rest, terms := s.absent(classes, counts, g, smoothing)
	if h += max(0, rest); h < 1e-3*terms {
		return s.divergenceDense(classes, counts, g, smoothing)
	}
	return h
}

// absent is the part of the divergence of the absent classes, Σ [a log(a/e) - a + e] with e = gα_c, computed from sums over
// all classes. It also returns the size of the terms, which determines the rounding error.
//
// If smoothing is most of g, all terms may be small beside it. With e = a(1+u)(1+v), where 1+u = g/(Ca) and
// 1+v = Cα_c, they are a[ℓ(u) + ℓ(v) + uv], and no logarithm of a share appears.
func (s *Shares) absent(classes []int32, counts []float64, g, smoothing float64) (rest, terms float64) {
	all := float64(len(s.Alpha))
	n := all - float64(len(classes))
	if u := solver.Sum(counts) / (smoothing * all); u <= 1 {
		ells, vs, size := s.Unevenness, s.Surplus, s.Unevenness
		for _, c := range classes {
			v := math.FMA(all, s.Alpha[c], -1)
			ells -= s.Uneven[c]
			vs -= v
			size += u * math.Abs(v)
		}
		return smoothing * (n*numeric.Ell(u) + ells + u*vs), smoothing * (n*numeric.Ell(u) + size)
	}
	whole, alphas, logs := 1.0, 0.0, 0.0
	for _, c := range classes {
		logs += s.Log[c]
		if int(c) == s.Heavy {
			whole = s.Rest
		} else {
			alphas += s.Alpha[c]
		}
	}
	rest, terms = g*max(0, whole-alphas), g*whole
	if smoothing > 0 {
		log := math.Log(smoothing / g)
		rest += smoothing * (n*(log-1) - (s.Logs - logs))
		terms += smoothing * (n*(1-log) - s.Logs)
	}
	return rest, terms
}

// divergenceDense is divergence, computed class by class.
func (s *Shares) divergenceDense(classes []int32, counts []float64, g, smoothing float64) float64 {
	h, j := 0.0, 0
	for c := range s.Alpha {
		if j < len(classes) && int(classes[j]) == c {
			f := counts[j] + smoothing
			h += excess(f, s.surplus(f, g, int32(c), counts, j, smoothing), g*s.Alpha[c])
			j++
		} else {
			h += excess(smoothing, s.surplus(smoothing, g, int32(c), counts, -1, smoothing), g*s.Alpha[c])
		}
	}
	return h
}

// surplus is e - f with e = gα_c, where f is the smoothed count in class c, the j-th of the counts, or an absent one if
// j is -1. For the heavy class it is α_c·r - f·(1-α_c) with r = g - f, the counts of the others.
func (s *Shares) surplus(f, g float64, c int32, counts []float64, j int, smoothing float64) float64 {
	if int(c) != s.Heavy {
		return math.FMA(g, s.Alpha[c], -f)
	}
	r := smoothing * float64(len(s.Alpha)-1)
	for i, n := range counts {
		if i != j {
			r += n
		}
	}
	p := f * s.Rest // as in solver.divergence: the difference keeps its digits
	return math.FMA(s.Alpha[c], r, -p) - math.FMA(f, s.Rest, -p)
}

// excess is f log(f/e) - f + e ≥ 0 for d = e - f. It is e if f is zero.
func excess(f, d, e float64) float64 {
	if f == 0 {
		return e
	}
	if x := d / f; x >= -0.5 {
		return f * numeric.Ell(x)
	}
	return f*math.Log(f/e) + d
}

// divergenceOf is h of the masses of a support, without smoothing.
func (s *Shares) divergenceOf(mass []float64) float64 {
	var g float64
	for _, x := range mass {
		g += x
	}
	h := 0.0
	for c, f := range mass {
		h += excess(f, s.surplus(f, g, int32(c), mass, c, 0), g*s.Alpha[c])
	}
	return h
}
