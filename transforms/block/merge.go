package block

import (
	"bytes"
	"cmp"
	"slices"
)

// Source is a sorted list of features to merge: a Reader, or a table of counts.
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

// Merge adds the counts of blocks and returns one block of any size.
func Merge(keys Keys, classes *Classes, blocks ...[]byte) ([]byte, error) {
	sources, err := OpenAll(keys, classes, blocks)
	if err != nil {
		return nil, err
	}
	merged := Zero()
	w := Writer{Limit: int(^uint(0) >> 1), Classes: classes.ids, Emit: func(b []byte) error { merged = b; return nil }}
	if err := MergeSources(sources, len(classes.ids), w.Add); err != nil {
		return nil, err
	}
	err = w.Flush()
	return merged, err
}

// OpenAll opens blocks for MergeSources.
func OpenAll(keys Keys, classes *Classes, blocks [][]byte) (sources []Source, err error) {
	for _, b := range blocks {
		r, err := Open(b, keys, classes)
		if err != nil {
			return nil, err
		}
		sources = append(sources, r)
	}
	return sources, nil
}

// MergeSources calls visit once for each feature of the sources, in order, with the sum of its counts over all sources.
// classes is the number of classes. The feature is valid only during the call.
func MergeSources(sources []Source, classes int, visit func(*Feature) error) error {
	t, err := newTree(sources)
	if err != nil {
		return err
	}
	total := adder{sums: make([]Count, classes)}
	var merged Feature
	var name []byte
	for t.left > 0 {
		first := t.first()
		if t.alone() {
			if err := visit(first); err != nil {
				return err
			}
			if err := t.advance(); err != nil {
				return err
			}
			continue
		}
		name = append(name[:0], first.Name...)
		merged.Key, merged.Name = first.Key, name
		for t.left > 0 && t.first().Key == merged.Key && bytes.Equal(t.first().Name, name) {
			if err := total.add(t.first().Counts); err != nil {
				return err
			}
			if err := t.advance(); err != nil {
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

// take appends the sums to counts, sorted by class, and resets them to zero.
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
