package kernel

import (
	"bytes"
	"cmp"
	"slices"
	"unsafe"

	"github.com/sparsenb/sparsenb/feature"
)

// table counts the features of one class: an open-addressed hash table with linear probing. The slot is the leading bits of
// the key, so the entries are nearly sorted by key, which is the order of blocks.
type table struct {
	entries []entry // 2ⁿ slots, and more behind them so that probing does not wrap around; the last one stays empty
	behind  int     // number of slots behind the 2ⁿ
	shift   int     // from a key to its slot
	used    int
	names   [][]byte // chunks of names, each after its length in two bytes
	spare   [][]byte // free chunks, kept because the first use of new memory is slow
	nameEnd int      // end of the last name, counted over all chunks as if each were full
	stop    uint32   // start of the names of the features; those of the stop words are before
}

type entry struct {
	key       uint64
	check     uint64
	name      uint32 // place of the name, see table.nameOf; 0 marks an empty slot
	count     uint32
	documents uint32
	last      uint32 // number of the last document that had it
}

// occur counts an occurrence in a document, without a branch that the processor might mispredict.
func (e *entry) occur(document uint32) {
	e.count++
	var first uint32
	if e.last != document {
		first = 1
	}
	e.documents += first
	e.last = document
}

const (
	minTableBits   = 6
	largeTableBits = 16
	minBehind      = 64
	chunkBits      = 22      // a chunk of names has 2²² bytes
	maxNameBytes   = 1 << 29 // of a table before a document, so that entry.name has room for the names of the document
	entryBytes     = 32      // half a cache line, so that a lookup and its count touch one line
)

// MaxName is the length in bytes of the longest name of a feature. Features with longer names are dropped; Totals.Overlong
// has their number.
const MaxName = 1<<16 - 1

func newTable() *table {
	t := &table{behind: minBehind}
	t.allocate(minTableBits)
	t.forget()
	return t
}

func (t *table) allocate(bits int) {
	t.entries = make([]entry, 1<<bits+t.behind)
	adviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.entries))), entryBytes*len(t.entries)))
	t.shift = 64 - bits
}

// bytes is the memory that the table takes.
func (t *table) bytes() int { return entryBytes*len(t.entries) + t.chunks() }

func (t *table) chunks() int { return cap(t.names[0]) + (len(t.names)-1+len(t.spare))<<chunkBits }

// slots is the number of slots without those behind.
func (t *table) slots() int { return len(t.entries) - t.behind }

// crowded reports whether the table should grow before it takes another feature.
func (t *table) crowded() bool { return 8*t.used >= 5*t.slots() }

// packed reports whether the table must grow before it takes another feature.
func (t *table) packed() bool { return 4*t.used >= 3*t.slots() }

// growth is how much more memory the table takes while it grows, when the old and the new one exist.
func (t *table) growth() int { return entryBytes * t.slots() << t.step() }

// step is the number of bits by which the table grows. A small one grows to four times its size, to move entries less often.
func (t *table) step() int {
	if 64-t.shift < largeTableBits-1 {
		return 2
	}
	return 1
}

// find returns the entry of a feature with a short name, or an empty one, whose name is 0.
func (t *table) find(key, check uint64) *entry {
	for i := key >> t.shift; ; i++ {
		e := &t.entries[i]
		if e.key == key && e.check == check || e.name == 0 {
			return e
		}
	}
}

// findLong is find for a feature with a long name, for which the name itself is compared.
func (t *table) findLong(key, check uint64, name []byte) *entry {
	for i := key >> t.shift; ; i++ {
		e := &t.entries[i]
		if e.name == 0 || e.key == key && e.check == check && bytes.Equal(t.nameOf(e), name) {
			return e
		}
	}
}

// findNamed is find for a feature with any name.
func (t *table) findNamed(key, check uint64, name []byte) *entry {
	if feature.IsLong(check) {
		return t.findLong(key, check, name)
	}
	return t.find(key, check)
}

