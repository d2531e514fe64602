package joint

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

func TestSelectorAgreesWithTheResult(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(20)
	for range solvertest.Count(120) {
		m, classes := 1+rng.IntN(40), 1+rng.IntN(8)
		kind, counts := instance(rng, m, classes)
		if isZero(counts) {
			continue
		}
		for _, model := range []solver.Model{solver.Multinomial, solver.Bernoulli} {
			p, _ := problemOf(t, counts, 0, float64(rng.IntN(2)))
			p.Model, p.Documents = model, make([]float64, classes)
			for c := range p.Documents {
				p.Documents[c] = 1e17 * float64(1+c)
			}
			for k := int64(0); k <= int64(m); k += 1 + int64(rng.IntN(3)) {
				p.K = k
				r := mustSolve(t, p, solver.Settings{})
				// The selector travels to the workers in a record.
				var b bytes.Buffer
				if err := gob.NewEncoder(&b).Encode(r.Selector(p)); err != nil {
					t.Fatal(err)
				}
				var s Selector
				if err := gob.NewDecoder(&b).Decode(&s); err != nil {
					t.Fatal(err)
				}
				selects := s.Rule()
				for i := range p.Len() {
					classes, counts := p.Entries(i)
					n, all := selects(classes, counts)
					if all {
						n = p.Size(i)
					}
					if n != r.Take[i] {
						t.Fatalf("%s %v m=%d k=%d: the selector takes %d features of %v %v, the result %d", kind, model, m, k, n, classes, counts, r.Take[i])
					}
				}
			}
		}
	}
}

// solver.Most features are selected by their score; only those near the threshold are listed.
func TestSelectorIsSmall(t *testing.T) {
	t.Parallel()
	p := text(2000, 8)
	p.K = 200
	r := mustSolve(t, p, solver.Settings{})
	if near := len(r.Selector(p).Near); near > p.Len()/20 {
		t.Errorf("%d of %d vectors are listed", near, p.Len())
	}
}
