// Package block packs the counts of many features into one value that can cross a shuffle, and merges such values.
//
// A block is a sorted list of features with their counts per class. Blocks are a commutative monoid: [Merge] is
// associative and commutative, and a block without features is its zero. So the result does not depend on how documents
// were split into ranges, which worker counted which range, or when blocks are merged.
//
// A class is written as its [ClassID], 8 bytes for a label of any length; the code that merges blocks knows the labels.
//
// Layout, version 2; integers are unsigned varints unless stated otherwise:
//
//	magic     4 bytes "snb\x02", the last one is the version
//	classes   their number, then for each its ID in 8 bytes, little endian, in the order in which features use them
//	features  their number, then for each, sorted by key and then by name:
//	          length and bytes of the name; number of classes; for each class, sorted by label:
//	          its place in classes; 2·occurrences, plus 1 if documents = occurrences; otherwise the number of documents
//	checksum  4 bytes, little endian: CRC-32C of all bytes before
//
// The key is not stored: it is the hash of the name. Counts are never 0, and a feature never has more documents than
// occurrences.
//
// The version changes with the layout and with the keys that define the order. Blocks exist only during a job, so only the
// current version is read.
package block

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/sparsenb/sparsenb/feature"
)

const classBytes = 8 // size of a ClassID

const magic = "snb\x02"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Feature is a feature with its counts, sorted by class.
type Feature struct {
	Key    uint64
	Name   []byte
	Counts []Count
}

// Count is the count of a feature in a class.
type Count = feature.Count

// ClassID identifies a class in a block.
type ClassID uint64

// IDOf returns the first 8 bytes of the label's SHA-256. A collision is unlikely, and [NewClasses] detects it.
func IDOf(label string) ClassID {
	hash := sha256.Sum256([]byte(label))
	return ClassID(binary.LittleEndian.Uint64(hash[:]))
}

// Classes are the classes of all blocks that are merged, numbered from 0 in the order of their labels.
type Classes struct {
	Labels  []string
	ids     []ClassID
	numbers map[ClassID]int
}

// NewClasses numbers labels, which must be sorted and distinct.
func NewClasses(labels []string) (*Classes, error) { return newClasses(labels, IDOf) }

func newClasses(labels []string, id func(label string) ClassID) (*Classes, error) {
	c := &Classes{Labels: labels, numbers: make(map[ClassID]int, len(labels))}
	for i, label := range labels {
		id := id(label)
		if other, ok := c.numbers[id]; ok {
			return nil, fmt.Errorf("labels %.40q and %.40q have the same ID; rename one of them", labels[other], label)
		}
		c.ids, c.numbers[id] = append(c.ids, id), i
	}
	return c, nil
}

// Numbers returns the numbers of the classes of these IDs.
func (c *Classes) Numbers(ids []ClassID) ([]int, error) {
	numbers := make([]int, len(ids))
	for i, id := range ids {
		number, ok := c.numbers[id]
		if !ok {
			return nil, fmt.Errorf("a count block has class ID %016x, which no document has", id)
		}
		numbers[i] = number
	}
	return numbers, nil
}

// Keys maps a name to its key, by which features are sorted.
type Keys func(name []byte) uint64

// FullKeys returns the key of a name from [feature.Hash], as it is in files.
func FullKeys(name []byte) uint64 {
	key, _ := feature.Hash(name)
	return key
}

// KeyMask returns a mask of this number of leading bits.
func KeyMask(bits int) uint64 { return ^uint64(0) << (64 - bits) }

// Reader reads the features of one block.
type Reader struct {
	classes []int // numbers of the block's classes
	keys    Keys
	body    []byte
	left    uint64
	at      Feature
	err     error
}

// Open checks the version and checksum of a block. The features that the reader returns have the numbers of classes.
func Open(b []byte, keys Keys, classes *Classes) (*Reader, error) {
	if len(b) < len(magic)+4 || string(b[:3]) != magic[:3] {
		return nil, errors.New("not a count block")
	}
	if b[3] != magic[3] {
		return nil, fmt.Errorf("the count block has version %d; this program reads only version %d", b[3], magic[3])
	}
	payload, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(payload, castagnoli) != sum {
		return nil, fmt.Errorf("a count block of %d bytes has a wrong checksum", len(b))
	}
	r := &Reader{keys: keys, body: payload[len(magic):]}
	var ids []ClassID
	for range r.length() {
		if r.err == nil {
			ids = append(ids, r.id())
		}
	}
	if r.left = r.length(); r.err != nil {
		return nil, r.err
	}
	var err error
	r.classes, err = classes.Numbers(ids)
	return r, err
}

func (r *Reader) id() ClassID {
	if len(r.body) < classBytes {
		r.corrupt("truncated class ID")
		return 0
	}
	id := binary.LittleEndian.Uint64(r.body)
	r.body = r.body[classBytes:]
	return ClassID(id)
}

// Next moves to the next feature. It returns false at the end and if the block is corrupt; then Err returns an error.
func (r *Reader) Next() bool {
	if r.err != nil || r.left == 0 {
		if r.err == nil && len(r.body) > 0 {
			r.corrupt("bytes after the last feature")
		}
		return false
	}
	r.left--
	name, ok := r.bytes()
	if !ok {
		return false
	}
	key := r.keys(name)
	if r.at.Name != nil && key <= r.at.Key && compare(r.at.Key, r.at.Name, key, name) >= 0 {
		r.corrupt("features are not in order")
	}
	r.at.Key, r.at.Name, r.at.Counts = key, name, r.at.Counts[:0]
	n := r.length()
	if n == 0 {
		r.corrupt("feature without counts")
	}
	for range n {
		if !r.count() {
			return false
		}
	}
	return r.err == nil
}

