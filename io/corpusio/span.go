package corpusio

import (
	"fmt"
	"hash/crc32"

	"github.com/sparsenb/sparsenb/io/fileio"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Span is the part [Start, End) of a file, and the CRC-32C of its stored bytes if all of them were read.
type Span struct {
	File       File
	Start, End int64
	CRC        uint32
	NoCRC      bool // only some of the bytes were read
}

// Join returns the span of a and b, if b follows a in the same file.
func Join(a, b Span) (Span, bool) {
	if a.File != b.File || a.End != b.Start {
		return a, false
	}
	if a.NoCRC || b.NoCRC {
		return Span{File: a.File, Start: a.Start, End: b.End, NoCRC: true}, true
	}
	return Span{File: a.File, Start: a.Start, End: b.End, CRC: combine(a.CRC, b.CRC, b.End-b.Start)}, true
}

// Check compares the checksum of a whole file with the one that its store recorded, if there is one.
func (s Span) Check() error {
	whole := s.Start == 0 && s.End == s.File.Size
	if got := fileio.Checksum(s.CRC); whole && !s.NoCRC && s.File.CRC32C != "" && s.File.CRC32C != got {
		return fmt.Errorf("%s: checksum mismatch: the bytes that were read have CRC-32C %s, those in the store %s; run the command again",
			s.File.Name, got, s.File.CRC32C)
	}
	return nil
}

// combine returns the CRC of two byte strings from the CRC of each and the length of the second. A CRC is linear over
// GF(2): appending n zero bits multiplies it by xⁿ modulo the polynomial.
func combine(a, b uint32, n int64) uint32 {
	// power is x to the 2ⁱ⁺³, that is 2ⁱ zero bytes. Products are in reflected bit order, where 1<<31 is x⁰.
	power := multiply(1<<30, 1<<30) // x²
	power = multiply(power, power)  // x⁴
	power = multiply(power, power)  // x⁸
	shift := uint32(1 << 31)        // x⁰
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			shift = multiply(shift, power)
		}
		power = multiply(power, power)
	}
	return multiply(shift, a) ^ b
}

// multiply returns a·b modulo the polynomial.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		odd := b & 1
		b >>= 1
		if odd == 1 {
			b ^= crc32.Castagnoli
		}
	}
	return product
}
