package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
)

// Columns is a fixed list of features: the columns of a matrix whose rows are documents. Several goroutines may use it at once.
type Columns struct {
	config Config
	names  []string
	narrow narrow
	words  bool // texts are looked up word by word, see Vectorizer.addWords
	most   int  // bytes of a text

	// An open-addressed hash table with linear probing. The slot is the leading bits of the key.
	slots []slot
	shift int // from a key to its slot

	// A bit for each value of the leading bits of a hash: is there a column? It saves most lookups. The hash is the key, or if
	// words is set, prefixHash, which takes less time.
	filter      []uint64
	filterShift int
}

// slot is a column in the hash table.
type slot struct {
	key, check uint64
	column     int32 // plus 1; 0 if the slot is free
	character  bool  // the name has a single character, so it is not a word
}

// filterBits is how many bits the filter has for each slot, as a power of two.
const filterBits = 4

// NewColumns returns columns in the order of the names. The values in a column are what the configuration adds up: occurrences,
// or Config.Weights, which are not rounded to units, so Weights.Exponent does not matter. With Config.HashBits, the names are
// those of buckets, see [AppendBucket]. A column whose name is a stop word is always 0. Config.Only, MemoryBytes, Distinct and
// Admit are ignored. It is an error if the configuration is invalid, and if a name occurs twice, or cannot be that of a
// feature.
func NewColumns(config Config, names []string) (*Columns, error) {
	config.Only, config.MemoryBytes, config.Distinct, config.Admit, config.visit = nil, nil, nil, nil, nil
	if err := validateColumns(config, names); err != nil {
		return nil, err
	}
	c := &Columns{config: config, names: names, narrow: narrowFor(config.HashBits)}
	c.words = config.Analyzer.words() && config.HashBits == 0 && config.Weights.Scheme != TFIDF
	c.most = MaxNameBytes / max(3, config.Analyzer.NameBytes(1)) // invalid bytes become three each
	size := max(4, bits.Len(uint(len(names)))+1)                 // at least half of the slots are free
	c.slots, c.shift = make([]slot, 1<<size), 64-size
	c.filter, c.filterShift = make([]uint64, 1<<(size+filterBits-6)), 64-size-filterBits
	stopWords := map[string]bool{}
	if c.words { // otherwise the counter removes them
		for _, word := range config.StopWords {
			stopWords[string(word)] = true
		}
	}
	for i, name := range names {
		if !stopWords[name] {
			c.insert(int32(i), name)
		}
	}
	return c, nil
}

func validateColumns(config Config, names []string) error {
	least, most := config.Analyzer.Sizes()
	switch err := errors.Join(config.Weights.Validate(), config.Analyzer.Validate()); {
	case err != nil:
		return err
	case least > most || most > MaxNgram:
		return fmt.Errorf("n-grams of %d to %d; the numbers must be 1 to %d", least, most, MaxNgram)
	case config.HashBits < 0 || config.HashBits > MaxHashBits:
		return fmt.Errorf("invalid HashBits: %d", config.HashBits)
	case config.Weights.Scheme == TFIDF && config.HashBits > 0:
		return errors.New("the weights tfidf need features by name, not buckets")
	case config.Weights.Scheme == TFIDF && config.IDF == nil:
		return errors.New("the weights tfidf need the inverse document frequencies of all features")
	case len(names) > 1<<30:
		return fmt.Errorf("%d columns; at most %d are possible", len(names), 1<<30)
	}
	keys := bucketKeys(config.HashBits)
	for _, name := range names {
		switch {
		case name == "":
			return errors.New("a feature has an empty name")
		case len(name) > MaxName:
			return fmt.Errorf("feature %.40q… has %d bytes; at most %d are possible", name, len(name), MaxName)
		case !utf8.ValidString(name):
			return fmt.Errorf("feature %.40q is not valid UTF-8", name)
		case config.HashBits > 0 && string(AppendBucket(nil, keys([]byte(name)), config.HashBits)) != name:
			return fmt.Errorf("feature %.40q is not the name of one of 2^%d buckets", name, config.HashBits)
		}
	}
	sorted := slices.Sorted(slices.Values(names))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("feature %.40q occurs twice", sorted[i])
		}
	}
	return nil
}

