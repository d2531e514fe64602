package kernel

import (
	"math"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// Config is what a Counter needs to know. The zero value counts words with full keys, in tables without a limit.
type Config struct {
	Analyzer    Analyzer
	StopWords   [][]byte   // in lower case; for words only
	HashBits    int        // features are counted in 2^HashBits buckets; 0 means by name
	Only        *Buckets   // features of other buckets are not counted, if it is not nil
	KeyBits     int        // leading bits of the keys in use, and then none of the checks; 0 means all. Only tests make them collide.
	MemoryBytes func() int // how much the tables may take; above it Full reports true; nil means no limit
	Distinct    *Sketch    // notes every feature, if it is not nil

	// Admit is asked about every class that is new, if it is not nil. Documents of a class that it refuses are not
	// counted, and Full reports true.
	Admit func(label string) bool
}

// Keys returns the function from names to keys that the counter's blocks are sorted by.
func (c Config) Keys() block.Keys {
	switch {
	case c.HashBits > 0:
		return bucketKeys(c.HashBits)
	case c.KeyBits > 0:
		return block.NarrowKeys(c.KeyBits)
	}
	return block.FullKeys
}

// narrow is which bits of a key and a check are in use.
type narrow struct {
	key   uint64 // those of the key
	check uint64 // those of the check that are not: they are set
}

func (n narrow) of(key, check uint64) (uint64, uint64) { return key & n.key, check | n.check }

// narrow returns the bits in use. Where a test narrows the keys, every check is that of a long name, and names decide.
func (c Config) narrow() narrow {
	switch {
	case c.HashBits > 0:
		return narrow{key: block.KeyMask(c.HashBits)}
	case c.KeyBits > 0:
		return narrow{block.KeyMask(c.KeyBits), ^uint64(0)}
	}
	return narrow{key: ^uint64(0)}
}

// Class is what a Counter knows of a class besides its features.
type Class struct {
	Documents int64 // all of them, also those without a word
	Tokens    int64 // words that were counted: the sum of all occurrences
	Postings  int64 // pairs of a document and a word in it: the sum of all document counts
}

// Counter counts features and the documents they occur in, per class. It is for one goroutine.
type Counter struct {
	config   Config
	narrow   narrow
	words    Words
	grams    grams
	stop     *table // the stop words, where features are not single words
	batch    []occurrence
	touched  uint32 // keeps the compiler from dropping loads
	classes  map[string]*class
	memory   int   // of the tables
	full     bool  // a count may overflow soon, or the tables may not grow
	overlong int64 // occurrences of features longer than MaxName, which are dropped
	stopped  int64 // occurrences of stop words
}

type class struct {
	Class
	id    block.ClassID
	table *table
	// document numbers the documents since the table was reset, for entry.last.
	document uint32
	seen     int64 // occurrences in the table
}

// NewCounter returns a counter that has counted nothing.
func NewCounter(config Config) *Counter {
	c := &Counter{config: config, narrow: config.narrow(), classes: map[string]*class{}}
	if !c.single() && len(config.StopWords) > 0 {
		c.stop = newTable()
		c.stop.reset(config.StopWords, narrow{key: ^uint64(0)})
		c.config.StopWords = nil
	}
	return c
}

// single reports whether the features are all words, by their names: the loop for them is the fastest.
func (c *Counter) single() bool {
	return c.config.Analyzer.words() && c.config.HashBits == 0 && c.config.Only == nil
}

// Add counts one document. Bytes of the label that are not UTF-8 are replaced.
func (c *Counter) Add(label, text []byte) {
	if !utf8.Valid(label) {
		label = c.words.replace(label)
	}
	cl := c.classes[string(label)]
	if cl == nil {
		if cl = c.newClass(string(label)); cl == nil {
			c.full = true
			return
		}
	}
	if cl.table == nil {
		cl.table = newTable()
		cl.table.reset(c.config.StopWords, c.narrow)
		c.memory += cl.table.bytes()
	}
	cl.Documents++
	cl.document++
	c.words.fold(text)
	switch {
	case !c.single():
		c.countGrams(cl)
	case len(cl.table.entries) >= farEntries:
		c.countFarWords(cl)
	default:
		c.countWords(cl)
	}
	// A document has fewer than 2³⁰ occurrences of a feature, and names of less than 3 GB (MaxNameBytes).
	if cl.seen > math.MaxUint32/2 || cl.document > math.MaxUint32/2 || cl.table.named > maxNameBytes || c.over() {
		c.full = true
	}
}

// newClass returns a class that has no documents yet, or nil if it is not admitted.
func (c *Counter) newClass(label string) *class {
	if c.config.Admit != nil && !c.config.Admit(label) {
		return nil
	}
	cl := &class{id: block.IDOf(label)}
	c.classes[label] = cl
	return cl
}

// countWords adds the words of one document to the table of its class.
func (c *Counter) countWords(cl *class) {
	c.words.findEdges()
	t, document, narrow := cl.table, cl.document, c.narrow
	text, edges := c.words.lower, c.words.edges
	for ; len(edges) >= 2; edges = edges[2:] {
		start, end := int(edges[0]), int(edges[1])
		if end-start <= utf8.UTFMax && !isWord(text[start], end-start) {
			continue
		}
		key, check := narrow.of(feature.HashAt(text, start, end))
		var e *entry
		if feature.IsLong(check) {
			e = t.findLong(key, check, text[start:end])
		} else {
			e = t.find(key, check)
		}
		if e.name == 0 {
			if end-start > MaxName {
				c.overlong++
				continue
			}
			e = c.insert(t, key, check, text[start:end])
		}
		e.occur(document)
		cl.seen++
	}
}

// occurrence is a feature that was found in a text, before it is counted.
type occurrence struct {
	key, check uint64
	start, end int32
}

// batchSize is how many occurrences are looked up at once.
const batchSize = 64

// farEntries is the size of a table of which most does not lie in a cache near the processor.
const farEntries = 1 << 19

// countFarWords is countWords for a large table.
func (c *Counter) countFarWords(cl *class) {
	c.words.findEdges()
	text, edges := c.words.lower, c.words.edges
	for ; len(edges) >= 2; edges = edges[2:] {
		start, end := edges[0], edges[1]
		if end-start <= utf8.UTFMax && !isWord(text[start], int(end-start)) {
			continue
		}
		c.add(cl, text, start, end)
	}
	c.countBatch(cl, text)
}

// countGrams adds the n-grams of one document to the table of its class.
func (c *Counter) countGrams(cl *class) {
	g, a := &c.grams, c.config.Analyzer
	switch a.Unit {
	case Word:
		c.words.findEdges()
		g.splitWords(&c.words, c.isStopped())
	case Char:
		g.splitChars(c.words.Text())
	case CharWB:
		g.splitCharsOfWords(c.words.Text())
	}
	least, most := a.Sizes()
	begin := int32(0)
	for _, end := range g.runs {
		starts := g.starts[begin:end]
		begin = end
		units := len(starts) - 1
		for n := least; n <= most; n++ {
			if a.Unit == CharWB && units <= n { // a short word is counted once
				c.add(cl, g.text, starts[0], starts[units])
				break
			}
			for i := 0; i+n <= units; i++ {
				c.add(cl, g.text, starts[i], starts[i+n]-g.gap)
			}
		}
	}
	c.countBatch(cl, g.text)
}

// isStopped returns the function that tells stop words, and counts them, or nil if there are none.
func (c *Counter) isStopped() func(text []byte, start, end int) bool {
	if c.stop == nil {
		return nil
	}
	return func(text []byte, start, end int) bool {
		key, check := feature.HashAt(text, start, end)
		if c.stop.findNamed(key, check, text[start:end]).name == 0 {
			return false
		}
		c.stopped++
		return true
	}
}

// add adds text[start:end] to the batch, which is counted when it has its size.
func (c *Counter) add(cl *class, text []byte, start, end int32) {
	if end-start > MaxName {
		c.overlong++
		return
	}
	key, check := feature.HashAt(text, int(start), int(end))
	if c.config.Only != nil && !c.config.Only.Has(key) {
		return
	}
	key, check = c.narrow.of(key, check)
	c.batch = append(c.batch, occurrence{key, check, start, end})
	if len(c.batch) == batchSize {
		c.countBatch(cl, text)
	}
}

// countBatch counts what is in the batch. A large table is in memory, which takes its time to answer but answers several
// questions at once; so all entries are loaded first.
func (c *Counter) countBatch(cl *class, text []byte) {
	t, document, hashed := cl.table, cl.document, c.config.HashBits > 0
	var touched uint32
	for i := range c.batch {
		touched += t.entries[c.batch[i].key>>t.shift].last
	}
	c.touched = touched
	for i := range c.batch {
		o := &c.batch[i]
		if hashed {
			o.check = 0
		}
		var e *entry
		if feature.IsLong(o.check) {
			e = t.findLong(o.key, o.check, text[o.start:o.end])
		} else {
			e = t.find(o.key, o.check)
		}
		if e.name == 0 {
			e = c.insert(t, o.key, o.check, text[o.start:o.end])
		}
		e.occur(document)
		cl.seen++
	}
	c.batch = c.batch[:0]
}

// insert adds a feature that the table does not have, with a name of at most MaxName bytes.
func (c *Counter) insert(t *table, key, check uint64, name []byte) *entry {
	if t.crowded() {
		c.makeRoom(t)
	}
	if c.config.Distinct != nil {
		c.config.Distinct.Add(key)
	}
	if c.config.HashBits > 0 {
		name = nil
	}
	before := t.bytes()
	e := t.insert(key, check, name)
	c.memory += t.bytes() - before
	return e
}

// over reports whether the tables take more memory than they may: a class or a name that is new takes some, too.
func (c *Counter) over() bool {
	return c.config.MemoryBytes != nil && c.memory > c.config.MemoryBytes()
}

// makeRoom lets a table grow. One that may not is used beyond what keeps it fast until it is flushed.
func (c *Counter) makeRoom(t *table) {
	if c.config.MemoryBytes != nil && c.memory+t.growth() > c.config.MemoryBytes() {
		c.full = true
		if !t.packed() {
			return
		}
	}
	before := t.bytes()
	t.grow()
	c.memory += t.bytes() - before
}

// Bytes is how much memory the tables take.
func (c *Counter) Bytes() int { return c.memory }

// Full reports whether the tables should be flushed.
func (c *Counter) Full() bool { return c.full }

// Totals is what a counter has counted besides the features themselves. It is complete after a Flush.
type Totals struct {
	Classes  map[string]Class
	Replaced int64 // sequences of bytes that were not UTF-8
	Overlong int64 // occurrences of features longer than MaxName, which were dropped
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
