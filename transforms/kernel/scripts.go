package kernel

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Letters are characters of words, in all occurrences of them, to tell whether the words are clauses.
type Letters struct {
	All      int64
	Unspaced int64 // of words in scripts that do not separate words
}

var (
	// Segmented text, with spaces between words, has short words of these.
	clauses = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	// Vowels are marks, which separate words.
	fragments = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}
)

// clauseLetters is the number of letters from which a word is probably a clause.
const clauseLetters = 5

// Add adds the letters of all occurrences of a word.
func (l *Letters) Add(word []byte, occurrences int64) {
	if len(word) == 0 || word[0] < 0xe0 { // the scripts are behind U+07FF
		l.All += occurrences * int64(len(word))
		return
	}
	letters := int64(utf8.RuneCount(word))
	l.All += occurrences * letters
	if r, _ := utf8.DecodeRune(word); letters >= clauseLetters && unicode.In(r, clauses...) || unicode.In(r, fragments...) {
		l.Unspaced += occurrences * letters
	}
}

// Warning names the analyzers for scripts without spaces if a large part of the text of a run is in one.
func (l Letters) Warning(a modelio.Analysis) string {
	const large = 20 // percent
	if a.Unit != "word" || a.HashBits > 0 || l.All == 0 || 100*float64(l.Unspaced) < large*float64(l.All) {
		return ""
	}
	return fmt.Sprintf("about %.0f%% of the text is in a script without spaces between words (Chinese, Japanese, Thai, Lao, Khmer or Burmese): --analyzer=word finds clauses or "+
		"fragments in it, not words; use --analyzer=unicode or --analyzer=char, with --ngrams=1,2", 100*float64(l.Unspaced)/float64(l.All))
}
