package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
)

// Scheme says what a document adds to the value of a feature in its class.
type Scheme string

// The schemes. tf is how often the feature occurs in the document, or its value there if the document is a row of a matrix.
const (
	Occurrences Scheme = ""       // tf, an integer: the fast loops count in place
	Values      Scheme = "count"  // tf, any number
	Binary      Scheme = "binary" // 1
	Log         Scheme = "log"    // 1 + ln tf
	TFIDF       Scheme = "tfidf"  // tf · idf / the norm of the document
)

// Norm is by what the values of a document are divided with the scheme TFIDF.
type Norm string

// The norms.
const (
	L2     Norm = "l2" // the square root of the sum of squares
	L1     Norm = "l1" // the sum
	NoNorm Norm = "none"
)

// Weights define the values that are added up. All but Occurrences are real numbers. They are rounded, half to even, to
// multiples of 2^Exponent, one for each document and feature, so that their sums are exact.
type Weights struct {
	Scheme   Scheme
	Exponent int // of the unit; MinExponent to MaxExponent

	Sublinear bool // with TFIDF: 1 + ln tf in place of tf
	Norm      Norm // with TFIDF; required
	PlainIDF  bool // with TFIDF: idf is ln(n/df) + 1, not ln((n+1)/(df+1)) + 1
}

// The range of Weights.Exponent, and its default.
const (
	MinExponent, MaxExponent = -60, 60
	DefaultExponent          = -20
)

// Real reports whether the values are real numbers, in units of 2^Exponent.
func (w Weights) Real() bool { return w.Scheme != Occurrences }

// Value returns the value of a number of units. It is exact below MaxUnits.
func (w Weights) Value(units int64) float64 {
	if !w.Real() {
		return float64(units)
	}
	return math.Ldexp(float64(units), w.Exponent)
}

// Validate returns an error that names the first invalid field.
func (w Weights) Validate() error {
	switch {
	case !slices.Contains([]Scheme{Occurrences, Values, Binary, Log, TFIDF}, w.Scheme):
		return fmt.Errorf("invalid Scheme: %q", w.Scheme)
	case w.Exponent < MinExponent || w.Exponent > MaxExponent || !w.Real() && w.Exponent != 0:
		return fmt.Errorf("invalid Exponent: %d", w.Exponent)
	case w.Scheme == TFIDF && w.Norm != L2 && w.Norm != L1 && w.Norm != NoNorm:
		return fmt.Errorf("invalid Norm: %q", w.Norm)
	case w.Scheme != TFIDF && (w.Sublinear || w.PlainIDF || w.Norm != ""):
		return errors.New("invalid Sublinear, PlainIDF or Norm: they need the scheme TFIDF")
	}
	return nil
}

// MaxUnits limits the value of a class in units: below it, sums are exact as float64, too.
const MaxUnits = 1 << 53

// ErrOverflow is the error of a document with which the value of its class reaches MaxUnits.
var ErrOverflow = errors.New("the values of a class add up to 2⁵³ units or more")

// ValueError is a value that cannot be counted.
type ValueError struct {
	Feature string
	Problem string
}

func (e *ValueError) Error() string { return fmt.Sprintf("feature %.40q %s", e.Feature, e.Problem) }

// Rounding is what rounding to units has changed.
type Rounding struct {
	Zero int64 // values above 0 that were rounded to 0, and are not counted
	Lost int64 // the sum of the differences, each rounded up to a multiple of 2⁻²⁰ units
}

// lostBits are the bits of the fraction of a unit in Rounding.Lost.
const lostBits = 20

// Of returns Lost as a value.
func (r Rounding) Of(w Weights) float64 { return math.Ldexp(float64(r.Lost), w.Exponent-lostBits) }

// valued are the features of the current document, before they are added to the table of its class.
type valued struct {
	weights  Weights
	idf      *IDF
	scale    float64 // units in 1
	rounding Rounding
	err      error // the first

	slots    []int32 // of features, plus 1, by the leading bits of the key; 0 if free
	shift    int
	features []valuedFeature
	units    []int64 // of features
}

type valuedFeature struct {
	key, check uint64
	name       []byte
	value      float64
}

const valuedBits = 8

