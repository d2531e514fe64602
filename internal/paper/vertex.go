package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// dust is the distance from 0 or 1 below which a coordinate of a vertex is rounded to that number. The simplex works with tolerances of 1e-13.
const dust = 1e-10

// simplexTolerance is how negative a reduced cost may remain. With 0 the simplex method can cycle because of rounding.
const simplexTolerance = 1e-12

// vertex returns a vertex y of {y in [0,1]^m : rows·y = rows·x} of least costᵀy among those that agree with x where x is
// 0 or 1. That is a face of the whole polytope, and so its vertices are vertices too.
func vertex(rows [][]float64, x, cost []float64) ([]float64, error) {
	y := append([]float64(nil), x...)
	free := Fractional(x)
	rows = independent(restricted(rows, free))
	if len(free) <= len(rows) {
		return y, nil // nothing can move
	}
	moved, err := boxed(rows, restrict(x, free), restrict(cost, free))
	if err != nil {
		return nil, fmt.Errorf("vertex with %d free features and %d equations: %w", len(free), len(rows), err)
	}
	for j, i := range free {
		y[i] = snapped(moved[j])
	}
	return y, nil
}

// boxed solves the linear program min costᵀy, rows·y = rows·x, 0 ≤ y ≤ 1. Its standard form has y and the slacks 1-y.
func boxed(rows [][]float64, x, cost []float64) ([]float64, error) {
	n, equations := len(x), len(rows)
	a, b := mat.NewDense(equations+n, 2*n, nil), make([]float64, equations+n)
	for r, row := range rows {
		for i, v := range row {
			a.Set(r, i, v)
		}
		b[r] = dot(row, x)
	}
	for i := range n {
		a.Set(equations+i, i, 1)
		a.Set(equations+i, n+i, 1)
		b[equations+i] = 1
	}
	_, y, err := lp.Simplex(append(append([]float64(nil), cost...), make([]float64, n)...), a, b, simplexTolerance, nil)
	if err != nil {
		return nil, err
	}
	return y[:n], nil
}

func snapped(v float64) float64 {
	if r := math.Round(v); math.Abs(v-r) <= dust {
		return r
	}
	return v
}

func restricted(rows [][]float64, to []int) [][]float64 {
	out := make([][]float64, len(rows))
	for r, row := range rows {
		out[r] = restrict(row, to)
	}
	return out
}

func restrict(row []float64, to []int) []float64 {
	out := make([]float64, len(to))
	for j, i := range to {
		out[j] = row[i]
	}
	return out
}

// independent returns orthonormal rows that span the same equations: the simplex wants full rank, and where features
// tie or repeat the rows depend on each other. What is left of a row below the tolerance is rounding.
func independent(rows [][]float64) [][]float64 {
	const tolerance = 1e-9
	var basis [][]float64
	for _, row := range rows {
		size := math.Sqrt(dot(row, row))
		rest := append([]float64(nil), row...)
		for range 2 { // the second time takes what rounding left
			for _, e := range basis {
				subtract(rest, e, dot(rest, e))
			}
		}
		if left := math.Sqrt(dot(rest, rest)); left > tolerance*size {
			scale(rest, 1/left)
			basis = append(basis, rest)
		}
	}
	return basis
}

func subtract(v, e []float64, by float64) {
	for i := range v {
		v[i] -= by * e[i]
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}
