package corpusio

import (
	"fmt"
	"hash/crc32"

	"github.com/sparsenb/sparsenb/io/fileio"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Span is a stretch of an input file that was read, with its CRC-32C. Object stores know files by the same checksum.
type Span struct {
	File       File
	Start, End int64
	CRC        uint32
}

// Join appends b to a, if it follows it in the same file.
func Join(a, b Span) (Span, bool) {
	if a.File != b.File || a.End != b.Start {
		return a, false
	}
	return Span{a.File, a.Start, b.End, combine(a.CRC, b.CRC, b.End-b.Start)}, true
}

// Check compares the checksum of a file that was read from start to end with the one that its store keeps, if it keeps
// one.
func (s Span) Check() error {
	whole := s.Start == 0 && s.End == s.File.Size
	if got := fileio.Checksum(s.CRC); whole && s.File.CRC32C != "" && s.File.CRC32C != got {
		return fmt.Errorf("%s: the bytes that were read have the CRC-32C %s, the stored ones %s: they changed on the way; run the command again",
			s.File.Name, got, s.File.CRC32C)
	}
	return nil
}

// combine returns the CRC of two stretches from the CRC of each and the length of the second. A CRC is linear over
// GF(2): to let n zero bits pass multiplies it by xⁿ modulo the polynomial.
func combine(a, b uint32, n int64) uint32 {
	// power[i] is x to the 2ⁱ⁺³, that is 2ⁱ zero bytes; products are taken in reflected bit order, where 1<<31 is x⁰.
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

// multiply is a·b modulo the polynomial.
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
