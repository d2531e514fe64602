// Package kernel counts the features of documents: it converts a text to lower case, finds its words or n-grams, and counts
// them in a hash table for each class. It does not depend on Beam.
//
// Words are those of scikit-learn's CountVectorizer(): matches of (?u)\b\w\w+\b in the lower-case text.
package kernel

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
)

// Words finds the words of a text. It reuses its memory for the next one.
type Words struct {
	// Replaced counts sequences of invalid UTF-8. Each is replaced by U+FFFD, which is not part of a word.
	Replaced int64

	lower  []byte   // the lower-case text, and padding after it
	isWord []uint64 // a bit for each byte of lower: is it part of a word character?
	edges  []int32  // start and end of each word in lower
	size   int      // size of the text in lower
}

// Split converts text to lower case and finds its words. They are valid until the next call.
func (w *Words) Split(text []byte) {
	w.fold(text)
	w.findEdges()
}

// isWord reports whether n ≤ utf8.UTFMax bytes of word characters are more than one character.
func isWord(first byte, n int) bool {
	return n > 1 && (first < utf8.RuneSelf || runeBytes(first) < n)
}

// Text returns the lower-case text. At least feature.Padding bytes follow it in memory.
func (w *Words) Text() []byte { return w.lower[:w.size] }

// runeBytes is the length of the character that starts with the byte first, which is not ASCII.
func runeBytes(first byte) int { return bits.LeadingZeros8(^first) }

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// foldASCII converts eight ASCII bytes to lower case and returns a bit for each that is in [0-9a-z_]; bit 0 is for the first
// byte. An addition sets bit 7 of a byte if the byte is at least (or above) the letter in it.
func foldASCII(x uint64) (lower, word uint64) {
	upper := (x + (0x80-'A')*ones) &^ (x + (0x7f-'Z')*ones) & highs
	lower = x | upper>>2
	letter := (lower + (0x80-'a')*ones) &^ (lower + (0x7f-'z')*ones)
	digit := (x + (0x80-'0')*ones) &^ (x + (0x7f-'9')*ones)
	notUnderscore := (x ^ '_'*ones) + 0x7f*ones
	word = (letter | digit | ^notUnderscore) & highs
	return lower, gather(word)
}

// gather returns bit 7 of each of eight bytes, whose other bits are 0; bit 0 is for the first byte.
func gather(x uint64) uint64 { return x >> 7 * 0x0102040810204080 >> 56 }

// fold writes the lower-case text to w.lower and marks its word characters in w.isWord.
func (w *Words) fold(text []byte) {
	w.reserve(len(text))
	at, i := 0, 0
	for i+64 <= len(text) {
		b := text[i : i+64 : i+64]
		out := w.lower[at : at+64 : at+64]
		var all, mask uint64
		for j := 0; j < 64; j += 8 {
			x := binary.LittleEndian.Uint64(b[j:])
			lower, word := foldASCII(x)
			binary.LittleEndian.PutUint64(out[j:], lower)
			mask |= word << j
			all |= x
		}
		if all&highs == 0 {
			w.mark(at, mask)
			at += 64
			i += 64
			continue
		}
		for mixed := true; mixed && i+64 <= len(text); {
			at, i, mixed = w.foldMixed(text, at, i, 64, (*[64]byte)(text[i:]))
		}
	}
	for i < len(text) {
		var b [64]byte
		n := copy(b[:], text[i:])
		at, i, _ = w.foldMixed(text, at, i, n, &b)
	}
	w.size = at
}