// insert adds a new feature. A nil name is not stored.
func (t *table) insert(key, check uint64, name []byte) *entry {
	e := t.free(key)
	e.key, e.check, e.name = key, check, 1
	if name != nil {
		e.name = t.keep(name)
	}
	t.used++
	return e
}

// free returns the first empty slot for a key. If it is the last slot, free doubles the number of slots behind the table, so
// that one stays empty.
func (t *table) free(key uint64) *entry {
	i := int(key >> t.shift)
	for t.entries[i].name != 0 {
		i++
	}
	if i == len(t.entries)-1 {
		old := t.entries
		t.behind *= 2
		t.allocate(64 - t.shift)
		copy(t.entries, old)
	}
	return &t.entries[i]
}

// keep appends a name to the last chunk, or to a new one, and returns its place.
func (t *table) keep(name []byte) uint32 {
	last := len(t.names) - 1
	if t.nameEnd-last<<chunkBits+2+len(name) > 1<<chunkBits {
		t.names = append(t.names, t.chunk())
		last++
		t.nameEnd = last << chunkBits
	}
	at := uint32(t.nameEnd)
	t.names[last] = append(append(t.names[last], byte(len(name)), byte(len(name)>>8)), name...)
	t.nameEnd += 2 + len(name)
	return at
}

// chunk returns an empty chunk for names.
func (t *table) chunk() []byte {
	if n := len(t.spare); n > 0 {
		c := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return c[:0]
	}
	c := make([]byte, 1<<chunkBits)
	adviseHugePages(c)
	return c[:0]
}

func (t *table) grow() {
	old := t.entries
	t.allocate(64 - t.shift + t.step())
	for i := range old {
		if old[i].name != 0 {
			*t.free(old[i].key) = old[i]
		}
	}
}

func (t *table) nameOf(e *entry) []byte {
	chunk, at := t.names[e.name>>chunkBits], int(e.name&(1<<chunkBits-1))
	n := int(chunk[at]) | int(chunk[at+1])<<8
	return chunk[at+2 : at+2+n]
}

// forget removes all names. No name has place 0.
func (t *table) forget() {
	if len(t.names) == 0 {
		t.names = [][]byte{make([]byte, 1, 1<<10)}
	}
	t.spare = append(t.spare, t.names[1:]...)
	t.names[0], t.names = t.names[0][:1], t.names[:1]
	t.nameEnd = 1
}

// reset empties the table and inserts the stop words.
func (t *table) reset(stopWords [][]byte, narrow narrow) {
	clear(t.entries)
	t.used = 0
	t.forget()
	for _, word := range stopWords {
		key, check := narrow.of(feature.Hash(word))
		if t.findNamed(key, check, word).name == 0 {
			t.insert(key, check, word)
			if t.crowded() {
				t.grow()
			}
		}
	}
	t.stop = uint32(t.nameEnd)
}

// tableSums are sums over the entries of a table.
type tableSums struct {
	documents int64
	stopped   int64 // occurrences of stop words
}

// sorted returns the entries without stop words, sorted by key and name. It reorders the table itself, which must be reset
// before it is used again.
func (t *table) sorted() (used []entry, total tableSums) {
	used = t.entries[:0]
	for i := range t.entries {
		e := &t.entries[i]
		switch {
		case e.name == 0:
		case e.name < t.stop:
			total.stopped += int64(e.count)
		default:
			total.documents += int64(e.documents)
			used = append(used, *e)
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
		if j > i+1 { // the keys collide: sort by name
			slices.SortFunc(used[i:j], func(a, b entry) int { return bytes.Compare(t.nameOf(&a), t.nameOf(&b)) })
		}
		i = j
	}
	return used, total
}

// insertionSort sorts entries by key if they are nearly sorted, which they are unless the keys are very short. It returns
// false if entries are too far from their place.
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