func newValued(w Weights, idf *IDF) *valued {
	v := &valued{weights: w, idf: idf, scale: math.Ldexp(1, -w.Exponent)}
	v.allocate(valuedBits)
	return v
}

func (v *valued) allocate(bits int) { v.slots, v.shift = make([]int32, 1<<bits), 64-bits }

func (v *valued) clear() {
	if 8*len(v.features) > len(v.slots) {
		clear(v.slots)
	} else {
		for i := range v.features { // each has the slot that find returned
			for at := v.features[i].key >> v.shift; v.slots[at] != 0; at = v.next(at) {
				v.slots[at] = 0
			}
		}
	}
	if len(v.slots) > 1<<largeValued && len(v.features) < len(v.slots)/16 {
		v.allocate(valuedBits)
	}
	v.features = v.features[:0]
}

// largeValued are the bits of a table that a document with many features leaves behind, and that is not kept.
const largeValued = 16

func (v *valued) next(at uint64) uint64 { return (at + 1) & uint64(len(v.slots)-1) }

// add adds to the value of a feature. The name must be valid until the end of the document.
func (v *valued) add(key, check uint64, name []byte, value float64) {
	at := key >> v.shift
	for ; v.slots[at] != 0; at = v.next(at) {
		f := &v.features[v.slots[at]-1]
		if f.key == key && f.check == check && (!feature.IsLong(check) || string(f.name) == string(name)) {
			f.value += value
			return
		}
	}
	v.features = append(v.features, valuedFeature{key, check, name, value})
	v.slots[at] = int32(len(v.features))
	if 2*len(v.features) > len(v.slots) {
		v.grow()
	}
}

func (v *valued) grow() {
	v.allocate(64 - v.shift + 2)
	for i := range v.features {
		at := v.features[i].key >> v.shift
		for v.slots[at] != 0 {
			at = v.next(at)
		}
		v.slots[at] = int32(i + 1)
	}
}

// weigh replaces the values of the document by their weights times the divisor. The features are in the order in which the
// document has them, so sums of floating-point numbers are the same wherever it is counted.
func (v *valued) weigh() (divisor float64, err error) {
	for i := range v.features {
		switch f := &v.features[i]; {
		case v.weights.Scheme == Binary:
			f.value = 1
		case v.weights.Scheme != Log && !v.weights.Sublinear:
		case f.value < 1:
			return 0, noLogarithm(string(f.name), f.value)
		default:
			f.value = 1 + logOf(f.value)
		}
	}
	if v.weights.Scheme == TFIDF {
		return v.scaleByIDF(), nil
	}
	return 1, nil
}

func noLogarithm(name string, value float64) error {
	return &ValueError{name, fmt.Sprintf("has the value %v; a logarithm needs values of at least 1", value)}
}

// round writes the weights of the document in units, and returns their sum.
func (v *valued) round() (total int64, err error) {
	divisor, err := v.weigh()
	if err != nil {
		return 0, err
	}
	v.units = v.units[:0]
	var rounding Rounding
	for i := range v.features {
		scaled := float64(v.features[i].value / divisor * v.scale)
		rounded := math.RoundToEven(scaled)
		if !(rounded < MaxUnits) {
			return 0, ErrOverflow
		}
		if rounded != scaled {
			rounding.Lost += int64(math.Ceil(math.Abs(scaled-rounded) * (1 << lostBits)))
			if rounded == 0 {
				rounding.Zero++
			}
		}
		v.units = append(v.units, int64(rounded))
		if total += int64(rounded); total >= MaxUnits {
			return 0, ErrOverflow
		}
	}
	v.rounding.Zero += rounding.Zero
	v.rounding.Lost += rounding.Lost
	return total, nil
}

// scaleByIDF multiplies the values by the inverse document frequencies, and returns their norm. Features without one get the
// value 0. The conversions keep the compiler from fusing a multiplication and an addition, which rounds differently.
func (v *valued) scaleByIDF() float64 {
	norm := 0.0
	for i := range v.features {
		f := &v.features[i]
		f.value = float64(f.value * v.idf.find(f.key, f.check, f.name))
		switch v.weights.Norm {
		case L2:
			norm += float64(f.value * f.value)
		case L1:
			norm += f.value
		}
	}
	if v.weights.Norm == L2 {
		norm = math.Sqrt(norm)
	}
	if norm == 0 {
		return 1
	}
	return norm
}

