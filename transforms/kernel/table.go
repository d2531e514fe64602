package kernel

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// table counts the features of one class: an open-addressed hash table, probed linearly from the leading bits of the
// key. The bits put the entries almost in the order of their keys, which is the order of the blocks they end in.
type table struct {
	entries []entry // 2ⁿ slots, and room behind them so that probes need not wrap around
	shift   int     // from a key to its slot
	used    int
	names   []byte // each is its length, in two bytes, and its bytes
}

// entry is half a cache line, so that finding a feature and counting it touches one.
type entry struct {
	key       uint64
	check     uint32
	name      uint32 // where it stands in names; 0 marks an empty slot
	count     uint32
	documents uint32
	last      uint32 // the document that last had it
	stopped   bool   // a stop word: it is found, but not emitted
}

const (
	minTableBits   = 6
	largeTableBits = 16
	behind         = 64      // slots behind the table
	maxNames       = 1 << 31 // bytes of names, well below the range of entry.name
)

// MaxName is the length in bytes of the longest word that is counted. Longer ones are no words of a language; they are
// dropped, and counted as such.
const MaxName = 1<<16 - 1

func newTable() *table {
	t := &table{names: make([]byte, 1, 1<<10)}
	t.allocate(minTableBits)
	return t
}

func (t *table) allocate(bits int) {
	t.entries = make([]entry, 1<<bits+behind)
	adviseHugePages(t.entries)
	t.shift = 64 - bits
}

// find returns the entry of a feature, which is new if its name is 0. It returns nil if there is no room near the
// feature's slot.
func (t *table) find(key uint64, check uint32) *entry {
	for i := key >> t.shift; i < uint64(len(t.entries)); i++ {
		e := &t.entries[i]
		if e.key == key && e.check == check || e.name == 0 {
			return e
		}
	}
	return nil
}

// insert finds room for a feature that the table does not have, and gives it its name.
func (t *table) insert(key uint64, check uint32, name []byte) *entry {
	if 2*t.used >= len(t.entries)-behind {
		t.grow()
	}
	e := t.find(key, check)
	for e == nil {
		t.grow()
		e = t.find(key, check)
	}
	e.key, e.check, e.name = key, check, uint32(len(t.names))
	t.names = append(t.names, byte(len(name)), byte(len(name)>>8))
	t.names = append(t.names, name...)
	t.used++
	return e
}

// grow enlarges the table until every entry has a slot: a small one to four times its size, so that few entries move
// more than once.
func (t *table) grow() {
	old := t.entries
	bits := 64 - t.shift + 1
	if bits < largeTableBits {
		bits++
	}
	for ; ; bits++ {
		t.allocate(bits)
		if t.refill(old) {
			return
		}
	}
}

func (t *table) refill(old []entry) bool {
	for i := range old {
		if old[i].name == 0 {
			continue
		}
		e := t.find(old[i].key, old[i].check)
		if e == nil {
			return false
		}
		*e = old[i]
	}
	return true
}

func (t *table) nameOf(e *entry) []byte {
	n := int(t.names[e.name]) | int(t.names[e.name+1])<<8
	return t.names[e.name+2 : int(e.name)+2+n]
}

// reset empties the table but for its stop words.
func (t *table) reset(stopWords [][]byte, mask uint64) {
	clear(t.entries)
	t.used, t.names = 0, t.names[:1]
	for _, word := range stopWords {
		key, check := feature.Hash(word)
		if e := t.find(key&mask, check); e == nil || e.name == 0 {
			t.insert(key&mask, check, word).stopped = true
		}
	}
}

// sorted returns the entries in the order of their keys and names. It uses the table's own memory: only reset may come
// after it.
func (t *table) sorted() []entry {
	used := t.entries[:0]
	for i := range t.entries {
		if t.entries[i].name != 0 {
			used = append(used, t.entries[i])
		}
	}
	if !insertionSort(used) {
		slices.SortFunc(used, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	}
	for i := 0; i < len(used); {
		j := i + 1
		for j < len(used) && used[j].key == used[i].key {
			j++
		}
		if j > i+1 { // keys collide: the names decide
			slices.SortFunc(used[i:j], func(a, b entry) int { return bytes.Compare(t.nameOf(&a), t.nameOf(&b)) })
		}
		i = j
	}
	return used
}

// insertionSort sorts entries by key if they are almost sorted, which they are unless the keys are very short. It gives
// up, and returns false, when entries are too far from their place.
func insertionSort(entries []entry) bool {
	moves := 16 * len(entries)
	for i := 1; i < len(entries); i++ {
		if entries[i-1].key <= entries[i].key {
			continue
		}
		e := entries[i]
		j := i
		for ; j > 0 && entries[j-1].key > e.key; j-- {
			entries[j] = entries[j-1]
			moves--
		}
		entries[j] = e
		if moves < 0 {
			return false
		}
	}
	return true
}

// source presents the sorted entries of a table to block.MergeSources.
type source struct {
	table   *table
	entries []entry
	class   int
	at      block.Feature
	stopped int64 // occurrences of stop words that were passed over
}

func (s *source) Next() bool {
	for len(s.entries) > 0 {
		e := &s.entries[0]
		s.entries = s.entries[1:]
		if e.stopped {
			s.stopped += int64(e.count)
			continue
		}
		s.at.Key, s.at.Name = e.key, s.table.nameOf(e)
		s.at.Counts = append(s.at.Counts[:0], block.Count{Class: s.class, Occurrences: int64(e.count), Documents: int64(e.documents)})
		return true
	}
	return false
}

func (s *source) Feature() *block.Feature { return &s.at }

func (s *source) Err() error { return nil }
