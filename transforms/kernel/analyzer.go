package kernel

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Unit is the unit of n-grams.
type Unit int

// The units are those of the parameter analyzer of scikit-learn's CountVectorizer.
const (
	Word   Unit = iota // words; those of an n-gram are joined by one space
	Char               // characters; two or more characters of white space are one space
	CharWB             // characters within words, which are separated by white space and padded with a space on each side
)

var unitNames = [...]string{"word", "char", "char_wb"}

// String returns the name of the unit.
func (u Unit) String() string { return unitNames[u] }

// ParseUnit is the inverse of String.
func ParseUnit(name string) (Unit, error) {
	for u, n := range unitNames {
		if n == name {
			return Unit(u), nil
		}
	}
	return 0, fmt.Errorf("unknown analyzer %q: must be word, char or char_wb", name)
}

// TokenPattern matches a word. It is the default token_pattern of CountVectorizer.
const TokenPattern = `(?u)\b\w\w+\b`

// Analyzer defines the features of a text: its n-grams of Min to Max units. The zero value means single words.
type Analyzer struct {
	Unit     Unit
	Min, Max int
}

// Sizes returns the smallest and the largest number of units of a feature.
func (a Analyzer) Sizes() (least, most int) { return max(a.Min, 1), max(a.Max, 1) }

// MaxNameBytes is the largest total size in bytes of the names in one document.
const MaxNameBytes = 2<<30 - 1<<20

// NameBytes returns the largest total size in bytes of the names in a document of n bytes.
func (a Analyzer) NameBytes(n int) int {
	sizes := 0
	least, most := a.Sizes()
	for size := least; size <= most; size++ {
		sizes += size
	}
	return 2 * sizes * n // lower case and the spaces around words may lengthen a text
}

// words reports whether the features are single words.
func (a Analyzer) words() bool { return a.Unit == Word && a.Max <= 1 }

// grams splits a text into units. An n-gram is a range of units.
type grams struct {
	text   []byte  // the units, and padding after them
	starts []int32 // where units start in text; each run has one more, its end
	runs   []int32 // where runs end in starts; an n-gram is within one run
	gap    int32   // bytes between two units
}

func (g *grams) reset(room int) {
	if cap(g.text) < room+slack {
		g.text = make([]byte, room+room/4+slack)
	}
	g.text, g.starts, g.runs, g.gap = g.text[:cap(g.text)], g.starts[:0], g.runs[:0], 0
}

// splitWords makes one run of the words of a text, without stop words.
func (g *grams) splitWords(w *Words, stopped func(word []byte, start, end int) bool) {
	g.reset(w.size + len(w.edges)/2)
	g.gap = 1
	at := 0
	for edges := w.edges; len(edges) >= 2; edges = edges[2:] {
		start, end := int(edges[0]), int(edges[1])
		if end-start <= utf8.UTFMax && !isWord(w.lower[start], end-start) || stopped != nil && stopped(w.lower, start, end) {
			continue
		}
		g.starts = append(g.starts, int32(at))
		if end-start <= 16 { // w.lower and g.text are padded
			copy(g.text[at:at+16], w.lower[start:start+16])
		} else {
			copy(g.text[at:], w.lower[start:end])
		}
		at += end - start
		g.text[at] = ' '
		at++
	}
	g.end(at)
}

// end ends a run.
func (g *grams) end(at int) {
	g.starts = append(g.starts, int32(at))
	g.runs = append(g.runs, int32(len(g.starts)))
}

// splitChars makes one run of the characters of a text.
func (g *grams) splitChars(lower []byte) {
	g.reset(len(lower))
	at := 0
	for i := 0; i < len(lower); {
		n, space := char(lower[i:])
		g.starts = append(g.starts, int32(at))
		end := i + n
		for more := space; more && end < len(lower); {
			var m int
			if m, more = char(lower[end:]); more {
				end += m
			}
		}
		if end > i+n {
			g.text[at] = ' '
			at++
		} else {
			at += copy(g.text[at:], lower[i:end])
		}
		i = end
	}
	g.end(at)
}

// splitCharsOfWords makes a run of each word's characters, with a space before and after them.
func (g *grams) splitCharsOfWords(lower []byte) {
	g.reset(2*len(lower) + 2)
	at, inWord := 0, false
	for i := 0; i < len(lower); {
		n, space := char(lower[i:])
		if space == inWord { // a word begins or ends
			g.starts = append(g.starts, int32(at))
			g.text[at] = ' '
			at++
			if inWord = !inWord; !inWord {
				g.end(at)
			}
		}
		if !space {
			g.starts = append(g.starts, int32(at))
			at += copy(g.text[at:], lower[i:i+n])
		}
		i += n
	}
	if inWord {
		g.starts = append(g.starts, int32(at))
		g.text[at] = ' '
		g.end(at + 1)
	}
}

// char returns the length of the character at the start of b, which is valid UTF-8, and whether it is white space by
// Python's definition: that of Unicode, and four separators of ASCII.
func char(b []byte) (n int, space bool) {
	if c := b[0]; c < utf8.RuneSelf {
		return 1, c == ' ' || '\t' <= c && c <= '\r' || 0x1c <= c && c <= 0x1f
	}
	r, n := utf8.DecodeRune(b)
	return n, unicode.IsSpace(r)
}
