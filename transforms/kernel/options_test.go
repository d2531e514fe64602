package kernel

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// vectorizerArguments are the arguments of CountVectorizer that have the effect of an analyzer.
func vectorizerArguments(a Analyzer, stop []string) map[string]any {
	least, most := a.Sizes()
	arguments := map[string]any{"ngram_range": []int{least, most}, "lowercase": !a.KeepCase, "analyzer": "word"}
	if a.StripAccents {
		arguments["strip_accents"] = "unicode"
	}
	if len(stop) > 0 {
		arguments["stop_words"] = stop
	}
	switch a.Unit {
	case Word:
		arguments["token_pattern"] = fmt.Sprintf(`\b\w{%d,}\b`, a.TokenLength())
	case Whitespace:
		arguments["token_pattern"] = fmt.Sprintf(`(?<!\S)\S{%d,}`, a.TokenLength())
	case Regex:
		arguments["token_pattern"] = a.Pattern
	default:
		arguments["analyzer"] = a.Unit.String()
	}
	return arguments
}

type optionCase struct {
	Analyzer
	stop []string
	text string
}

// compareWithCountVectorizer compares the features of texts with those of scikit-learn.
func compareWithCountVectorizer(t *testing.T, cases []optionCase) {
	t.Helper()
	python := outside.Python(t)
	var input bytes.Buffer
	for _, c := range cases {
		form := strings.ToUpper(strings.TrimPrefix(c.Normalize.String(), "none"))
		line, err := json.Marshal([]any{vectorizerArguments(c.Analyzer, c.stop), form, hex.EncodeToString([]byte(c.text))})
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "-W", "ignore", "../../testdata/analyzer/options.py")
	cmd.Stdin = &input
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	scanner := bufio.NewScanner(bytes.NewReader(out))
	scanner.Buffer(nil, 64<<20)
	wrong := 0
	for _, c := range cases {
		if !scanner.Scan() {
			t.Fatal("Python stopped: ", stderr.String())
		}
		var want map[string]int64
		if err := json.Unmarshal(scanner.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		config := Config{Analyzer: c.Analyzer}
		for _, word := range c.stop {
			config.StopWords = append(config.StopWords, []byte(word))
		}
		delete(want, "") // CountVectorizer counts groups that are empty, but they are not tokens
		if got := occurrences(t, config, c.text); !maps.Equal(got, want) {
			for name := range want {
				if got[name] == want[name] {
					delete(want, name)
					delete(got, name)
				}
			}
			t.Errorf("%+v of %.300q\nonly ours   %+v\nonly theirs %+v", c.Analyzer, c.text, got, want)
			if wrong++; wrong == 5 {
				return
			}
		}
	}
}

// patterns are those that people use, and all that is translated for RE2.
var patterns = []string{
	TokenPattern, `\b\w+\b`, `\w+`, `\S+`, `[^\W\d_]+`, `\b[^\d\W]+\b`, `[a-zA-Z]{3,}`, `\b[a-zA-Z][a-zA-Z]+\b`, `(?u)\b\w*[a-zA-Z]\w*\b`, `\w+'\w+|\w+`,
	`#(\w+)`, `(?:@|#)\w+`, `<[^>]*>|(\w\w+)`, `"(\w*)"`, `\d+(?:\.\d+)?`, `\D+`, `\W+`, `[\w.-]+@[\w.-]+`, `[\s\w]+`, `[^\s]+`, `[\S]+`, `[\W]+`, `[\D]+`, `.`, `.+`, `^\w+`,
	`\w+\Z`, `\A\w`, `(?i)[k-z]+`, `(?i)the\b`, `(?m)^.+$`, `(?s).\n.`, `\B\w+\B`, `\b.+?\b`, `\w{,3}\b\W`, `a|ab`, `(?:a|ab)(?:c|bcd)`, `\w+?\b`, `\b\w{2}`, `(?:\b|x)\w`,
	`[]a]+`, `[^]a ]+`, `[\b\x00]`, `\u00e9+`, `[\u4e00-\u9fff]`, `[\U0001f300-\U0001faff]`, `\.`, `[\]\\-]`, `(\w)\w*`, `(?P<word>\w+)s\b`, `(?:(a)|b)+`, `\w(?:\B.)*`, `[a\d]+`, `x{2,3}`,
	`\w+(?:\s\w+){1,2}`, `(?:[^\W_]|-)+`, `[\w]`, `[\d]+`, `[^\w\s]+`, `[^\D]+`, `[^\S ]+`, `\s\S`, `(?:a*b?)+c`,
}

// Texts of random code points, and of pieces that have gone wrong in some tokenizer or other.
func randomText(rng *rand.Rand, codepoints []rune) string {
	pieces := []string{"a", "B", "ab", "The", "it's", "É", "e\u0301", " ", "  ", "\t", "\u00a0", "\u2003", "\n", "_", "9", "١", "²", "½", "İ", "I", "ı", "Σ", "ΑΣ", "ς", "ß", "ẞ", "ﬁ", "ǅ",
		"中文", "日本語の", "ｶﾞ", "Ａ", "ภาษาไทย", "العَرَبِيَّة", "हिन्दी", "한국어", "\u1112\u1161\u11ab", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "1\ufe0f\u20e3", "\u0345", "α\u0345", "ᾳ", "\u200d", "\u00ad",
		"\u212b", "𝐀", "ﷺ", "Ⱥ", "\u0344", "\ud7a3", "é\u0323", "x.y", "a-b", "#tag", "@me", "<b>", "\"q\"", "xx", "abcd", "3.14", "\u0085", "\x1c", "\x00", "\ufffd", "\ufeff", "c", "\b",
		"\xff", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98", "\xc0\xaf", "\U0010ffff", "\u1e9b\u0323", "\u0f73", "\u0958", "ſ", "K"}
	var b strings.Builder
	for range rng.IntN(25) {
		if rng.IntN(4) == 0 {
			b.WriteRune(codepoints[rng.IntN(len(codepoints))])
		} else {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
	}
	return b.String()
}

// codepoints are those that Python and Go both know.
func codepoints(t *testing.T) (list []rune) {
	t.Helper()
	out, err := exec.Command(outside.Python(t), "../../testdata/analyzer/options.py", "--codepoints").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []rune
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if assigned(r) && utf8.ValidRune(r) && !unicode.Is(unicode.Co, r) { // private use is the half of them
			list = append(list, r)
		}
	}
	if len(list) < 140_000 {
		t.Fatalf("Python listed only %d code points", len(list))
	}
	return list
}

func TestOptionsAreThoseOfCountVectorizer(t *testing.T) {
	t.Parallel()
	known := codepoints(t)
	rng := rand.New(rand.NewPCG(13, 4))
	var cases []optionCase
	for i := range 8000 {
		c := optionCase{text: randomText(rng, known)}
		c.Unit = []Unit{Word, Char, CharWB, Whitespace, Regex, Regex}[rng.IntN(6)]
		c.Min = 1 + rng.IntN(2)
		c.Max = c.Min + rng.IntN(2)
		c.KeepCase, c.StripAccents, c.Normalize = rng.IntN(2) == 0, rng.IntN(3) == 0, Form(rng.IntN(3))
		switch {
		case c.Unit == Regex:
			if c.Pattern = patterns[i%len(patterns)]; strings.Contains(c.Pattern, "(a)") || strings.Contains(c.Pattern, "|(") || strings.Contains(c.Pattern, "*)") {
				c.Min, c.Max = 1, 1 // the group may be empty
			}
		case !c.Unit.Characters() && rng.IntN(3) == 0:
			c.MinTokenLength = 1 + rng.IntN(4)
		}
		if !c.Unit.Characters() && rng.IntN(3) == 0 {
			c.stop = []string{"the", "The", "ab", "a"}
		}
		cases = append(cases, c)
	}
	compareWithCountVectorizer(t, cases)
}

// Every code point that Python and Go both know has the same effect.
func TestOptionsForEachCodePoint(t *testing.T) {
	t.Parallel()
	known := codepoints(t)
	all := make([]rune, 0, 4*len(known))
	for _, r := range known {
		all = append(all, r, '|', 'x', '\n')
	}
	var cases []optionCase
	for _, a := range []Analyzer{
		{Unit: Char, StripAccents: true, Min: 2, Max: 2}, {Unit: Char, Normalize: NFKC, KeepCase: true, Min: 2, Max: 2}, {Unit: Char, Normalize: NFC, Min: 2, Max: 2},
		{KeepCase: true, MinTokenLength: 1}, {Unit: Whitespace, MinTokenLength: 2}, {Unit: Regex, Pattern: `\w+`}, {Unit: Regex, Pattern: `[\W]+`}, {Unit: Regex, Pattern: `\d`},
		{Unit: Regex, Pattern: `[^\S]`}, {Unit: Regex, Pattern: `(?i)\w`},
	} {
		cases = append(cases, optionCase{Analyzer: a, text: string(all)})
	}
	compareWithCountVectorizer(t, cases)
}

// Real text, by several analyzers.
func TestOptionsOnRealText(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(outside.Shared(t, "data/federalist/train.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []optionCase
	for _, a := range []Analyzer{
		{KeepCase: true, Max: 2}, {StripAccents: true, Normalize: NFKC}, {MinTokenLength: 4}, {Unit: Whitespace, Max: 2}, {Unit: Whitespace, KeepCase: true, MinTokenLength: 5},
		{Unit: CharWB, Min: 2, Max: 3, KeepCase: true}, {Unit: Regex, Pattern: `\b[^\W\d_]{3,}\b`, Max: 2}, {Unit: Regex, Pattern: `\b(\w+)'s\b`}, {Unit: Regex, Pattern: `\w+(?:-\w+)*`},
	} {
		cases = append(cases, optionCase{Analyzer: a, text: string(text), stop: nil})
	}
	compareWithCountVectorizer(t, cases)
}
