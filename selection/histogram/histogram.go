// Package histogram counts how many features have the same counts. The solver needs only this, not the features. Many
// features of a text have the same counts, so the histogram is much smaller. It crosses a shuffle in pieces.
package histogram

import (
	"encoding/binary"
	"errors"
	"math"
)

// Histogram counts features by their counts in the classes.
type Histogram struct {
	places map[string]int32 // index of sizes, by packed counts
	sizes  []int64
	key    []byte

	classes []int32 // of the feature that AddPresent adds
	counts  []float64
}

// New returns an empty histogram.
func New() *Histogram { return &Histogram{places: map[string]int32{}} }

// Add adds a feature: counts[i] is its count in class number classes[i]. All features must have classes in the same order.
func (h *Histogram) Add(classes []int32, counts []float64) {
	h.key = AppendKey(h.key[:0], classes, counts)
	place, ok := h.places[string(h.key)]
	if !ok {
		place = int32(len(h.sizes))
		h.places[string(h.key)] = place
		h.sizes = append(h.sizes, 0)
	}
	h.sizes[place]++
}

// AddPresent is Add without the counts that are zero.
func (h *Histogram) AddPresent(classes []int32, counts []float64) {
	h.classes, h.counts = h.classes[:0], h.counts[:0]
	for i, n := range counts {
		if n > 0 {
			h.classes, h.counts = append(h.classes, classes[i]), append(h.counts, n)
		}
	}
	h.Add(h.classes, h.counts)
}

// AppendKey appends a key that is equal for features with the same counts.
func AppendKey(key []byte, classes []int32, counts []float64) []byte {
	key = binary.AppendUvarint(key, uint64(len(classes)))
	for i, class := range classes {
		key = binary.AppendUvarint(key, uint64(class))
		key = appendNumber(key, counts[i])
	}
	return key
}

// Pack emits the histogram in pieces of at most limit bytes, unless a single entry is larger, in any order.
func (h *Histogram) Pack(limit int, emit func([]byte)) {
	var b []byte
	for key, place := range h.places {
		if len(b) > 0 && len(b)+len(key)+binary.MaxVarintLen64 > limit {
			emit(b)
			b = nil
		}
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(h.sizes[place]))
	}
	if len(b) > 0 {
		emit(b)
	}
}

// appendNumber appends 2x as a varint if x is an integer, else 1 and the 8 bytes of x.
func appendNumber(b []byte, x float64) []byte {
	if n := uint64(x); x < 1<<53 && float64(n) == x {
		return binary.AppendUvarint(b, n<<1)
	}
	return binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(x))
}

var errCut = errors.New("truncated histogram of counts")

// Entry says that Size features have the count Counts[i] in class number Classes[i], and 0 in other classes. It is valid only
// during a visit.
type Entry struct {
	Classes []int32
	Counts  []float64
	Size    int64
}

// Unpack calls visit with the entries of a piece. A class number that is not below classes is an error. The same counts may
// come in several pieces, whose sizes add up.
func Unpack(b []byte, classes int, visit func(e Entry) error) error {
	r := reader{rest: b}
	var e Entry
	for r.ok() && len(r.rest) > 0 {
		e.Classes, e.Counts = e.Classes[:0], e.Counts[:0]
		for range min(r.uvarint(), uint64(len(r.rest))) {
			class := r.uvarint()
			if class >= uint64(classes) {
				return errCut
			}
			e.Classes, e.Counts = append(e.Classes, int32(class)), append(e.Counts, r.number())
		}
		e.Size = int64(r.uvarint())
		if !r.ok() {
			break
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	if !r.ok() {
		return errCut
	}
	return nil
}

// reader reads numbers until the bytes end.
type reader struct {
	rest []byte
	cut  bool
}

func (r *reader) ok() bool { return !r.cut }

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.rest)
	r.cut = r.cut || n <= 0
	r.rest = r.rest[max(n, 0):]
	return x
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.cut = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() float64 {
	x := r.uvarint()
	if x&1 == 0 {
		return float64(x >> 1)
	}
	if b := r.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b)) + 0 // -0 becomes 0, as in Add
	}
	return 0
}
