package kernel

import (
	"unicode"
	"unicode/utf8"
)

// isWordRune is Python's \w: an underscore, or str.isalnum(), which is true for letters and for characters with a numeric
// value, and false for marks.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		_, word := foldByte(byte(r))
		return word == 1
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// A folding says how fold converts a code point that is not ASCII. Its low 24 bits are the XOR of the first three bytes
// with those of the lower case, the first byte lowest; from bit 24 on, it has a bit for each byte of a word character.
type folding uint32

const (
	changes folding = 1<<24 - 1
	odd     folding = 1 << 31 // no other bit is set: foldRune handles it
)

// wordFolding is the folding of a word character of n bytes that is its own lower case.
func wordFolding(n int) folding { return (1<<n - 1) << 24 }

// blockOf has the number of the block of a code point's folding. A block has the foldings of 64 code points, which differ only
// in the last byte. The first blocks are shared: for code points without folding, for word characters of two, three and four
// bytes, and for odd ones. There are 344 others.
var (
	blockOf [(unicode.MaxRune + 1) >> 6]uint16
	blocks  = make([][64]folding, oddBlock+1, 384)
)

const oddBlock = utf8.UTFMax + 1

// init takes 0.2 ms, because it goes through the ranges of package unicode, not through code points.
func init() {
	for i := range 64 {
		for n := 2; n <= utf8.UTFMax; n++ {
			blocks[n][i] = wordFolding(n)
		}
		blocks[oddBlock][i] = odd
	}
	for _, table := range []*unicode.RangeTable{unicode.L, unicode.N} {
		for _, r := range table.R16 {
			addWords(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			addWords(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if unicode.ToLower(r) != r {
				setFolding(r, foldingOf(r))
			}
		}
	}
	// ASCII in two or three bytes and surrogates are not valid UTF-8.
	for r := rune(0); r < utf8.RuneSelf; r += 64 {
		blockOf[r>>6] = oddBlock
	}
	for r := rune(0xd800); r < 0xe000; r += 64 {
		blockOf[r>>6] = oddBlock
	}
}

// addWords marks a range as word characters that are their own lower case.
func addWords(low, high, stride rune) {
	for r := low; r <= high; r += stride {
		n := utf8.RuneLen(r)
		if stride == 1 && r&63 == 0 && r+63 <= high {
			blockOf[r>>6] = uint16(n)
			r += 63
			continue
		}
		setFolding(r, wordFolding(n))
	}
}

func setFolding(r rune, f folding) {
	i := blockOf[r>>6]
	if i <= oddBlock {
		blocks = append(blocks, blocks[i])
		i = uint16(len(blocks) - 1)
		blockOf[r>>6] = i
	}
	blocks[i][r&63] = f
}

// foldingOf returns the folding of a code point that is not ASCII, by the definition.
func foldingOf(r rune) folding {
	l := unicode.ToLower(r)
	n := utf8.RuneLen(r)
	if r == capitalIWithDot || r == capitalSigma || utf8.RuneLen(l) != n {
		return odd
	}
	var from, to [utf8.UTFMax]byte
	utf8.EncodeRune(from[:], r)
	utf8.EncodeRune(to[:], l)
	if from[3] != to[3] {
		return odd
	}
	f := folding(from[0]^to[0]) | folding(from[1]^to[1])<<8 | folding(from[2]^to[2])<<16
	if isWordRune(l) {
		f |= wordFolding(n)
	}
	return f
}

const (
	capitalIWithDot = 'İ'
	capitalSigma    = 'Σ'
	smallSigma      = 'σ'
	finalSigma      = 'ς'
	combiningDot    = '\u0307'
)

// lowerRune is Python's str.lower() for the character r, n bytes at text[i], which is not ASCII: the full Unicode
// mapping, whose only unconditional expansion is İ, and whose only condition is the final sigma. The result ends at 0.
func lowerRune(text []byte, i, n int, r rune) [2]rune {
	switch r {
	case capitalIWithDot:
		return [2]rune{'i', combiningDot}
	case capitalSigma:
		if isFinal(text[:i], text[i+n:]) {
			return [2]rune{finalSigma}
		}
		return [2]rune{smallSigma}
	}
	return [2]rune{unicode.ToLower(r)}
}

// isFinal is Unicode's condition Final_Sigma: a cased character comes before, none after, with only case-ignorable
// characters between.
func isFinal(before, after []byte) bool {
	for len(before) > 0 {
		r, n := utf8.DecodeLastRune(before)
		before = before[:len(before)-n]
		if !isCaseIgnorable(r) {
			if !isCased(r) {
				return false
			}
			return !startsCased(after)
		}
	}
	return false
}

func startsCased(after []byte) bool {
	for len(after) > 0 {
		r, n := utf8.DecodeRune(after)
		after = after[n:]
		if !isCaseIgnorable(r) {
			return isCased(r)
		}
	}
	return false
}

// isCased is Unicode's derived property Cased.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is Unicode's derived property Case_Ignorable: nonspacing and enclosing marks, format characters,
// modifiers, and the characters with Word_Break = MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// invalidBytes returns how many bytes at the start of b, which are invalid UTF-8, Python replaces by one U+FFFD: the longest
// prefix of a valid character, or one byte.
func invalidBytes(b []byte) int {
	low, high, want := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case 0xc2 <= c && c <= 0xdf:
		want = 2
	case c == 0xe0:
		low, want = 0xa0, 3
	case c == 0xed:
		high, want = 0x9f, 3
	case 0xe1 <= c && c <= 0xef:
		want = 3
	case c == 0xf0:
		low, want = 0x90, 4
	case c == 0xf4:
		high, want = 0x8f, 4
	case 0xf1 <= c && c <= 0xf3:
		want = 4
	}
	n := 1
	for n < want && n < len(b) && low <= b[n] && b[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
