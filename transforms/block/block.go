// Package block packs the counts of many features into one value that may cross a shuffle, and merges such values.
//
// A block is a sorted list of features with their counts per class. Blocks are a commutative monoid: [Merge] is
// associative and commutative, and a block without features is its zero. So it does not matter how documents were cut
// into ranges, which worker counted which, or how early blocks meet.
//
// Classes go by their [ClassID], 8 bytes whatever the length of the label; who merges blocks knows the labels.
//
// Layout, version 2, integers as unsigned varints unless said otherwise:
//
//	magic     4 bytes "snb\x02", the last of them the version
//	classes   their number, then for each 8 bytes, little endian: its id; in the order in which the features name them
//	features  their number, then for each, sorted by key and then by name:
//	          length and bytes of the name; number of classes; for each, sorted by label:
//	          class; 2·count, plus 1 if as many documents as occurrences have it; else the number of documents
//	checksum  4 bytes, little endian: CRC-32C of all that stands before
//
// The key is not stored: it is the hash of the name. Counts are never 0, and a feature never occurs in more documents
// than it has occurrences.
//
// The version grows with every change of the layout, and of the keys that it is sorted by. Blocks live in a shuffle and never on a disk for long, so only the
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

const classBytes = 8 // of an id

const magic = "snb\x02"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Feature is a feature and its counts, sorted by class.
type Feature struct {
	Key    uint64
	Name   []byte
	Counts []Count
}

// Count is that of a feature in a class.
type Count = feature.Count

// ClassID stands for a class where its label would be repeated.
type ClassID uint64

// IDOf is the beginning of the label's SHA-256. Those of two labels differ but by chance, and [NewClasses] checks it.
func IDOf(label string) ClassID {
	hash := sha256.Sum256([]byte(label))
	return ClassID(binary.LittleEndian.Uint64(hash[:]))
}

// Classes are the classes of all blocks that may meet, numbered in the order of their labels.
type Classes struct {
	Labels  []string
	ids     []ClassID
	numbers map[ClassID]int
}

// NewClasses numbers labels, which are sorted and differ.
func NewClasses(labels []string) (*Classes, error) { return newClasses(labels, IDOf) }

func newClasses(labels []string, id func(label string) ClassID) (*Classes, error) {
	c := &Classes{Labels: labels, numbers: make(map[ClassID]int, len(labels))}
	for i, label := range labels {
		id := id(label)
		if other, ok := c.numbers[id]; ok {
			return nil, fmt.Errorf("the labels %.40q and %.40q have one id; rename one of them", labels[other], label)
		}
		c.ids, c.numbers[id] = append(c.ids, id), i
	}
	return c, nil
}

// Numbers returns the numbers of classes.
func (c *Classes) Numbers(ids []ClassID) ([]int, error) {
	numbers := make([]int, len(ids))
	for i, id := range ids {
		number, ok := c.numbers[id]
		if !ok {
			return nil, fmt.Errorf("counts of a class came that no document has (id %016x)", id)
		}
		numbers[i] = number
	}
	return numbers, nil
}

// Keys maps a name to its key. [feature.Hash] is the one in use; tests narrow it to a few bits.
type Keys func(name []byte) uint64

// FullKeys is the key of a name as files have it.
func FullKeys(name []byte) uint64 {
	key, _ := feature.Hash(name)
	return key
}

// KeyMask keeps the given number of leading bits.
func KeyMask(bits int) uint64 { return ^uint64(0) << (64 - bits) }

// Reader reads the features of one block.
type Reader struct {
	classes []int // from the block's class to its number
	keys    Keys
	body    []byte
	left    uint64
	at      Feature
	err     error
}

// Open checks a block's version and checksum and finds the numbers of its classes, in whose order the counts of each
// feature are.
func Open(b []byte, keys Keys, classes *Classes) (*Reader, error) {
	if len(b) < len(magic)+4 || string(b[:3]) != magic[:3] {
		return nil, errors.New("this is not a count block")
	}
	if b[3] != magic[3] {
		return nil, fmt.Errorf("the count block has version %d, and only %d can be read", b[3], magic[3])
	}
	payload, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(payload, castagnoli) != sum {
		return nil, fmt.Errorf("a count block of %d bytes fails its checksum", len(b))
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

// id reads the id of a class.
func (r *Reader) id() ClassID {
	if len(r.body) < classBytes {
		r.corrupt("an id is cut short")
		return 0
	}
	id := binary.LittleEndian.Uint64(r.body)
	r.body = r.body[classBytes:]
	return ClassID(id)
}

// Next moves to the next feature. It returns false at the end, and where the block is corrupt, which Err tells apart.
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
		r.corrupt("a feature without counts")
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

// Err returns what is wrong with the block, if anything is.
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
		r.corrupt("a class that has no id")
	case len(r.at.Counts) > 0 && r.classes[class] <= r.at.Counts[len(r.at.Counts)-1].Class:
		r.corrupt("classes are not in order")
	case packed>>1 == 0 || documents == 0 || documents > packed>>1:
		r.corrupt("an impossible count")
	default:
		r.at.Counts = append(r.at.Counts, Count{Class: r.classes[class], Occurrences: int64(packed >> 1), Documents: int64(documents)})
		return true
	}
	return false
}

func (r *Reader) corrupt(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("a count block is corrupt: %s", what)
	}
}

// uvarint reads a number. Most take one byte, and are read without a call.
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
		r.corrupt("a number is cut short")
		r.body = nil
		return 0
	}
	r.body = r.body[n:]
	return x
}

// length reads the length of something that takes at least a byte for each of its parts.
func (r *Reader) length() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.body)) {
		r.corrupt("a length is beyond its end")
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

// Writer packs sorted features into blocks of at most Limit bytes, unless a single feature is larger, and hands each to
// Emit, which may keep it unless Reuse is set.
type Writer struct {
	Limit   int
	Classes []ClassID // what Count.Class is an index of, in the order of their labels
	Emit    func(b []byte) error
	Reuse   bool // the memory of a block for the next one

	block    []byte
	body     []byte
	features uint64
	local    []int // from Count.Class to the block's class, plus 1
	order    []int // the block's classes
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

// appendUvarint is binary.AppendUvarint, without a call for the one byte that most numbers take.
func appendUvarint(b []byte, x uint64) []byte {
	if x < 0x80 {
		return append(b, byte(x))
	}
	return binary.AppendUvarint(b, x)
}

// class returns the block's number of a class, and gives it one if this is its first feature in the block.
func (w *Writer) class(c int) int {
	if w.local[c] == 0 {
		w.order = append(w.order, c)
		w.local[c] = len(w.order)
	}
	return w.local[c] - 1
}

// size is how long the block may get if it ends here.
func (w *Writer) size() int {
	return len(magic) + 2*binary.MaxVarintLen64 + classBytes*len(w.order) + len(w.body) + 4
}

// room is how long the feature may get, with the classes that it may bring.
func (w *Writer) room(f *Feature) int {
	return 2*binary.MaxVarintLen32 + len(f.Name) + len(f.Counts)*(4*binary.MaxVarintLen32+classBytes)
}

// Flush emits the block that is being written, if it has any features.
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

// Zero is the block without features.
func Zero() []byte {
	b := append([]byte(magic), 0, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// addCounts adds without overflow: 2⁶² occurrences are more than any corpus has, so beyond lies an error.
func addCounts(a, b int64) (int64, error) {
	if a > math.MaxInt64/2-b {
		return 0, errors.New("a count is beyond 2⁶²")
	}
	return a + b, nil
}
