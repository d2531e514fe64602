package block

import (
	"bytes"
	"math"
)

// tree is a loser tree: a tournament that finds the smallest of the sources' next features. Each inner node keeps the loser
// of its match, so a source that has moved on plays again only against the losers on its path to the root. A match compares
// two keys that are close in memory, which takes a third of the time of a heap of sources.
type tree struct {
	keys     []uint64   // of the next features, by source; MaxUint64 where a source has ended
	features []*Feature // the next features, nil where a source has ended
	sources  []Source
	losers   []int32 // by inner node, from 1; the parent of node n is n/2, that of source i is (i+len(sources))/2
	winner   int32
	left     int // number of sources that have not ended
}

func newTree(sources []Source) (*tree, error) {
	k := len(sources)
	t := &tree{make([]uint64, k), make([]*Feature, k), sources, make([]int32, k), 0, k}
	winners := make([]int32, 2*k)
	for i := range sources {
		winners[k+i] = int32(i)
		if err := t.next(int32(i)); err != nil {
			return nil, err
		}
	}
	for n := k - 1; n > 0; n-- {
		a, b := winners[2*n], winners[2*n+1]
		if t.less(b, a) {
			a, b = b, a
		}
		winners[n], t.losers[n] = a, b
	}
	if k > 1 {
		t.winner = winners[1]
	}
	return t, nil
}

// next moves a source to its next feature.
func (t *tree) next(i int32) error {
	s := t.sources[i]
	if s.Next() {
		f := s.Feature()
		t.features[i], t.keys[i] = f, f.Key
		return nil
	}
	t.features[i], t.keys[i] = nil, math.MaxUint64
	t.left--
	return s.Err()
}

func (t *tree) less(i, j int32) bool {
	if t.keys[i] != t.keys[j] {
		return t.keys[i] < t.keys[j]
	}
	a, b := t.features[i], t.features[j]
	return a != nil && (b == nil || bytes.Compare(a.Name, b.Name) < 0)
}

// first returns the smallest feature.
func (t *tree) first() *Feature { return t.features[t.winner] }

// alone reports whether no other source has the first feature's key: no loser on its path to the root has.
func (t *tree) alone() bool {
	key := t.keys[t.winner]
	for n := (int(t.winner) + len(t.sources)) / 2; n > 0; n /= 2 {
		if t.keys[t.losers[n]] == key {
			return false
		}
	}
	return true
}

// advance moves the source of the first feature to its next one.
func (t *tree) advance() error {
	w := t.winner
	err := t.next(w)
	for n := (int(w) + len(t.sources)) / 2; n > 0; n /= 2 {
		if t.less(t.losers[n], w) {
			w, t.losers[n] = t.losers[n], w
		}
	}
	t.winner = w
	return err
}
