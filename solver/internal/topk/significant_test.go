package topk

import (
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// P(χ² ≥ x) from tables.
func TestChiSquareTail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x       float64
		freedom int
		want    float64
	}{{3.841459, 1, 0.05}, {5.991465, 2, 0.05}, {30.14353, 19, 0.05}, {10.82757, 1, 0.001}, {43.8202, 19, 0.001}} {
		solvertest.Near(t, "the tail", ChiSquareTail(c.x/2, c.freedom), c.want, 1e-5*c.want)
	}
}
