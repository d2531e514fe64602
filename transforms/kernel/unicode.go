package kernel

import (
	"unicode"
	"unicode/utf8"
)

// isWordRune is Python's \w: an underscore, or str.isalnum(), that is letters and whatever has a numeric value.
// Marks do not belong to words.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		_, word := foldByte(byte(r))
		return word == 1
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// A folding is what fold does with a code point of two bytes or more: its lowest 24 bits are what is to be flipped in the
// first three bytes for its lower case, the first byte lowest; from bit 24 on is a bit for each byte of a word character.
type folding uint32

const (
	changes folding = 1<<24 - 1
	odd     folding = 1 << 31 // and nothing else: foldRune knows
)

// wordFolding is the folding of a word character of n bytes that is in lower case.
func wordFolding(n int) folding { return (1<<n - 1) << 24 }

// blocks are the foldings of 64 code points each, which have all bytes but the last in common; blockOf says which block
// is that of a code point. The first blocks serve many: code points that are no word characters, those that are, by
// their length, and odd ones.
var (
	blockOf [(unicode.MaxRune + 1) >> 6]uint16
	blocks  = make([][64]folding, oddBlock+1, 512)
)

const oddBlock = utf8.UTFMax + 1

// init makes blocks of the ranges of package unicode in 0.1 ms.
func init() {
	for n := 2; n <= utf8.UTFMax; n++ {
		for i := range blocks[n] {
			blocks[n][i] = wordFolding(n)
		}
	}
	for i := range blocks[oddBlock] {
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
			if unicode.ToLower(r) != r || r == capitalIWithDot || r == capitalSigma {
				setFolding(r, foldingOf(r))
			}
		}
	}
	// fold decodes to ASCII and surrogates what is not UTF-8.
	for r := rune(0); r < utf8.RuneSelf; r += 64 {
		blockOf[r>>6] = oddBlock
	}
	for r := rune(0xd800); r < 0xe000; r += 64 {
		blockOf[r>>6] = oddBlock
	}
}

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

// foldingOf is the folding of a code point, from its definition.
func foldingOf(r rune) folding {
	l := unicode.ToLower(r)
	n := utf8.RuneLen(r)
	switch {
	case r < utf8.RuneSelf, n < 0, r == capitalIWithDot, r == capitalSigma, utf8.RuneLen(l) != n:
		return odd
	}
	var f folding
	if isWordRune(l) {
		f = wordFolding(n)
	}
	var from, to [utf8.UTFMax]byte
	utf8.EncodeRune(from[:], r)
	utf8.EncodeRune(to[:], l)
	for i := range from {
		if i == 3 && from[i] != to[i] {
			return odd
		}
		f |= folding(from[i]^to[i]) << (8 * i) & changes
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

// isCaseIgnorable is Unicode's derived property Case_Ignorable: marks that take no room, format characters, modifiers,
// and the characters that Word_Break calls MidLetter, MidNumLet and Single_Quote.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// invalidBytes returns how many bytes at the start of b, which is not valid UTF-8 there, Python replaces by one U+FFFD:
// the longest start of a valid character, or one byte.
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
