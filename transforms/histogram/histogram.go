// Package histogram is what the solver needs instead of the features: how many of them have each pair of counts. Text
// repeats its counts, so that it is far smaller. It crosses a shuffle in pieces.
package histogram

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Histogram counts features by their counts in two classes. Of counts for more classes it keeps nothing but the labels.
type Histogram struct {
	labels []string
	sizes  map[[2]float64]int64
}

// New returns an empty histogram for classes with these labels; Slot may add more.
func New(labels []string) *Histogram { return &Histogram{labels, map[[2]float64]int64{}} }

// Slot returns the place of a label among the labels, where it is put if it is new.
func (h *Histogram) Slot(label string) int {
	i := slices.Index(h.labels, label)
	if i < 0 {
		i = len(h.labels)
		h.labels = append(h.labels, label)
	}
	return i
}

// Add counts a feature, by its counts in the first two classes.
func (h *Histogram) Add(counts [2]float64) { h.sizes[counts]++ }

// Pack emits the histogram in pieces of at most limit bytes.
func (h *Histogram) Pack(limit int, emit func([]byte)) {
	var head []byte
	head = binary.AppendUvarint(head, uint64(len(h.labels)))
	for _, label := range h.labels {
		head = binary.AppendUvarint(head, uint64(len(label)))
		head = append(head, label...)
	}
	b := slices.Clone(head)
	for counts, size := range h.sizes {
		b = appendNumber(b, counts[0])
		b = appendNumber(b, counts[1])
		b = binary.AppendUvarint(b, uint64(size))
		if len(b) > limit-64 {
			emit(b)
			b = slices.Clone(head)
		}
	}
	if len(b) > len(head) {
		emit(b)
	}
}

// appendNumber writes twice an integer as a varint, or 1 and the bits of another number.
func appendNumber(b []byte, x float64) []byte {
	if n := uint64(x); x < 1<<53 && float64(n) == x {
		return binary.AppendUvarint(b, n<<1)
	}
	return binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(x))
}

var errCut = errors.New("a histogram of counts is cut short")

// Unpack calls visit with every pair of counts of a piece, which are those of the labels in their order.
func Unpack(b []byte, visit func(labels []string, counts [2]float64, size int64)) error {
	uvarint := func() (x uint64, ok bool) {
		x, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return x, n > 0
	}
	number := func() (float64, bool) {
		x, ok := uvarint()
		if x&1 == 0 {
			return float64(x >> 1), ok
		}
		if len(b) < 8 {
			return 0, false
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64(b))
		b = b[8:]
		return f, ok
	}
	n, ok := uvarint()
	var labels []string
	for range n {
		size, more := uvarint()
		if !more || size > uint64(len(b)) {
			return errCut
		}
		labels = append(labels, string(b[:size]))
		b = b[size:]
	}
	for ok && len(b) > 0 {
		x, ok1 := number()
		y, ok2 := number()
		size, ok3 := uvarint()
		if ok = ok1 && ok2 && ok3; ok {
			visit(labels, [2]float64{x, y}, int64(size))
		}
	}
	if !ok {
		return errCut
	}
	return nil
}
