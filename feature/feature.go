// Package feature hashes the names of features, and assigns them to shards.
//
// A feature has a 64-bit key and a 64-bit check. For names of up to [Exact] bytes the pair is unique, because the name can
// be computed from it. Longer names may collide: by chance (probability below 10⁻¹⁵ among 10¹⁰ names), or by construction,
// because the function is public and invertible. So if [IsLong] is true, compare the names too. Names are UTF-8; short names
// of other bytes collide if they differ only in 0xff bytes at their end.
//
// Names whose keys share leading bits can be constructed. They are counted correctly, but slowly.
//
// The hash is part of the file format: feature_id is the key, and docs/formats.md has the function in Python.
package feature

import (
	"encoding/binary"
	"math/bits"
)

// The constants are 64-bit words of the fractional part of π that are odd: the first, the fifth, and others.
const (
	seed    = 0x243f6a8885a308d3
	lengths = 0x452821e638d01377
	factorA = 0xc0ac29b7c97c50dd
	factorB = 0x9216d5d98979fb1b
	factor  = 0xba7c9045f12c7f99
)

// Exact is the maximum length, in bytes, of names with a unique key and check.
const Exact = 16

// long is the lowest byte of the check of a longer name. For other names this byte is their first byte, which is never 0xff
// in UTF-8.
const long = 0xff

// IsLong reports whether the name of a check has more than [Exact] bytes.
func IsLong(check uint64) bool { return byte(check) == long }

// Hash returns the key and the check of a name.
func Hash(name []byte) (key, check uint64) {
	n := len(name)
	if n > Exact {
		return hashLong(name)
	}
	// Two loads that may overlap take a third of the time of a copy.
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
	a |= padding[n][0]
	return mix(a, b|padding[n][1]), a
}

// padding[n] fills a name of n bytes up to 16 bytes with a byte that UTF-8 does not have, so the length needs no byte.
var padding = func() (p [Exact + 1][2]uint64) {
	for n := range p {
		p[n][0] = ^uint64(0) << (8 * min(n, 8))
		p[n][1] = ^uint64(0) << (8 * max(n-8, 0))
	}
	return p
}()

// Padding is the number of bytes after a name that [HashAt] may read.
const Padding = 16

// HashAt is Hash(text[start:end]). text must have at least [Padding] bytes after end.
func HashAt(text []byte, start, end int) (key, check uint64) {
	n := end - start
	if n > Exact {
		return hashLong(text[start:end])
	}
	t := text[start : start+16 : start+16]
	a := binary.LittleEndian.Uint64(t) | padding[n][0]
	return mix(a, binary.LittleEndian.Uint64(t[8:])|padding[n][1]), a
}

// mix combines two numbers. For every a it is a bijection of b: multiplication by an odd number, xor with the leading bits of
// the same number, and xor with a function of a can all be undone.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^seed, factorA)
	b *= factorB
	x := (high ^ low ^ b ^ b>>47) * factor
	return x ^ x>>32
}

// hashLong mixes 16 bytes at a time into three numbers, and then the last 16 bytes. A text can be constructed to cancel a
// difference in x and y, but not in z.
func hashLong(name []byte) (key, check uint64) {
	x, y, z := uint64(0), uint64(len(name))*lengths, uint64(0)
	for rest := name; ; rest = rest[16:] {
		if len(rest) < 16 {
			rest = name[len(name)-16:]
		}
		a, b := binary.LittleEndian.Uint64(rest)^x, binary.LittleEndian.Uint64(rest[8:])^y
		x, y = mix(a, b), mix(b, a)
		z = mix(y, x^z)
		if len(rest) == 16 {
			return z, y | long
		}
	}
}

// ID returns the feature_id of a key: a signed number, because some readers have no unsigned ones, in the same order.
func ID(key uint64) int64 { return int64(key ^ 1<<63) }

// Key is the inverse of [ID].
func Key(id int64) uint64 { return uint64(id) ^ 1<<63 }

// Shard returns which of n shards, from 0, counts the key. Shards are consecutive ranges of keys.
func Shard(key uint64, n int) int {
	high, _ := bits.Mul64(key, uint64(n))
	return int(high)
}

// Count is the number of occurrences of a feature in a class, and of documents with it.
type Count struct {
	Class                  int // index into a list of labels
	Occurrences, Documents int64
}

// Value is a feature of a document and its value there: how often it occurs, or any other number that is at least 0.
type Value struct {
	Name  []byte
	Value float64
}
