package solver

import (
	"bytes"
	"encoding/gob"
	"errors"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

func TestSelectorAgreesWithTheResult(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(4)
	for range solvertest.Count(500) {
		m := 1 + rng.IntN(60)
		kind, positive, negative := solvertest.Instance(rng, m)
		switch rng.IntN(8) { // one class without any mass
		case 0:
			clear(positive)
		case 1:
			clear(negative)
		}
		groups, _ := GroupFeatures(positive, negative)
		for _, model := range []Model{Multinomial, Bernoulli} {
			p := Problem{Groups: groups, Model: model, Smoothing: float64(rng.IntN(2)), DocumentsPositive: 1e17, DocumentsNegative: 2e17}
			for k := range int64(m + 1) {
				p.K = k
				r, err := Solve(p, Settings{})
				if errors.Is(err, ErrNoMass) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				s := r.Selector(p)
				if k%8 == 0 { // workers receive the selector encoded
					s = encoded(t, s)
				}
				for i, g := range groups {
					n, all := s.Selects(g.Positive, g.Negative)
					if all {
						n = g.Size
					}
					if n != r.Take[i] {
						t.Fatalf("%s %v m=%d k=%d: the selector takes %d features of %+v, the result %d", kind, model, m, k, n, g, r.Take[i])
					}
				}
			}
		}
	}
}

// encoded encodes a selector and decodes it again.
func encoded(t *testing.T, s Selector) (decoded Selector) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}
