package block

import (
	"bytes"
	"cmp"
	"slices"
)

// Source is a sorted list of features that can be merged: a Reader, or a table of counts.
type Source interface {
	Next() bool
	Feature() *Feature
	Err() error
}

func compare(key uint64, name []byte, key2 uint64, name2 []byte) int {
	if c := cmp.Compare(key, key2); c != 0 {
		return c
	}
	return bytes.Compare(name, name2)
}

// Merge adds the counts of blocks. It returns one block, however large.
func Merge(keys Keys, blocks ...[]byte) ([]byte, error) {
	labels, sources, err := OpenAll(keys, blocks)
	if err != nil {
		return nil, err
	}
	merged := Zero()
	w := Writer{Limit: int(^uint(0) >> 1), Labels: labels, Emit: func(b []byte) error { merged = b; return nil }}
	if err := MergeSources(sources, len(labels), w.Add); err != nil {
		return nil, err
	}
	err = w.Flush()
	return merged, err
}

// OpenAll opens blocks for MergeSources: it returns all their labels and more, sorted, and sources that count by them.
func OpenAll(keys Keys, blocks [][]byte, more ...string) (labels []string, sources []Source, err error) {
	labels = slices.Clone(more)
	readers := make([]*Reader, len(blocks))
	for i, b := range blocks {
		if readers[i], err = Open(b, keys); err != nil {
			return nil, nil, err
		}
		labels = append(labels, readers[i].Labels()...)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	index := make(map[string]int, len(labels))
	for i, label := range labels {
		index[label] = i
	}
	for _, r := range readers {
		r.Remap(index)
		sources = append(sources, r)
	}
	return labels, sources, nil
}

// MergeSources calls visit with every feature of the sources, in order, with the sum of its counts. The feature is
// valid during the call only.
func MergeSources(sources []Source, classes int, visit func(*Feature) error) error {
	h := make(heap, 0, len(sources))
	for _, s := range sources {
		if err := h.push(s); err != nil {
			return err
		}
	}
	h.build()
	total := adder{sums: make([]Count, classes)}
	var merged Feature
	var name []byte
	for len(h) > 0 {
		if h.alone() {
			if err := visit(h[0].feature); err != nil {
				return err
			}
			if err := h.advance(); err != nil {
				return err
			}
			continue
		}
		first := h[0].feature
		name = append(name[:0], first.Name...)
		merged.Key, merged.Name = first.Key, name
		for len(h) > 0 && h[0].key == merged.Key && bytes.Equal(h[0].feature.Name, name) {
			if err := total.add(h[0].feature.Counts); err != nil {
				return err
			}
			if err := h.advance(); err != nil {
				return err
			}
		}
		merged.Counts = total.take(merged.Counts[:0])
		if err := visit(&merged); err != nil {
			return err
		}
	}
	return nil
}

// adder sums the counts of one feature by class.
type adder struct {
	sums    []Count
	touched []int
}

func (a *adder) add(counts []Count) (err error) {
	for _, c := range counts {
		s := &a.sums[c.Class]
		if s.Occurrences == 0 {
			a.touched = append(a.touched, c.Class)
		}
		if s.Occurrences, err = addCounts(s.Occurrences, c.Occurrences); err != nil {
			return err
		}
		s.Documents += c.Documents
	}
	return nil
}

// take appends the sums to counts, sorted by class, and starts again from nothing.
func (a *adder) take(counts []Count) []Count {
	slices.Sort(a.touched)
	for _, class := range a.touched {
		s := &a.sums[class]
		counts = append(counts, Count{Class: class, Occurrences: s.Occurrences, Documents: s.Documents})
		*s = Count{}
	}
	a.touched = a.touched[:0]
	return counts
}

// heap holds the sources that have a feature left, the one with the least feature first.
type heap []head

// head is a source at its next feature.
type head struct {
	key     uint64 // of the feature
	feature *Feature
	source  Source
}

// alone reports whether no other source can have the first feature: none has its key.
func (h heap) alone() bool {
	return (len(h) < 2 || h[1].key != h[0].key) && (len(h) < 3 || h[2].key != h[0].key)
}

func (h heap) less(i, j int) bool {
	a, b := &h[i], &h[j]
	return a.key < b.key || a.key == b.key && bytes.Compare(a.feature.Name, b.feature.Name) < 0
}

func (h *heap) push(s Source) error {
	if s.Next() {
		f := s.Feature()
		*h = append(*h, head{f.Key, f, s})
	}
	return s.Err()
}

func (h heap) build() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// advance moves the first source to its next feature.
func (h *heap) advance() error {
	first := &(*h)[0]
	s := first.source
	if s.Next() {
		first.feature = s.Feature()
		first.key = first.feature.Key
	} else {
		last := len(*h) - 1
		(*h)[0] = (*h)[last]
		*h = (*h)[:last]
	}
	h.sink(0)
	return s.Err()
}

func (h heap) sink(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
