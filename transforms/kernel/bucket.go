package kernel

import (
	"strconv"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// MaxHashBits is the largest Config.HashBits.
const MaxHashBits = 32

// AppendBucket appends the name of the bucket of a key: the leading bits of the key as a hexadecimal number, with the same
// number of digits for all buckets.
func AppendBucket(b []byte, key uint64, bits int) []byte {
	digits := (bits + 3) / 4
	bucket := key >> (64 - bits)
	for i := digits - 1; i >= 0; i-- {
		b = append(b, "0123456789abcdef"[bucket>>(4*i)&15])
	}
	return b
}

// bucketKeys returns the keys of buckets by their names.
func bucketKeys(bits int) block.Keys {
	return func(name []byte) uint64 {
		bucket, err := strconv.ParseUint(string(name), 16, bits)
		if err != nil {
			return 0 // a corrupt name: the key is out of order, or of another shard
		}
		return bucket << (64 - bits)
	}
}

// Buckets is a set of buckets.
type Buckets struct {
	bits int
	set  map[uint64]bool
	near []uint64 // a bit for each value of the leading bits: is there a bucket in the set? It saves most lookups
}

// nearBits is the number of leading bits for Buckets.near: 32 KB, which fits into the fastest cache.
const nearBits = 18

// NewBuckets returns an empty set, of 2^bits possible buckets.
func NewBuckets(bits int) *Buckets {
	return &Buckets{bits: bits, set: map[uint64]bool{}, near: make([]uint64, 1<<(nearBits-6))}
}

// Add adds the bucket of a key.
func (b *Buckets) Add(key uint64) {
	bucket := key >> (64 - b.bits)
	b.set[bucket] = true
	// With few bits, a bucket covers several values of the leading bits.
	least := bucket << (64 - b.bits)
	most := least + (1<<(64-b.bits) - 1)
	for at := least >> (64 - nearBits); at <= most>>(64-nearBits); at++ {
		b.near[at>>6] |= 1 << (at & 63)
	}
}

// Empty reports whether the set has no bucket.
func (b *Buckets) Empty() bool { return len(b.set) == 0 }

// Has reports whether the bucket of a key is in the set.
func (b *Buckets) Has(key uint64) bool {
	at := key >> (64 - nearBits)
	return b.near[at>>6]>>(at&63)&1 == 1 && b.set[key>>(64-b.bits)]
}
