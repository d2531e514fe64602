package kernel

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// Config configures a Counter. The zero value counts words by name, in tables without a limit.
type Config struct {
	Analyzer    Analyzer   // default: single words
	StopWords   [][]byte   // in lower case; only if the features are words or n-grams of words
	HashBits    int        // features are counted in 2^HashBits buckets, at most MaxHashBits; default: by name
	Only        *Buckets   // features of other buckets are skipped; default: none is
	MemoryBytes func() int // how much the tables may take now; above it Full reports true; default: no limit
	Distinct    *Sketch    // gets every feature; default: none
	Weights     Weights    // what is added up; default: occurrences. Real values need features by name, and no Only
	IDF         *IDF       // required with the scheme TFIDF

	// Admit is asked about every new class; default: all are admitted. Documents of a class that it refuses are not
	// counted, and Full reports true.
	Admit func(label string) bool

	visit func(name []byte) // of EachFeature: gets the features, which are then not counted
}

// Class has the totals of a class.
type Class struct {
	Documents int64 // including documents without features
	Tokens    int64 // the sum of all features' occurrences, or of their values in units
	Postings  int64 // the sum of all features' document frequencies
}

// Counter counts features and the documents they occur in, per class. It is for one goroutine.
type Counter struct {
	config   Config
	keys     block.Keys
	narrow   narrow
	words    Words
	prepare  preprocessor
	pattern  *Pattern // of Regex
	grams    grams
	stop     *table // the stop words, unless features are single words: then they are in the table of each class
	batch    []occurrence
	visit    func(name []byte) // gets the features instead of the tables; nil unless a caller needs them
	touched  uint32            // keeps the compiler from removing loads
	valued   *valued           // nil unless values are added up
	classes  map[string]*class
	memory   int   // of the tables
	full     bool  // a count may overflow soon, or the tables may not grow
	overlong int64 // dropped occurrences of features longer than MaxName
	stopped  int64 // occurrences of stop words

	lookUp func(batch []occurrence, text []byte) // gets the batches instead of the tables; nil unless of a Vectorizer
}

type class struct {
	Class
	id       block.ClassID
	table    *table
	document uint32 // number of the document since the table was reset, for entry.last
	seen     int64  // occurrences or units in the table
}

// NewCounter returns a counter that has counted nothing. It panics if the analyzer is invalid.
func NewCounter(config Config) *Counter {
	c := &Counter{config: config, visit: config.visit, keys: Keys(config.HashBits), narrow: narrowFor(config.HashBits), classes: map[string]*class{}}
	c.prepare = newPreprocessor(config.Analyzer)
	if err := config.Analyzer.Validate(); err != nil {
		panic("kernel.NewCounter: " + err.Error())
	}
	if config.Analyzer.Unit == Regex {
		c.pattern, _ = CompilePattern(config.Analyzer.Pattern)
	}
	if config.Weights.Real() {
		c.valued = newValued(config.Weights, config.IDF)
	}
	if !c.single() && len(config.StopWords) > 0 {
		c.stop = newTable()
		c.stop.reset(config.StopWords, fullKeys)
		c.config.StopWords = nil
	}
	return c
}

// Keys returns the function by which the counter's blocks are sorted.
func (c *Counter) Keys() block.Keys { return c.keys }

// single reports whether occurrences of single words are counted by name, for which there is a faster loop.
func (c *Counter) single() bool {
	return c.config.Analyzer.words() && c.config.HashBits == 0 && c.config.Only == nil && c.config.visit == nil && c.valued == nil
}

// Add counts the features of one document. Invalid UTF-8 in the label is replaced.
func (c *Counter) Add(label, text []byte) {
	cl := c.startDocument(label)
	if cl == nil {
		return
	}
	c.prepare.fold(&c.words, text)
	switch {
	case c.valued != nil:
		c.countGrams(cl)
		c.addText(cl)
	case !c.single():
		c.countGrams(cl)
	case len(cl.table.entries) >= farEntries:
		c.countFarWords(cl)
	default:
		c.countWords(cl)
	}
	c.endDocument(cl)
}

// startDocument returns the class of a document, or nil if it is not admitted.
func (c *Counter) startDocument(label []byte) *class {
	if !utf8.Valid(label) {
		label = c.words.replace(label)
	}
	cl := c.classes[string(label)]
	if cl == nil {
		if cl = c.newClass(string(label)); cl == nil {
			c.full = true
			return nil
		}
	}
	if cl.table == nil {
		cl.table = newTable()
		cl.table.reset(c.config.StopWords, c.narrow)
		c.memory += cl.table.bytes()
	}
	cl.Documents++
	cl.document++
	return cl
}

// endDocument decides whether the tables have room for another document: one with fewer than 2³⁰ occurrences of a feature,
// and less than 3 GB of names (MaxNameBytes).
func (c *Counter) endDocument(cl *class) {
	if cl.seen > math.MaxUint32/2 && c.valued == nil || cl.document > math.MaxUint32/2 || cl.table.nameEnd > maxNameBytes || c.over() {
		c.full = true
	}
}

// MaxDocumentCount is the largest sum of the counts of one document for [Counter.AddFeatures].
const MaxDocumentCount = math.MaxInt32