func (c *Columns) insert(column int32, name string) {
	key, check := feature.Hash([]byte(name))
	if c.config.HashBits > 0 {
		key = bucketKeys(c.config.HashBits)([]byte(name))
	}
	key, check = c.of(key, check)
	at := key >> c.shift
	for ; c.slots[at].column != 0; at = c.next(at) {
	}
	c.slots[at] = slot{key, check, column + 1, utf8.RuneCountInString(name) == 1}
	bit := key >> c.filterShift
	if c.words {
		var first [8]byte
		copy(first[:], name)
		bit = prefixHash(binary.LittleEndian.Uint64(first[:]), len(name)) >> c.filterShift
	}
	c.filter[bit>>6] |= 1 << (bit & 63)
}

// prefixHash hashes the first eight bytes of a word, and its length. Its leading bits are to be used.
func prefixHash(first uint64, length int) uint64 {
	return (first&prefixes[min(length, 8)] + uint64(length)) * 0x9e3779b97f4a7c15
}

// prefixes[n] selects the first n of eight bytes.
var prefixes = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

func (c *Columns) next(at uint64) uint64 { return (at + 1) & uint64(len(c.slots)-1) }

// of returns the key and the check as they are in the table.
func (c *Columns) of(key, check uint64) (uint64, uint64) {
	if key, check = c.narrow.of(key, check); c.config.HashBits > 0 {
		check = 0
	}
	return key, check
}

// find returns the slot of a feature, or one whose column is 0.
func (c *Columns) find(key, check uint64, name []byte) slot {
	for at := key >> c.shift; ; at = c.next(at) {
		s := &c.slots[at]
		if s.column == 0 || s.key == key && s.check == check && (!feature.IsLong(check) || c.names[s.column-1] == string(name)) {
			return *s
		}
	}
}

// Names returns the names of the columns.
func (c *Columns) Names() []string { return c.names }

// Vector is a sparse row: the columns with values other than 0, ascending.
type Vector struct {
	Columns []int32
	Values  []float64
}

// Vectorizer turns documents into rows. It is for one goroutine, and reuses its memory: a row is valid until the next call.
type Vectorizer struct {
	columns *Columns
	counter *Counter // prepares a text and finds its n-grams; with TFIDF it also has the values of all features
	row     Vector

	// The current document.
	values []float64 // by column
	used   []uint64  // a bit for each column that has a value
	blocks []uint64  // a bit for each of used that is not 0
}

// NewVectorizer returns a vectorizer for these columns.
func (c *Columns) NewVectorizer() *Vectorizer {
	config := c.config
	if config.Weights.Scheme != TFIDF {
		config.Weights = Weights{} // the other weights depend on the columns only
	}
	n := len(c.names)
	v := &Vectorizer{
		columns: c, counter: NewCounter(config),
		values: make([]float64, n), used: make([]uint64, n/64+1), blocks: make([]uint64, n/64/64+1),
	}
	if v.counter.valued == nil {
		v.counter.lookUp = v.addBatch
	}
	return v
}

// Text returns the row of a text. It is an error if the text is too large to be counted, or a value too large for a float64.
func (v *Vectorizer) Text(text []byte) (Vector, error) {
	c := v.counter
	if len(text) > v.columns.most {
		return Vector{}, fmt.Errorf("the text has %d bytes; at most %d are possible", len(text), v.columns.most)
	}
	c.prepare.fold(&c.words, text)
	if v.columns.words {
		v.addWords()
	} else {
		c.countGrams(nil)
	}
	return v.finish()
}

// Features returns the row of a document whose features are known. As for [Counter.AddFeatures], names are taken as they are, a
// name that comes twice adds up, and a value of 0 is skipped; but values need not be integers. An error is a *ValueError.
// Values without a logarithm are errors only where one is needed: in columns, or in any feature with TFIDF.
func (v *Vectorizer) Features(features []feature.Value) (Vector, error) {
	if err := validateValues(features); err != nil {
		return Vector{}, err
	}
	c := v.counter
	if c.valued != nil {
		c.collectFeatures(features)
		return v.finish()
	}
	for _, f := range features {
		if f.Value == 0 {
			continue
		}
		name := f.Name
		if !utf8.Valid(name) {
			name = c.words.replace(name)
		}
		key, check := feature.Hash(name)
		if c.stop != nil && c.stop.findNamed(key, check, name).name != 0 || len(name) > MaxName {
			continue
		}
		key, check = v.columns.of(key, check)
		if s := v.columns.find(key, check, name); s.column != 0 {
			v.add(s.column-1, f.Value)
		}
	}
	return v.finish()
}