// foldMixed is fold for b, the n bytes at text[i], followed by zeros if n < 64. It returns the next at and i, which are before
// the end of b if its last character may continue after it, and whether b has bytes that are not ASCII.
func (w *Words) foldMixed(text []byte, at, i, n int, b *[64]byte) (int, int, bool) {
	out := (*[64]byte)(w.lower[at:])
	var mask, others uint64
	for j := 0; j < 64 && j < n; j += 8 {
		x := binary.LittleEndian.Uint64(b[j:])
		high := x & highs
		other := high >> 7 * 0xff
		lower, word := foldASCII(x &^ other)
		binary.LittleEndian.PutUint64(out[j:], lower|x&other)
		mask |= word << j
		others |= gather(high) << j
	}
	mixed := others != 0
	blocks := blocks
	// j&63 tells the compiler that j < 64, which makes Russian 13 % faster.
	for others != 0 {
		j := bits.TrailingZeros64(others)
		if j > 64-utf8.UTFMax {
			n = j
			break
		}
		f, bytes := odd, uint64(0) // bytes has a bit for each of the character
		switch x := binary.LittleEndian.Uint32(b[j:]); {
		case x&0xc0e0 == 0x80c0:
			f, bytes = blocks[blockOf[x&0x1f]][x>>8&0x3f], 1<<2-1
		case x&0xc0c0f0 == 0x8080e0:
			if block := x&0xf<<6 | x>>8&0x3f; block >= 0x800>>6 {
				f, bytes = blocks[blockOf[block]][x>>16&0x3f], 1<<3-1
			}
		case x&0xc0c0c0f8 == 0x808080f0:
			if block := x&0x7<<12 | x>>8&0x3f<<6 | x>>16&0x3f; 0x10000>>6 <= block && block < uint32(len(blockOf)) {
				f, bytes = blocks[blockOf[block]][x>>24&0x3f], 1<<4-1
			}
		}
		if f == odd {
			rest := *out
			nextAt, next := w.foldRune(text, at+j, i+j)
			k := next - i
			others &^= 1<<k - 1
			if nextAt-at == k {
				continue
			}
			// Its length changes in lower case, so the rest moves.
			w.mark(at, mask&(1<<j-1))
			mask &^= 1<<k - 1
			if nextAt < k {
				return nextAt, next, true
			}
			at = nextAt - k
			out = (*[64]byte)(w.lower[at:])
			copy(out[k:], rest[k:])
			continue
		}
		if f&changes != 0 {
			out[j] ^= byte(f)
			out[j+1] ^= byte(f >> 8)
			out[j+2] ^= byte(f >> 16)
		}
		mask |= uint64(f>>24) << (j & 63)
		others &^= bytes << (j & 63)
	}
	w.mark(at, mask&(1<<n-1))
	return at + n, i + n, mixed
}

func foldByte(c byte) (lower byte, word uint64) {
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
		return c, 1
	case 'A' <= c && c <= 'Z':
		return c | 0x20, 1
	}
	return c, 0
}

// foldRune is fold for one character that is not ASCII, or for one sequence of invalid UTF-8.
func (w *Words) foldRune(text []byte, at, i int) (int, int) {
	r, n := utf8.DecodeRune(text[i:])
	if r == utf8.RuneError && n == 1 {
		w.Replaced++
		return at + utf8.EncodeRune(w.lower[at:at+utf8.UTFMax], utf8.RuneError), i + invalidBytes(text[i:])
	}
	for _, l := range lowerRune(text, i, n, r) {
		if l == 0 {
			break
		}
		size := utf8.EncodeRune(w.lower[at:at+utf8.UTFMax], l)
		if isWordRune(l) {
			w.mark(at, 1<<size-1)
		}
		at += size
	}
	return at, i + n
}

// mark sets the bits of mask in isWord, from bit at on.
func (w *Words) mark(at int, mask uint64) {
	w.isWord[at>>6] |= mask << (at & 63)
	w.isWord[at>>6+1] |= mask >> 1 >> (63 - at&63)
}

// slack is the padding: how far after the text fold may write and HashAt may read.
const slack = 64 + feature.Padding

// replace returns text as valid UTF-8.
func (w *Words) replace(text []byte) (valid []byte) {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			w.Replaced++
			n = invalidBytes(text)
		}
		valid = utf8.AppendRune(valid, r)
		text = text[n:]
	}
	return valid
}

// reserve makes room for a text of n bytes and clears the marks. In lower case it has at most 3n bytes, if all of it is
// invalid UTF-8.
func (w *Words) reserve(n int) {
	n *= 3
	if len(w.lower) < n+slack {
		w.lower = make([]byte, n+n/8+slack)
		w.isWord = make([]uint64, len(w.lower)/64+2)
	}
	clear(w.isWord[:n/64+2])
}

// findEdges lists the positions where w.isWord changes.
func (w *Words) findEdges() {
	if need := w.size + 2; cap(w.edges) < need {
		w.edges = make([]int32, need+need/4)
	}
	edges := w.edges[:cap(w.edges)]
	n := 0
	carry := uint64(0)
	for i, m := range w.isWord[:w.size/64+1] {
		for changes := m ^ (m<<1 | carry); changes != 0; changes &= changes - 1 {
			edges[n] = int32(i<<6 + bits.TrailingZeros64(changes))
			n++
		}
		carry = m >> 63
	}
	w.edges = edges[:n]
}