// AddFeatures counts one document whose features are known. It counts what Add counts for a text in which each feature
// occurs as often as it says; a name that comes twice adds up. Names are taken as they are, without the analyzer, but
// Config.StopWords, HashBits and Only apply to them, invalid UTF-8 is replaced, and names longer than MaxName are dropped.
// A count of 0 is skipped. On an error nothing is counted. If values are added up, they need not be integers, and the error is
// a *ValueError or ErrOverflow.
func (c *Counter) AddFeatures(label []byte, features []feature.Value) error {
	if c.valued != nil {
		return c.addValues(label, features)
	}
	total, names := int64(0), 0
	for _, f := range features {
		count := int64(f.Value)
		switch total, names = total+count, names+len(f.Name); {
		case len(f.Name) == 0:
			return errors.New("a feature has an empty name")
		case f.Value < 0:
			return fmt.Errorf("feature %.40q has the count %v; counts must not be negative", f.Name, f.Value)
		case float64(count) != f.Value && f.Value <= MaxDocumentCount:
			return fmt.Errorf("feature %.40q has the count %v; counts must be integers", f.Name, f.Value)
		case !(f.Value <= MaxDocumentCount) || total > MaxDocumentCount:
			return fmt.Errorf("the counts of one document add up to more than %d", MaxDocumentCount)
		case names > MaxNameBytes/3: // invalid bytes become three each
			return fmt.Errorf("the names of one document have more than %d bytes", MaxNameBytes/3)
		}
	}
	cl := c.startDocument(label)
	if cl == nil {
		return nil
	}
	for _, f := range features {
		if f.Value > 0 {
			c.addFeature(cl, f.Name, uint32(f.Value), 1)
		}
	}
	c.endDocument(cl)
	return nil
}

// addFeature counts occurrences of a feature in a document, which counts as several.
func (c *Counter) addFeature(cl *class, name []byte, count, documents uint32) {
	if !utf8.Valid(name) {
		name = c.words.replace(name)
	}
	key, check := feature.Hash(name)
	if c.stop != nil && c.stop.findNamed(key, check, name).name != 0 {
		c.stopped += int64(count)
		return
	}
	if len(name) > MaxName {
		c.overlong += int64(count)
		return
	}
	if c.config.Only != nil && !c.config.Only.Has(key) {
		return
	}
	if key, check = c.narrow.of(key, check); c.config.HashBits > 0 {
		check = 0
	}
	e := cl.table.findNamed(key, check, name)
	if e.name == 0 {
		e = c.insert(cl.table, key, check, name)
	}
	if e.last != cl.document {
		e.documents += documents - 1
	}
	e.occur(cl.document)
	e.count += count - 1
	cl.seen += int64(count)
}

// newClass returns a new class, or nil if it is not admitted.
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

// occurrence is an occurrence of a feature in a text that is not counted yet.
type occurrence struct {
	key, check uint64
	start, end int32
}

// batchSize is how many occurrences are looked up at once.
const batchSize = 64

// farEntries is the size of a table most of which is not in a fast cache.
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
	case Char:
		g.splitChars(c.words.Text())
	case CharWB:
		g.splitCharsOfWords(c.words.Text())
	default:
		c.words.findTokens(a.Unit, c.pattern)
		g.splitWords(&c.words, a.TokenLength(), c.isStopped())
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

// isStopped returns a function that reports whether a word is a stop word, and counts it; nil if there are none.
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

// add adds text[start:end] to the batch, and counts the batch when it is full.
func (c *Counter) add(cl *class, text []byte, start, end int32) {
	if end-start > MaxName {
		c.overlong++
		return
	}
	if c.visit != nil {
		c.visit(text[start:end])
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

// countBatch counts the occurrences of the batch. It loads all their entries first, because a large table is not in the
// cache, and the processor can wait for several loads at once.
func (c *Counter) countBatch(cl *class, text []byte) {
	if c.lookUp != nil {
		c.lookUp(c.batch, text)
		c.batch = c.batch[:0]
		return
	}
	if c.valued != nil {
		c.collectBatch(text)
		return
	}
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

// insert adds a new feature to a table. Its name has at most MaxName bytes.
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

// over reports whether the tables take more memory than they may. New classes and names take some, too.
func (c *Counter) over() bool {
	return c.config.MemoryBytes != nil && c.memory > c.config.MemoryBytes()
}

// makeRoom grows a table. One that may not grow is filled further, which makes it slower, until it is flushed.
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

// Bytes returns how much memory the tables take.
func (c *Counter) Bytes() int { return c.memory }

// Full reports whether the tables should be flushed.
func (c *Counter) Full() bool { return c.full }

// Totals are the sums of a counter. They are complete after a Flush or Take.
type Totals struct {
	Classes  map[string]Class // by label
	Replaced int64            // sequences of invalid UTF-8
	Overlong int64            // dropped occurrences of features longer than MaxName
	Stopped  int64            // occurrences of stop words
	Rounding Rounding
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
	if c.valued != nil {
		t.Rounding, c.valued.rounding = c.valued.rounding, Rounding{}
	}
	return t
}
