package kernel

import (
	"errors"
	"math"

	"github.com/sparsenb/sparsenb/feature"
)

// IDF has the inverse document frequencies of the features of a corpus. Several goroutines may read it at once.
type IDF struct {
	table  *table
	narrow narrow
}

// NewIDF returns an empty table.
func NewIDF() *IDF { return &IDF{table: newTable(), narrow: narrowFor(0)} }

// maxIDFNames is the largest size of the names in bytes, so that entry.name has room.
const maxIDFNames = 3 << 30

// Add adds a feature that is not in the table yet.
func (d *IDF) Add(name []byte, idf float64) error {
	if d.table.nameEnd > maxIDFNames {
		return errors.New("the names of the features have more than 3 GB; --weights=tfidf cannot be used with so many")
	}
	if d.table.crowded() {
		d.table.grow()
	}
	key, check := d.narrow.of(feature.Hash(name))
	e := d.table.insert(scatter(key), check, name)
	bits := math.Float64bits(idf)
	e.count, e.last = uint32(bits), uint32(bits>>32)
	return nil
}

// scatter is a bijection. The features come in the order of their keys, which would fill one end of a table first: 5.1 million
// pairs and triples of words took more than 150 s instead of 21.
func scatter(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

// Bytes returns how much memory the table takes.
func (d *IDF) Bytes() int { return d.table.bytes() }

// find returns the inverse document frequency of a feature, or 0 if it has none.
func (d *IDF) find(key, check uint64, name []byte) float64 {
	e := d.table.findNamed(scatter(key), check, name)
	return math.Float64frombits(uint64(e.count) | uint64(e.last)<<32)
}

// IDF returns the inverse document frequency of a feature that occurs in some of all documents.
func (w Weights) IDF(documents, all int64) float64 {
	df, n := float64(documents), float64(all)
	if !w.PlainIDF {
		df, n = df+1, n+1
	}
	return math.Log(n/df) + 1
}
