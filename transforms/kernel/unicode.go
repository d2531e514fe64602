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
