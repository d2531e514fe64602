package kernel

import (
	"bytes"
	"cmp"
	"slices"
	"unsafe"

	"github.com/sparsenb/sparsenb/feature"
)

// table counts the features of one class: an open-addressed hash table, probed linearly from the leading bits of the
// key. The bits put the entries almost in the order of their keys, which is the order of the blocks they end in.
type table struct {
	entries []entry // 2ⁿ slots, and some behind them so that probes need not wrap around; the last of all stays empty
	behind  int     // slots behind
	shift   int     // from a key to its slot
	used    int
	names   [][]byte // chunks, in which each name is its length, in two bytes, and its bytes
	spare   [][]byte // chunks that are free: memory that was touched before is the cheapest
	nameEnd int      // end of the last name, counted over all chunks as if each were full
	stop    uint32   // where the names of the features begin, behind those of the stop words
}

// entry is a feature of the table.
type entry struct {
	key       uint64
	check     uint64
	name      uint32 // where it stands in names, see table.nameOf; 0 marks an empty slot
	count     uint32
	documents uint32
	last      uint32 // the document that last had it
}

// occur counts an occurrence in a document, without a branch that the processor would have to guess.
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
	chunkBits      = 22      // of the size of a chunk of names
	maxNameBytes   = 1 << 29 // of a table before a document, whose own names are below the rest of the range of entry.name
	entryBytes     = 32      // half a cache line, so that finding a feature and counting it touches one
)

// MaxName is the length in bytes of the longest feature that is counted. Longer words are no words of a language; they are
// dropped, and counted as such.
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

// slots is the size of the table, but for those behind it.
func (t *table) slots() int { return len(t.entries) - t.behind }

// crowded reports whether the table should grow before it takes another feature.
func (t *table) crowded() bool { return 8*t.used >= 5*t.slots() }

// packed reports whether the table has to grow before it takes another feature.
func (t *table) packed() bool { return 4*t.used >= 3*t.slots() }

// growth is how much memory it takes to grow, during which the table is there twice.
func (t *table) growth() int { return entryBytes * t.slots() << t.step() }

// step is by how many bits a table grows: a small one to four times its size, so that few entries move more than once.
func (t *table) step() int {
	if 64-t.shift < largeTableBits-1 {
		return 2
	}
	return 1
}

// find returns the entry of a feature, which is new if its name is 0. Its check is not that of a long name.
func (t *table) find(key, check uint64) *entry {
	for i := key >> t.shift; ; i++ {
		e := &t.entries[i]
		if e.key == key && e.check == check || e.name == 0 {
			return e
		}
	}
}

// findLong is find for a feature that only its name tells from others.
func (t *table) findLong(key, check uint64, name []byte) *entry {
	for i := key >> t.shift; ; i++ {
		e := &t.entries[i]
		if e.name == 0 || e.key == key && e.check == check && bytes.Equal(t.nameOf(e), name) {
			return e
		}
	}
}

// findNamed is find for any feature.
func (t *table) findNamed(key, check uint64, name []byte) *entry {
	if feature.IsLong(check) {
		return t.findLong(key, check, name)
	}
	return t.find(key, check)
}

// insert finds room for a feature that the table does not have, and gives it its name. Without one it has none.
func (t *table) insert(key, check uint64, name []byte) *entry {
	e := t.free(key)
	e.key, e.check, e.name = key, check, 1
	if name != nil {
		e.name = t.keep(name)
	}
	t.used++
	return e
}

// free returns the first empty slot for a key. Where that is the last of all, there must be more: twice as many behind the
// table, however many keys want to be there.
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

// keep appends a name to the last chunk, or starts another one.
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

// grow enlarges the table.
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

// forget drops all names. Place 0 is that of no name.
func (t *table) forget() {
	if len(t.names) == 0 {
		t.names = [][]byte{make([]byte, 1, 1<<10)}
	}
	t.spare = append(t.spare, t.names[1:]...)
	t.names[0], t.names = t.names[0][:1], t.names[:1]
	t.nameEnd = 1
}

// reset empties the table but for its stop words.
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

// sums are over the entries of a table.
type sums struct {
	documents int64
	stopped   int64 // occurrences of stop words
}

// sorted returns the entries but the stop words, in the order of their keys and names. It uses the table's own memory: only
// reset may come after it.
func (t *table) sorted() (used []entry, total sums) {
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
		if j > i+1 { // keys collide: the names decide
			slices.SortFunc(used[i:j], func(a, b entry) int { return bytes.Compare(t.nameOf(&a), t.nameOf(&b)) })
		}
		i = j
	}
	return used, total
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
