package kernel

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// Config is what a Counter needs to know. The zero value counts words with full keys, in tables without a limit.
type Config struct {
	StopWords   [][]byte // in lower case
	KeyBits     int      // leading bits of the keys in use; 0 means all. Only tests make keys collide.
	MemoryBytes int      // of the tables, above which Full reports true; 0 means no limit
	Distinct    *Sketch  // notes every feature, if it is not nil
}

// Keys returns the function from names to keys that the counter's blocks are sorted by.
func (c Config) Keys() block.Keys {
	if c.KeyBits == 0 {
		return block.FullKeys
	}
	return block.NarrowKeys(c.KeyBits)
}

// Class is what a Counter knows of a class besides its features.
type Class struct {
	Documents int64 // all of them, also those without a word
	Tokens    int64 // words that were counted: the sum of all occurrences
	Postings  int64 // pairs of a document and a word in it: the sum of all document counts
}

// Counter counts words and the documents they occur in, per class. It is for one goroutine.
type Counter struct {
	config   Config
	mask     uint64
	words    Words
	classes  map[string]*class
	memory   int   // of what the tables hold
	full     bool  // a count may overflow soon
	overlong int64 // occurrences of words longer than MaxName
	stopped  int64 // occurrences of stop words
}

type class struct {
	Class
	table *table
	// document numbers the documents since the table was reset, for entry.last.
	document uint32
	seen     int64 // occurrences in the table
}

// NewCounter returns a counter that has counted nothing.
func NewCounter(config Config) *Counter {
	mask := ^uint64(0)
	if config.KeyBits > 0 {
		mask = block.KeyMask(config.KeyBits)
	}
	return &Counter{config: config, mask: mask, classes: map[string]*class{}}
}

// Add counts one document. Bytes of the label that are not UTF-8 are replaced.
func (c *Counter) Add(label, text []byte) {
	if !utf8.Valid(label) {
		label = c.words.replace(label)
	}
	cl := c.classes[string(label)]
	if cl == nil {
		cl = &class{}
		c.classes[string(label)] = cl
	}
	if cl.table == nil {
		cl.table = newTable()
		cl.table.reset(c.config.StopWords, c.mask)
		c.memory += entryBytes * len(cl.table.entries)
	}
	cl.Documents++
	cl.document++
	c.words.Split(text)
	c.count(cl)
	// A document has fewer than 2³¹ words.
	if cl.seen > math.MaxUint32/2 || cl.document > math.MaxUint32/2 || len(cl.table.names) > maxNames {
		c.full = true
	}
}

// count adds the words of one document to the table of its class.
func (c *Counter) count(cl *class) {
	t, document, mask := cl.table, cl.document, c.mask
	text, edges := c.words.lower, c.words.edges
	for ; len(edges) >= 2; edges = edges[2:] {
		start, end := int(edges[0]), int(edges[1])
		if end-start <= utf8.UTFMax && !isWord(text[start], end-start) {
			continue
		}
		key, check := feature.HashAt(text, start, end)
		key &= mask
		e := t.find(key, check)
		if e == nil || e.name == 0 {
			if e = c.insert(t, key, check, text[start:end]); e == nil {
				continue
			}
		}
		e.count++
		var first uint32
		if e.last != document {
			first = 1
		}
		e.documents += first
		e.last = document
		cl.seen++
	}
}

// insert adds a word that the table does not have. It returns nil if the word is too long to be counted.
func (c *Counter) insert(t *table, key uint64, check uint32, name []byte) *entry {
	if len(name) > MaxName {
		c.overlong++
		return nil
	}
	c.memory += 2*entryBytes + len(name)
	if c.config.Distinct != nil {
		c.config.Distinct.Add(key)
	}
	return t.insert(key, check, name)
}

// entryBytes is the memory of an entry; the table is half empty.
const entryBytes = 32

// Full reports whether the tables should be flushed.
func (c *Counter) Full() bool {
	return c.full || c.config.MemoryBytes > 0 && c.memory > c.config.MemoryBytes
}

// Flush writes everything counted since the last Flush as sorted blocks of at most limit bytes, none of which has
// features of more than one of the shards, and empties the tables.
func (c *Counter) Flush(shards, limit int, emit func(shard int, b []byte) error) error {
	labels := slices.Sorted(maps.Keys(c.classes))
	shard := 0
	w := block.Writer{Limit: limit, Labels: labels, Emit: func(b []byte) error { return emit(shard, b) }}
	tables := make([]*source, len(labels))
	sources := make([]block.Source, len(labels))
	for i, label := range labels {
		tables[i] = &source{table: c.classes[label].table, class: i}
		if t := tables[i].table; t != nil {
			tables[i].entries = t.sorted()
		}
		sources[i] = tables[i]
	}
	err := block.MergeSources(sources, len(labels), func(f *block.Feature) error {
		if s := feature.Shard(f.Key, shards); s != shard {
			if err := w.Flush(); err != nil {
				return err
			}
			shard = s
		}
		for _, n := range f.Counts {
			c.classes[labels[n.Class]].Postings += n.Documents
		}
		return w.Add(f)
	})
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, label := range labels {
		cl, stopped := c.classes[label], tables[i].stopped
		c.stopped += stopped
		cl.Tokens += cl.seen - stopped
		cl.seen, cl.document = 0, 0
		if len(labels) > keptTables {
			cl.table = nil
		} else if cl.table != nil {
			cl.table.reset(c.config.StopWords, c.mask)
		}
	}
	c.memory, c.full = 0, false
	return nil
}

// keptTables is how many classes keep their tables from one flush to the next. Of many more, only some come back soon.
const keptTables = 64

// Totals is what a counter has counted besides the features themselves. It is complete after a Flush.
type Totals struct {
	Classes  map[string]Class
	Replaced int64 // sequences of bytes that were not UTF-8
	Overlong int64 // occurrences of words longer than MaxName, which were dropped
	Stopped  int64 // occurrences of stop words
}

// TakeTotals returns the totals since the last call, and starts again from zero.
func (c *Counter) TakeTotals() Totals {
	t := Totals{Classes: map[string]Class{}, Replaced: c.words.Replaced, Overlong: c.overlong, Stopped: c.stopped}
	for label, cl := range c.classes {
		if cl.Documents > 0 {
			t.Classes[label] = cl.Class
		}
		if cl.Class = (Class{}); cl.table == nil {
			delete(c.classes, label)
		}
	}
	c.words.Replaced, c.overlong, c.stopped = 0, 0, 0
	return t
}