// logOf is math.Log, with a table of the logarithms of small integers.
func logOf(x float64) float64 {
	if i := int(x); i < logs && float64(i) == x {
		return logTable()[i]
	}
	return math.Log(x)
}

const logs = 1 << 10

var logTable = sync.OnceValue(func() *[logs]float64 {
	var t [logs]float64
	for i := range t {
		t[i] = math.Log(float64(i))
	}
	return &t
})

// value returns the units of an entry of a table of real values. They have the place of count and last, since each document
// adds to an entry only once.
func (e *entry) value() int64 { return int64(uint64(e.count) | uint64(e.last)<<32) }

func (e *entry) addValue(units int64) {
	sum := uint64(e.value() + units)
	e.count, e.last = uint32(sum), uint32(sum>>32)
	e.documents++
}

// collectBatch adds the occurrences of the batch to the current document.
func (c *Counter) collectBatch(text []byte) {
	for _, o := range c.batch {
		c.valued.add(o.key, o.check, text[o.start:o.end], 1)
	}
	c.batch = c.batch[:0]
}

// addValues is AddFeatures for real values.
func (c *Counter) addValues(label []byte, features []feature.Value) error {
	if err := validateValues(features); err != nil {
		return err
	}
	c.collectFeatures(features)
	total, err := c.valued.round()
	if err == nil {
		if cl := c.startDocument(label); cl != nil {
			err = c.addUnits(cl, total)
			c.endDocument(cl)
		}
	}
	c.valued.clear()
	return err
}

// validateValues returns a *ValueError if the features of a document cannot be added up.
func validateValues(features []feature.Value) error {
	names := 0
	for _, f := range features {
		switch names += len(f.Name); {
		case len(f.Name) == 0:
			return &ValueError{"", "has no name"}
		case !(f.Value >= 0) || f.Value > math.MaxFloat64:
			return &ValueError{string(f.Name), fmt.Sprintf("has the value %v; values must be finite and not negative", f.Value)}
		case names > MaxNameBytes/3: // invalid bytes become three each
			return &ValueError{string(f.Name), fmt.Sprintf("is one of a document whose names have more than %d bytes", MaxNameBytes/3)}
		}
	}
	return nil
}

// collectFeatures adds features to the current document.
func (c *Counter) collectFeatures(features []feature.Value) {
	for _, f := range features {
		if f.Value == 0 {
			continue
		}
		name := f.Name
		if !utf8.Valid(name) {
			name = append([]byte(nil), c.words.replace(name)...)
		}
		key, check := feature.Hash(name)
		switch {
		case c.stop != nil && c.stop.findNamed(key, check, name).name != 0:
			c.stopped++
		case len(name) > MaxName:
			c.overlong++
		default:
			key, check = c.narrow.of(key, check)
			c.valued.add(key, check, name, f.Value)
		}
	}
}

// addText adds the current document, which is a text.
func (c *Counter) addText(cl *class) {
	total, err := c.valued.round()
	if err == nil {
		err = c.addUnits(cl, total)
	}
	if err != nil && c.valued.err == nil {
		c.valued.err, c.full = err, true
	}
	c.valued.clear()
}

// addUnits adds the current document, whose units have this sum, to the table of its class.
func (c *Counter) addUnits(cl *class, total int64) error {
	if cl.Tokens+cl.seen+total >= MaxUnits {
		return ErrOverflow
	}
	for i, units := range c.valued.units {
		if units == 0 {
			continue
		}
		f := &c.valued.features[i]
		e := cl.table.findNamed(f.key, f.check, f.name)
		if e.name == 0 {
			e = c.insert(cl.table, f.key, f.check, f.name)
		}
		e.addValue(units)
	}
	cl.seen += total
	return nil
}

// Err returns the error of the first document that Add could not count: ErrOverflow, if values are added up. Full then
// reports true.
func (c *Counter) Err() error {
	if c.valued == nil {
		return nil
	}
	return c.valued.err
}
