package kernel

import (
	"sync/atomic"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// testKeyBits is set only by tests: see NarrowKeys.
var testKeyBits atomic.Int32

// NarrowKeys is for tests. Until restore is called, new counters and merges use only the leading bits of each key, so that
// keys collide and the names have to decide. It changes the feature_id of every feature.
func NarrowKeys(bits int) (restore func()) {
	old := testKeyBits.Swap(int32(bits))
	return func() { testKeyBits.Store(old) }
}

// Keys returns the function from names to keys by which counts are sorted. With hashBits > 0 the names are those of
// 2^hashBits buckets, see [AppendBucket].
func Keys(hashBits int) block.Keys {
	if hashBits > 0 {
		return bucketKeys(hashBits)
	}
	bits := int(testKeyBits.Load())
	if bits == 0 {
		return block.FullKeys
	}
	return func(name []byte) uint64 { return block.FullKeys(name) & block.KeyMask(bits) }
}

// narrow selects the bits of a key and a check that are in use.
type narrow struct {
	key   uint64 // bits of the key in use
	check uint64 // bits of the check that are not in use; they are set
}

func (n narrow) of(key, check uint64) (uint64, uint64) { return key & n.key, check | n.check }

// fullKeys uses all bits.
var fullKeys = narrow{key: ^uint64(0)}

// narrowFor returns the bits that Keys(hashBits) uses. Where a test narrows the keys, every check is that of a long name,
// so that names are compared.
func narrowFor(hashBits int) narrow {
	if hashBits > 0 {
		return narrow{key: block.KeyMask(hashBits)}
	}
	if bits := int(testKeyBits.Load()); bits > 0 {
		return narrow{block.KeyMask(bits), ^uint64(0)}
	}
	return fullKeys
}
