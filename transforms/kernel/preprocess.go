package kernel

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// preprocessor changes a text before it is split, as an analyzer says. It reuses its memory for the next one.
type preprocessor struct {
	normalize    func(out []byte, text ...byte) []byte // nil: the text is not normalized
	keepCase     bool
	stripAccents bool
	buffer       []byte
}

func newPreprocessor(a Analyzer) preprocessor {
	p := preprocessor{keepCase: a.KeepCase, stripAccents: a.StripAccents}
	switch a.Normalize {
	case NFC:
		p.normalize = norm.NFC.Append
	case NFKC:
		p.normalize = norm.NFKC.Append
	}
	return p
}

// fold writes the changed text to w and marks its word characters. Normalization comes first, because it makes capitals:
// of 𝐀, which has no lower case, NFKC makes A.
func (p *preprocessor) fold(w *Words, text []byte) {
	if p.normalize != nil {
		if !utf8.Valid(text) {
			text = w.replace(text)
		}
		p.buffer = p.normalize(p.buffer[:0], text...)
		text = p.buffer
	}
	if p.keepCase {
		w.keep(text)
	} else {
		w.fold(text)
	}
	if p.stripAccents && !isASCII(w.Text()) {
		p.buffer = appendWithoutAccents(p.buffer[:0], w.Text())
		w.keep(p.buffer)
	}
}

func isASCII(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if binary.LittleEndian.Uint64(text)&highs != 0 {
			return false
		}
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendWithoutAccents appends the compatibility decomposition of a valid text without its combining characters, those
// with a combining class. The order of the others is that of the text, so they need not be sorted.
func appendWithoutAccents(out, text []byte) []byte {
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			out = append(out, text[0])
			text = text[1:]
			continue
		}
		p := norm.NFKD.Properties(text)
		switch decomposed := p.Decomposition(); {
		case decomposed != nil:
			for len(decomposed) > 0 {
				q := norm.NFKD.Properties(decomposed)
				if q.CCC() == 0 {
					out = append(out, decomposed[:q.Size()]...)
				}
				decomposed = decomposed[q.Size():]
			}
		case isSyllable(text):
			out = norm.NFKD.Append(out, text[:p.Size()]...)
		case p.CCC() == 0:
			out = append(out, text[:p.Size()]...)
		}
		text = text[p.Size():]
	}
	return out
}

// isSyllable reports whether a text starts with a syllable of Hangul, which is decomposed by arithmetic.
func isSyllable(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return 0xac00 <= r && r <= 0xd7a3
}

// keep is fold without lower case.
func (w *Words) keep(text []byte) {
	w.reserve(len(text))
	at := 0
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			if x := binary.LittleEndian.Uint64(text[i:]); x&highs == 0 {
				_, word := foldASCII(x)
				binary.LittleEndian.PutUint64(w.lower[at:], x)
				w.mark(at, word)
				at, i = at+8, i+8
				continue
			}
		}
		if c := text[i]; c < utf8.RuneSelf {
			_, word := foldByte(c)
			w.lower[at] = c
			w.mark(at, word)
			at, i = at+1, i+1
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			w.Replaced++
			n = invalidBytes(text[i:])
		}
		size := utf8.EncodeRune(w.lower[at:at+utf8.UTFMax], r)
		if isLetterOrNumber(r) {
			w.mark(at, 1<<size-1)
		}
		at, i = at+size, i+n
	}
	w.size = at
}

// isLetterOrNumber is isWordRune, faster, for a code point that is not ASCII: one is a word character if its lower case is.
func isLetterOrNumber(r rune) bool {
	f := blocks[blockOf[r>>6]][r&63]
	if f == odd {
		return isWordRune(r)
	}
	return f>>24 != 0
}
