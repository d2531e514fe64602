package selection

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Bucket collects the names of one bucket.
type Bucket struct {
	Key             uint64
	names           []bucketName // the most frequent, in order
	total, distinct int64
}

type bucketName struct {
	name  []byte
	count int64
}

// Add adds a name with its counts.
func (b *Bucket) Add(feat *block.Feature) {
	n := bucketName{name: feat.Name}
	for _, c := range feat.Counts {
		n.count += c.Occurrences
	}
	b.distinct++
	b.total += n.count
	at, _ := slices.BinarySearchFunc(b.names, n, func(a, b bucketName) int {
		return cmp.Or(cmp.Compare(b.count, a.count), bytes.Compare(a.name, b.name))
	})
	if at == modelio.MostNames {
		return
	}
	n.name = bytes.Clone(n.name)
	b.names = slices.Insert(b.names, at, n)
	b.names = b.names[:min(len(b.names), modelio.MostNames)]
}

// Empty reports whether the bucket has no names yet.
func (b *Bucket) Empty() bool { return b.distinct == 0 }

// Rows returns the most frequent names of the bucket.
func (b *Bucket) Rows(bits int) (rows []modelio.BucketRow) {
	for i, n := range b.names {
		rows = append(rows, modelio.BucketRow{
			Feature: string(kernel.AppendBucket(nil, b.Key, bits)), FeatureID: feature.ID(b.Key), Rank: int64(i + 1),
			Name: string(n.name), Count: n.count, Share: float64(n.count) / float64(b.total), Names: b.distinct,
		})
	}
	return rows
}
