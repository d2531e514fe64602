// Package feature is the identity of a feature: what its name hashes to, and which shard counts it.
//
// A feature is known by a 64-bit key and an independent 32-bit check. Two names are taken for one only if both are
// equal, which among 10¹⁰ names happens with odds below 10⁻⁹. The hash is part of the file format: feature_id is the
// key, and docs/formats.md has the function in Python.
package feature

import (
	"encoding/binary"
	"math/bits"
)

// The seeds are the first 64-bit words of the fractional part of π.
const (
	seed0 = 0x243f6a8885a308d3
	seed1 = 0x13198a2e03707344
	seed2 = 0xa4093822299f31d0
	seed3 = 0x082efa98ec4e6c89
	seed4 = 0x452821e638d01377
)

// Hash returns the key and the check of a name.
func Hash(name []byte) (key uint64, check uint32) {
	n := len(name)
	if n > 16 {
		return hashLong(name)
	}
	// Two loads that may overlap, and no copy: a third of the time.
	var a, b uint64
	switch {
	case n >= 8:
		a = binary.LittleEndian.Uint64(name)
		b = binary.LittleEndian.Uint64(name[n-8:]) >> (8 * (16 - n))
	case n >= 4:
		a = uint64(binary.LittleEndian.Uint32(name)) | uint64(binary.LittleEndian.Uint32(name[n-4:]))<<(8*(n-4))
	case n > 0:
		a = uint64(name[0]) | uint64(name[n/2])<<(8*(n/2)) | uint64(name[n-1])<<(8*(n-1))
	}
	return hash16(a, b, n)
}

// masks[n] keeps the first n bytes of 16.
var masks = func() (m [17][2]uint64) {
	for n := range m {
		m[n][0] = ^uint64(0) >> (64 - 8*min(n, 8))
		m[n][1] = ^uint64(0) >> (64 - 8*max(n-8, 0))
	}
	return m
}()

// Padding is how many bytes after a name HashAt may read.
const Padding = 16

// HashAt is Hash(text[start:end]), for text that goes on for at least Padding bytes after end.
func HashAt(text []byte, start, end int) (key uint64, check uint32) {
	n := end - start
	if n > 16 {
		return hashLong(text[start:end])
	}
	b := text[start : start+16 : start+16]
	return hash16(binary.LittleEndian.Uint64(b)&masks[n][0], binary.LittleEndian.Uint64(b[8:])&masks[n][1], n)
}

// hash16 hashes a name of up to 16 bytes, padded with zeros.
func hash16(a, b uint64, n int) (key uint64, check uint32) {
	return finish(a^seed0, b^seed1, n)
}

// hashLong multiplies 16 bytes at a time into the seeds, and ends with the last 16 bytes.
func hashLong(name []byte) (key uint64, check uint32) {
	x, y := uint64(seed0), uint64(seed1)
	for rest := name; len(rest) > 16; rest = rest[16:] {
		high, low := bits.Mul64(binary.LittleEndian.Uint64(rest)^x, binary.LittleEndian.Uint64(rest[8:])^y)
		x, y = low^seed0, high^seed1
	}
	last := name[len(name)-16:]
	return finish(binary.LittleEndian.Uint64(last)^x, binary.LittleEndian.Uint64(last[8:])^y, len(name))
}

// finish takes key and check from the product, multiplied once more, with the length: in the first product it could stand
// for a byte.
func finish(x, y uint64, n int) (key uint64, check uint32) {
	high, low := bits.Mul64(x, y)
	high, low = bits.Mul64(low^seed2^uint64(n)*seed4, high^seed3)
	return high ^ low, uint32(low >> 32)
}

// ID is the key as files have it: a signed number, for the sake of readers that know no other, in the same order.
func ID(key uint64) int64 { return int64(key ^ 1<<63) }

// Key is the inverse of ID.
func Key(id int64) uint64 { return uint64(id) ^ 1<<63 }

// Shard returns which of n shards counts the key. Shards are ranges of keys, so they are in the order of the keys.
func Shard(key uint64, n int) int {
	high, _ := bits.Mul64(key, uint64(n))
	return int(high)
}

// Count is how often a feature occurs in a class, and in how many documents of it.
type Count struct {
	Class                  int // index into the labels that go with it
	Occurrences, Documents int64
}