// Feature returns the feature that Next moved to. It is valid until the next call of Next.
func (r *Reader) Feature() *Feature { return &r.at }

// Err returns an error if the block is corrupt.
func (r *Reader) Err() error { return r.err }

func (r *Reader) count() bool {
	class, packed := r.uvarint(), r.uvarint()
	documents := packed >> 1
	if packed&1 == 0 {
		documents = r.uvarint()
	}
	switch {
	case r.err != nil:
	case class >= uint64(len(r.classes)):
		r.corrupt("class number out of range")
	case len(r.at.Counts) > 0 && r.classes[class] <= r.at.Counts[len(r.at.Counts)-1].Class:
		r.corrupt("classes are not in order")
	case packed>>1 == 0 || documents == 0 || documents > packed>>1:
		r.corrupt("impossible count")
	default:
		r.at.Counts = append(r.at.Counts, Count{Class: r.classes[class], Occurrences: int64(packed >> 1), Documents: int64(documents)})
		return true
	}
	return false
}

func (r *Reader) corrupt(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("corrupt count block: %s", what)
	}
}

// uvarint reads a number. Most have one byte, for which it is inlined.
func (r *Reader) uvarint() uint64 {
	if len(r.body) > 0 && r.body[0] < 0x80 {
		x := r.body[0]
		r.body = r.body[1:]
		return uint64(x)
	}
	return r.longUvarint()
}

func (r *Reader) longUvarint() uint64 {
	x, n := binary.Uvarint(r.body)
	if n <= 0 {
		r.corrupt("truncated number")
		r.body = nil
		return 0
	}
	r.body = r.body[n:]
	return x
}

// length reads a number of items of at least one byte each.
func (r *Reader) length() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.body)) {
		r.corrupt("length beyond the end")
		return 0
	}
	return n
}

func (r *Reader) bytes() ([]byte, bool) {
	n := r.length()
	if r.err != nil {
		return nil, false
	}
	b := r.body[:n:n]
	r.body = r.body[n:]
	return b, true
}

// Writer packs sorted features into blocks.
type Writer struct {
	Limit   int                  // size of a block in bytes, unless a single feature is larger
	Classes []ClassID            // sorted by label; Count.Class is an index of it
	Emit    func(b []byte) error // gets each block
	Reuse   bool                 // Emit does not keep the block, whose memory is used for the next one

	block    []byte
	body     []byte
	features uint64
	local    []int // by Count.Class: place in order, plus 1
	order    []int // Count.Class of the block's classes
}

// Add appends a feature. Features must come in the order of their keys and names, with counts sorted by class.
func (w *Writer) Add(f *Feature) error {
	if w.local == nil {
		w.local = make([]int, len(w.Classes))
	}
	if w.features > 0 && w.size()+w.room(f) > w.Limit {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	b := appendUvarint(w.body, uint64(len(f.Name)))
	b = append(b, f.Name...)
	b = appendUvarint(b, uint64(len(f.Counts)))
	for _, c := range f.Counts {
		b = appendUvarint(b, uint64(w.class(c.Class)))
		if c.Documents == c.Occurrences {
			b = appendUvarint(b, uint64(c.Occurrences)<<1|1)
		} else {
			b = appendUvarint(b, uint64(c.Occurrences)<<1)
			b = appendUvarint(b, uint64(c.Documents))
		}
	}
	w.body = b
	w.features++
	return nil
}

// appendUvarint is binary.AppendUvarint, inlined for the numbers of one byte, which most are.
func appendUvarint(b []byte, x uint64) []byte {
	if x < 0x80 {
		return append(b, byte(x))
	}
	return binary.AppendUvarint(b, x)
}

// class returns the place of a class in the block. The first feature of a class gives it the next place.
func (w *Writer) class(c int) int {
	if w.local[c] == 0 {
		w.order = append(w.order, c)
		w.local[c] = len(w.order)
	}
	return w.local[c] - 1
}

// size returns the largest size that the block can have if it ends here.
func (w *Writer) size() int {
	return len(magic) + 2*binary.MaxVarintLen64 + classBytes*len(w.order) + len(w.body) + 4
}

// room returns the largest size that the feature can have, with new classes.
func (w *Writer) room(f *Feature) int {
	return 2*binary.MaxVarintLen32 + len(f.Name) + len(f.Counts)*(4*binary.MaxVarintLen32+classBytes)
}

// Flush emits the current block if it has features.
func (w *Writer) Flush() error {
	if w.features == 0 {
		return nil
	}
	b := w.block[:0]
	if !w.Reuse {
		b = make([]byte, 0, w.size())
	}
	b = append(b, magic...)
	b = binary.AppendUvarint(b, uint64(len(w.order)))
	for _, class := range w.order {
		b = binary.LittleEndian.AppendUint64(b, uint64(w.Classes[class]))
		w.local[class] = 0
	}
	b = binary.AppendUvarint(b, w.features)
	b = append(b, w.body...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	w.block = b
	w.body, w.order, w.features = w.body[:0], w.order[:0], 0
	return w.Emit(b)
}

// Zero returns the block without features.
func Zero() []byte {
	b := append([]byte(magic), 0, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// addCounts adds counts. More than 2⁶² is an error, because no corpus is that large.
func addCounts(a, b int64) (int64, error) {
	if a > math.MaxInt64/2-b {
		return 0, errors.New("a count exceeds 2⁶²")
	}
	return a + b, nil
}