// addWords adds the words of a text.
func (v *Vectorizer) addWords() {
	c, narrow := v.counter, v.columns.narrow
	c.words.findEdges()
	text := c.words.lower
	for edges := v.columns.pass(text, c.words.edges); len(edges) >= 2; edges = edges[2:] {
		start, end := int(edges[0]), int(edges[1])
		key, check := narrow.of(feature.HashAt(text, start, end))
		if s := v.columns.find(key, check, text[start:end]); s.column != 0 && !s.character {
			v.add(s.column-1, 1)
		}
	}
}

// pass keeps the words that pass the filter, without a branch for each, which the processor would often mispredict.
func (c *Columns) pass(text []byte, edges []int32) []int32 {
	filter, shift, n := c.filter, c.filterShift&63, 0
	for i := 1; i < len(edges); i += 2 {
		start, end := edges[i-1], edges[i]
		edges[n&^1], edges[n|1] = start, end
		bit := prefixHash(binary.LittleEndian.Uint64(text[start:]), int(end-start)) >> (shift & 63)
		n += int(filter[bit>>6]>>(bit&63)&1) << 1
	}
	return edges[:n]
}

// addBatch adds occurrences of n-grams.
func (v *Vectorizer) addBatch(batch []occurrence, text []byte) {
	c := v.columns
	for i := range batch {
		o := &batch[i]
		bit := o.key >> c.filterShift
		if c.filter[bit>>6]>>(bit&63)&1 == 0 {
			continue
		}
		key, check := c.of(o.key, o.check)
		if s := c.find(key, check, text[o.start:o.end]); s.column != 0 {
			v.add(s.column-1, 1)
		}
	}
}

func (v *Vectorizer) add(column int32, value float64) {
	v.values[column] += value
	v.used[column>>6] |= 1 << (column & 63)
	v.blocks[column>>12] |= 1 << (column >> 6 & 63)
}

// finish returns the row of the current document, and is ready for the next one.
func (v *Vectorizer) finish() (Vector, error) {
	err := v.takeValued()
	v.row.Columns, v.row.Values = v.row.Columns[:0], v.row.Values[:0]
	for i, block := range v.blocks {
		for v.blocks[i] = 0; block != 0; block &= block - 1 {
			j := i<<6 + bits.TrailingZeros64(block)
			used := v.used[j]
			for v.used[j] = 0; used != 0; used &= used - 1 {
				column := j<<6 + bits.TrailingZeros64(used)
				v.row.Columns = append(v.row.Columns, int32(column))
				v.row.Values = append(v.row.Values, v.values[column])
				v.values[column] = 0
			}
		}
	}
	if err == nil {
		err = v.weigh()
	}
	if err != nil {
		return Vector{}, err
	}
	return v.row, nil
}

// weigh replaces occurrences by weights; those of TFIDF are weighed already.
func (v *Vectorizer) weigh() error {
	scheme := v.columns.config.Weights.Scheme
	for i, value := range v.row.Values {
		switch {
		case !(value <= math.MaxFloat64): // a sum or a product of large values
			return &ValueError{v.columns.names[v.row.Columns[i]], "has a value above the largest number"}
		case scheme == Binary:
			v.row.Values[i] = 1
		case scheme == Log && value < 1:
			return noLogarithm(v.columns.names[v.row.Columns[i]], value)
		case scheme == Log:
			v.row.Values[i] = 1 + logOf(value)
		}
	}
	return nil
}

// takeValued adds the values of the columns in the current document, after all its features have been weighed: with TFIDF.
func (v *Vectorizer) takeValued() error {
	valued := v.counter.valued
	if valued == nil {
		return nil
	}
	defer valued.clear()
	divisor, err := valued.weigh()
	if err != nil {
		return err
	}
	for i := range valued.features {
		f := &valued.features[i]
		if value := f.value / divisor; value != 0 {
			if s := v.columns.find(f.key, f.check, f.name); s.column != 0 {
				v.add(s.column-1, value)
			}
		}
	}
	return nil
}
