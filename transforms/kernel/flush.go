package kernel

import (
	"maps"
	"slices"
	"sort"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// Tables are the sorted features of a counter. They use the memory of its tables.
type Tables struct {
	labels   []string
	ids      []block.ClassID
	tables   []*table
	entries  [][]entry
	shards   int
	hashBits int
	real     bool
}

// Take returns the counts since the last Flush, and leaves the counter without tables.
func (c *Counter) Take(shards int) *Tables {
	t := c.sort(shards)
	for _, label := range t.labels {
		c.drop(c.classes[label])
	}
	c.full = false
	return t
}

// Flush emits the counts since the last Flush as sorted blocks of at most limit bytes, unless a single feature is larger,
// and empties the tables. A block has features of one shard, and shards come in order. emit may keep a block unless reuse
// is set.
func (c *Counter) Flush(shards, limit int, reuse bool, emit func(shard int, b []byte) error) error {
	t := c.sort(shards)
	shard := 0
	w := block.Writer{Limit: limit, Reuse: reuse, Classes: t.ids, Emit: func(b []byte) error { return emit(shard, b) }}
	err := block.MergeSources(t.all(), len(t.labels), func(f *block.Feature) error {
		if s := feature.Shard(f.Key, shards); s != shard {
			if err := w.Flush(); err != nil {
				return err
			}
			shard = s
		}
		return w.Add(f)
	})
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, label := range t.labels {
		cl := c.classes[label]
		if t := cl.table; t == nil || len(c.classes) > keptTables || 4*t.used < t.slots() {
			c.drop(cl)
		} else {
			c.memory -= t.bytes()
			t.reset(c.config.StopWords, c.narrow)
			c.memory += t.bytes()
		}
	}
	if c.over() { // the limit is lower than before
		for _, cl := range c.classes {
			c.drop(cl)
		}
	}
	c.full = false
	return nil
}

// keptTables is the largest number of classes that keep their tables after a flush. With more classes, most tables would
// stay nearly empty and take the memory that others need to grow.
const keptTables = 64

func (c *Counter) drop(cl *class) {
	if cl.table != nil {
		c.memory -= cl.table.bytes()
		cl.table = nil
	}
}

// sort sorts the tables and adds their sums to the classes.
func (c *Counter) sort(shards int) *Tables {
	t := &Tables{labels: slices.Sorted(maps.Keys(c.classes)), shards: shards, hashBits: c.config.HashBits, real: c.valued != nil}
	for _, label := range t.labels {
		cl := c.classes[label]
		t.ids = append(t.ids, cl.id)
		var entries []entry
		var total tableSums
		if cl.table != nil {
			entries, total = cl.table.sorted()
		}
		c.stopped += total.stopped
		cl.Tokens += cl.seen - total.stopped
		cl.Postings += total.documents
		cl.seen, cl.document = 0, 0
		t.tables = append(t.tables, cl.table)
		t.entries = append(t.entries, entries)
	}
	return t
}

// Bytes returns how much memory the tables take.
func (t *Tables) Bytes() (n int) {
	for _, table := range t.tables {
		if table != nil {
			n += table.bytes()
		}
	}
	return n
}

func (t *Tables) all() (sources []block.Source) {
	for i, entries := range t.entries {
		sources = append(sources, &source{table: t.tables[i], entries: entries, class: i, hashBits: t.hashBits, real: t.real})
	}
	return sources
}

// Shard returns the features of a shard, with classes numbered as in classes.
func (t *Tables) Shard(shard int, classes *block.Classes) (sources []block.Source, err error) {
	numbers, err := classes.Numbers(t.ids)
	if err != nil {
		return nil, err
	}
	for i, entries := range t.entries {
		from := sort.Search(len(entries), func(j int) bool { return feature.Shard(entries[j].key, t.shards) >= shard })
		entries = entries[from:]
		entries = entries[:sort.Search(len(entries), func(j int) bool { return feature.Shard(entries[j].key, t.shards) > shard })]
		if len(entries) > 0 {
			sources = append(sources, &source{table: t.tables[i], entries: entries, class: numbers[i], hashBits: t.hashBits, real: t.real})
		}
	}
	return sources, nil
}

// source presents the sorted entries of a table to block.MergeSources.
type source struct {
	table    *table
	entries  []entry
	class    int
	hashBits int
	real     bool // see entry.value
	at       block.Feature
	name     []byte
	ahead    int    // entries whose names are loaded
	touched  uint32 // keeps the compiler from removing loads
}

func (s *source) Next() bool {
	if len(s.entries) == 0 {
		return false
	}
	if s.ahead--; s.ahead < 0 && s.hashBits == 0 {
		s.load()
	}
	e := &s.entries[0]
	s.entries = s.entries[1:]
	s.at.Key = e.key
	if s.hashBits > 0 {
		s.name = AppendBucket(s.name[:0], e.key, s.hashBits)
		s.at.Name = s.name
	} else {
		s.at.Name = s.table.nameOf(e)
	}
	occurrences := int64(e.count)
	if s.real {
		occurrences = e.value()
	}
	s.at.Counts = append(s.at.Counts[:0], block.Count{Class: s.class, Occurrences: occurrences, Documents: int64(e.documents)})
	return true
}

// load loads the names of the next entries at once. They are not in the order of the entries, so few are in the cache, and
// the processor can wait for several loads at once.
func (s *source) load() {
	n := min(len(s.entries), batchSize)
	for i := range s.entries[:n] {
		name := s.entries[i].name
		s.touched += uint32(s.table.names[name>>chunkBits][name&(1<<chunkBits-1)])
	}
	s.ahead = n - 1
}

func (s *source) Feature() *block.Feature { return &s.at }

func (s *source) Err() error { return nil }
