package solver

import (
	"bytes"
	"encoding/gob"
	"testing"
)

func TestJointSelectorAgreesWithTheResult(t *testing.T) {
	rng := random(20)
	for range 120 {
		m, classes := 1+rng.IntN(40), 1+rng.IntN(8)
		kind, counts := jointInstance(rng, m, classes)
		if isZero(counts) {
			continue
		}
		for _, model := range []Model{Multinomial, Bernoulli} {
			p, _ := jointProblemOf(t, counts, 0, float64(rng.IntN(2)))
			p.Model, p.Documents = model, make([]float64, classes)
			for c := range p.Documents {
				p.Documents[c] = 1e17 * float64(1+c)
			}
			for k := int64(0); k <= int64(m); k += 1 + int64(rng.IntN(3)) {
				p.K = k
				r := mustJoint(t, p, Settings{})
				// The selector travels to the workers in a record.
				var b bytes.Buffer
				if err := gob.NewEncoder(&b).Encode(r.Selector(p)); err != nil {
					t.Fatal(err)
				}
				var s JointSelector
				if err := gob.NewDecoder(&b).Decode(&s); err != nil {
					t.Fatal(err)
				}
				selects := s.Rule()
				for i := range p.Len() {
					classes, counts, size := p.At(i)
					n, all := selects(classes, counts)
					if all {
						n = size
					}
					if n != r.Take[i] {
						t.Fatalf("%s %v m=%d k=%d: the selector takes %d features of %v %v, the result %d", kind, model, m, k, n, classes, counts, r.Take[i])
					}
				}
			}
		}
	}
}

// Most features are told by their score; only those near the threshold are listed.
func TestJointSelectorIsSmall(t *testing.T) {
	p := jointText(2000, 8)
	p.K = 200
	r := mustJoint(t, p, Settings{})
	if near := len(r.Selector(p).Near); near > p.Len()/20 {
		t.Errorf("%d of %d vectors are listed", near, p.Len())
	}
}
