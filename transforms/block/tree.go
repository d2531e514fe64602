package block

import (
	"bytes"
	"math"
)

// tree finds the least of the features that sources have next: a tournament, of which every inner node keeps the loser of
// its match, so that a source that has moved on plays again only those on its way up. A match is decided by two keys that
// lie together, which takes a third of the time of a heap of sources.
type tree struct {
	keys     []uint64   // of the next features, by source; the largest there is where a source has ended
	features []*Feature // the next features, nil where a source has ended
	sources  []Source
	losers   []int32 // by inner node, from 1 on; the parent of node n is n/2, that of source i is (i+len(sources))/2
	winner   int32
	left     int // sources that have not ended
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

// first is the least feature.
func (t *tree) first() *Feature { return t.features[t.winner] }

// alone reports whether no other source has the first feature: none on its way up has its key.
func (t *tree) alone() bool {
	key := t.keys[t.winner]
	for n := (int(t.winner) + len(t.sources)) / 2; n > 0; n /= 2 {
		if t.keys[t.losers[n]] == key {
			return false
		}
	}
	return true
}

// advance moves the source of the first feature on.
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
