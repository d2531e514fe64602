package kernel

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unit is the unit of n-grams.
type Unit int

// The first three units are those of the parameter analyzer of scikit-learn's CountVectorizer.
const (
	Word       Unit = iota // words; those of an n-gram are joined by one space, as other tokens are
	Char                   // characters; two or more characters of white space are one space
	CharWB                 // characters within words, which are separated by white space and padded with a space on each side
	Unicode                // words by Unicode's rules (UAX #29) that have a letter or a number
	Whitespace             // tokens separated by white space
	Regex                  // matches of Analyzer.Pattern
)

var unitNames = [...]string{"word", "char", "char_wb", "unicode", "whitespace", "regex"}

// String returns the name of the unit.
func (u Unit) String() string { return unitNames[u] }

// Characters reports whether n-grams are made of characters, and not of tokens.
func (u Unit) Characters() bool { return u == Char || u == CharWB }

// ParseUnit is the inverse of String.
func ParseUnit(name string) (Unit, error) {
	if u := slices.Index(unitNames[:], name); u >= 0 {
		return Unit(u), nil
	}
	return 0, fmt.Errorf("unknown analyzer %q: must be word, char, char_wb, unicode, whitespace or regex:PATTERN", name)
}

// Form is a normal form of Unicode.
type Form int

// The forms that text can be converted to.
const (
	NoForm Form = iota // as it is
	NFC                // canonical composition
	NFKC               // compatibility composition: also ligatures, full-width letters and the like become plain
)

var formNames = [...]string{"none", "nfc", "nfkc"}

// String returns the name of the form.
func (f Form) String() string { return formNames[f] }

// ParseForm is the inverse of String.
func ParseForm(name string) (Form, error) {
	if f := slices.Index(formNames[:], name); f >= 0 {
		return Form(f), nil
	}
	return 0, fmt.Errorf("unknown normal form %q: must be none, nfc or nfkc", name)
}

// TokenPattern matches a word. It is the default token_pattern of CountVectorizer.
const TokenPattern = `(?u)\b\w\w+\b`

// MaxNgram is the largest Analyzer.Max.
const MaxNgram = 100

// Analyzer defines the features of a text: its n-grams of Min to Max units. The zero value means single words in lower case.
//
// The text is first valid UTF-8, then normalized, then in lower case, then without accents, then split.
type Analyzer struct {
	Unit     Unit
	Min, Max int

	Pattern        string // of Regex; see Validate
	Normalize      Form   // default: none
	KeepCase       bool   // no lower case
	StripAccents   bool   // compatibility decomposition without combining marks: strip_accents="unicode" of CountVectorizer
	MinTokenLength int    // in characters; shorter tokens are ignored. Default: 2 for Word, 1 for other tokens
}

// Sizes returns the smallest and the largest number of units of a feature.
func (a Analyzer) Sizes() (least, most int) { return max(a.Min, 1), max(a.Max, 1) }

// DefaultTokenLength is the default of Analyzer.MinTokenLength: 0 for characters, which are not tokens.
func (u Unit) DefaultTokenLength() int {
	switch u {
	case Char, CharWB:
		return 0
	case Word:
		return 2
	}
	return 1
}

// TokenLength returns the least number of characters of a token; 0 for characters, which are not tokens.
func (a Analyzer) TokenLength() int {
	if a.MinTokenLength == 0 || a.Unit.Characters() {
		return a.Unit.DefaultTokenLength()
	}
	return a.MinTokenLength
}

// Validate returns an error if the pattern is missing, superfluous or invalid; see [CompilePattern].
func (a Analyzer) Validate() error {
	if a.Unit != Regex {
		if a.Pattern != "" {
			return fmt.Errorf("a pattern needs the analyzer regex, not %s", a.Unit)
		}
		return nil
	}
	if _, err := CompilePattern(a.Pattern); err != nil {
		return fmt.Errorf("regex:%.100s: %w", strings.ToValidUTF8(a.Pattern, "\ufffd"), err)
	}
	return nil
}

// ParseAnalyzer reads the name of a unit, or regex:PATTERN. A pattern that is that of words means them.
func ParseAnalyzer(text string) (a Analyzer, err error) {
	switch pattern, ok := strings.CutPrefix(text, Regex.String()+":"); {
	case !ok:
		if a.Unit, err = ParseUnit(text); err != nil {
			return a, err
		}
	case strings.TrimPrefix(pattern, "(?u)") != strings.TrimPrefix(TokenPattern, "(?u)"):
		a.Unit, a.Pattern = Regex, pattern
	}
	return a, a.Validate()
}

// MaxNameBytes is the largest total size in bytes of the names in one document.
const MaxNameBytes = 2<<30 - 1<<20

// NameBytes returns the largest total size in bytes of the names in a document of n bytes.
func (a Analyzer) NameBytes(n int) int {
	sizes := 0
	least, most := a.Sizes()
	for size := least; size <= most; size++ {
		sizes += size
	}
	growth := 2 // lower case and the spaces around words may lengthen a text
	switch {
	case a.Normalize == NFKC || a.StripAccents:
		growth = 13 // U+FDFA becomes four words of 33 bytes in all
	case a.Normalize == NFC:
		growth = 4 // U+1D160 becomes three characters of 12 bytes in all
	}
	return growth * sizes * n
}

// words reports whether the features are single words.
func (a Analyzer) words() bool {
	a.Min = 0
	return a.Max <= 1 && a.TokenLength() == 2 && a == Analyzer{Max: a.Max, MinTokenLength: a.MinTokenLength}
}

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

// splitWords makes one run of the words of a text, without stop words and words of fewer than least characters.
func (g *grams) splitWords(w *Words, least int, stopped func(word []byte, start, end int) bool) {
	g.reset(w.size + len(w.edges)/2)
	g.gap = 1
	at := 0
	for edges := w.edges; len(edges) >= 2; edges = edges[2:] {
		start, end := int(edges[0]), int(edges[1])
		if !w.hasLength(start, end, least) || stopped != nil && stopped(w.lower, start, end) {
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
