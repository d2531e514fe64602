package kernel

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Documents of a few hundred words, counted by each analyzer.
func BenchmarkAnalyzers(b *testing.B) {
	for _, language := range []string{"english", "french", "chinese"} {
		rng := rand.New(rand.NewPCG(1, 1))
		var text strings.Builder
		for words := strings.Fields(passages[language]); text.Len() < 1<<12; {
			text.WriteString(words[rng.IntN(len(words))] + " ")
		}
		for name, a := range map[string]Analyzer{
			"word": {}, "unicode": {Unit: Unicode}, "whitespace": {Unit: Whitespace}, "keep_case": {KeepCase: true}, "strip_accents": {StripAccents: true}, "nfkc": {Normalize: NFKC},
			"min_token_length": {MinTokenLength: 3}, "regex_default": {Unit: Regex, Pattern: TokenPattern}, "regex_ascii": {Unit: Regex, Pattern: `[a-z]{3,}`},
			"regex_letters": {Unit: Regex, Pattern: `\b[^\W\d_]{3,}\b`}, "word_1,2": {Max: 2}, "char_wb_3,5": {Unit: CharWB, Min: 3, Max: 5},
		} {
			b.Run(language+"/"+name, func(b *testing.B) {
				c := NewCounter(Config{Analyzer: a})
				document := []byte(text.String())
				b.SetBytes(int64(len(document)))
				b.ReportAllocs()
				for b.Loop() {
					c.Add([]byte("a"), document)
				}
			})
		}
	}
}
