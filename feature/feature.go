// Package feature is the identity of a feature: what its name hashes to, and which shard counts it.
//
// A feature is known by a 64-bit key and a 64-bit check. A name of up to [Exact] bytes can be computed from both, so no two
// of them have the same. Longer names may, by chance (odds below 10⁻¹⁵ among 10¹⁰ names) or because somebody looked for
// them: the function is public and can be inverted. So whoever takes equal keys and checks for one feature compares the
// names where [IsLong] says so. Names are UTF-8; of other bytes, two short names that differ in 0xff bytes at their end
// have one key and one check.
//
// Somebody who wants to can also find names whose keys have the same leading bits. They are counted right, and slowly.
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

// Exact is the length of the longest names that their key and their check tell apart.
const Exact = 16

// long marks the check of a longer name, in its lowest byte. That of a shorter one is the name's first byte, and no text
// in UTF-8 has this one.
const long = 0xff

// IsLong reports whether a check is that of a name of more than Exact bytes.
func IsLong(check uint64) bool { return byte(check) == long }

// Hash returns the key and the check of a name.
func Hash(name []byte) (key, check uint64) {
	n := len(name)
	if n > Exact {
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
	a |= padding[n][0]
	return mix(a, b|padding[n][1]), a
}

// padding[n] fills 16 bytes, of which a name has the first n, with a byte that no text in UTF-8 has: so the length needs
// no place of its own.
var padding = func() (p [Exact + 1][2]uint64) {
	for n := range p {
		p[n][0] = ^uint64(0) << (8 * min(n, 8))
		p[n][1] = ^uint64(0) << (8 * max(n-8, 0))
	}
	return p
}()

// Padding is how many bytes after a name HashAt may read.
const Padding = 16

// HashAt is Hash(text[start:end]), for text that goes on for at least Padding bytes after end.
func HashAt(text []byte, start, end int) (key, check uint64) {
	n := end - start
	if n > Exact {
		return hashLong(text[start:end])
	}
	t := text[start : start+16 : start+16]
	a := binary.LittleEndian.Uint64(t) | padding[n][0]
	return mix(a, binary.LittleEndian.Uint64(t[8:])|padding[n][1]), a
}

// mix makes one number of two. For every a, different b have different results: multiplying by an odd number, xor with
// the own leading bits, and xor with what a gives, can all be undone. So whatever a is, b is not forgotten.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^seed, factorA)
	b *= factorB
	x := (high ^ low ^ b ^ b>>47) * factor
	return x ^ x>>32
}

// hashLong mixes 16 bytes at a time into three numbers, and ends with the last 16 bytes. A text can be chosen that cancels
// a difference in x and y; in z there must be none.
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
