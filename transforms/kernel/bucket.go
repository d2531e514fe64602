package kernel

import (
	"strconv"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// MaxHashBits is the most that Config.HashBits may be.
const MaxHashBits = 32

// AppendBucket appends the name under which the features of a key are counted where there are 2ⁿ buckets: the number of
// the bucket, n leading bits of the key, in hexadecimal digits, as many for one as for another.
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
			return 0 // which is out of order, or no key of this shard
		}
		return bucket << (64 - bits)
	}
}
