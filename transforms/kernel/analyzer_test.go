package kernel

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestParseAnalyzer(t *testing.T) {
	for text, want := range map[string]Analyzer{
		"word": {}, "char": {Unit: Char}, "char_wb": {Unit: CharWB}, "unicode": {Unit: Unicode}, "whitespace": {Unit: Whitespace},
		`regex:\w+`: {Unit: Regex, Pattern: `\w+`}, `regex:a:b`: {Unit: Regex, Pattern: "a:b"}, `regex:(?u)\w+`: {Unit: Regex, Pattern: `(?u)\w+`},
		`regex:(?u)\b\w\w+\b`: {}, `regex:\b\w\w+\b`: {},
	} {
		if a, err := ParseAnalyzer(text); a != want || err != nil {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for text, want := range map[string]string{
		"":                          `unknown analyzer ""`,
		"words":                     `unknown analyzer "words": must be word, char, char_wb, unicode, whitespace or regex:PATTERN`,
		"regex":                     "the pattern is missing; write regex:PATTERN",
		"regex:":                    "the pattern is missing",
		"regex:(a":                  "regex:(a: missing closing )",
		`regex:\w*`:                 `regex:\w*: the pattern can match the empty string`,
		"regex:a|b?":                "empty string",
		`regex:\b`:                  "empty string",
		`regex:(?:x{0,3}$)`:         "empty string",
		"regex:(a)(b)":              "the pattern has 2 capturing groups",
		"regex:(?=a)b":              "lookaround and backreferences are not supported",
		`regex:(a)\1`:               "lookaround and backreferences are not supported",
		"regex:a**":                 "invalid nested repetition operator",
		"regex:a{2000}":             "invalid repeat count",
		`regex:(?:\w{100}){10}{10}`: "invalid",
		`regex:[[:alpha:]]`:         "another meaning in Python",
		`regex:\u12`:                `\u needs 4 hexadecimal digits`,
		`regex:a\`:                  "trailing backslash",
		`regex:\Qa`:                 "not supported",
		"regex:[a-\\w]":             "invalid",
		"regex:\xff":                "invalid UTF-8",
		"regex:(?:" + strings.Repeat(`a{1000}`, 20) + ")": "too large",
	} {
		if a, err := ParseAnalyzer(text); err == nil || !strings.Contains(err.Error(), want) || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: %+v, %v; want %s", text, a, err, want)
		}
	}
}

// What UAX #29 calls words, if they have a letter or a number.
func TestUnicodeWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              nil,
		"Isn't it 3.14 x_1 _ -- e-mail": {"isn't", "it", "3.14", "x_1", "e", "mail"},
		"中文分词, 日本のテキスト":                 {"中", "文", "分", "词", "日", "本", "の", "テキスト"},
		"हिन्दी भाषा":                   {"हिन्दी", "भाषा"},
		"한국어 텍스트":                       {"한국어", "텍스트"},
		"e\u0301te\u0301 👩\u200d👩\u200d👧 1\ufe0f\u20e3 🇩🇪": {"e\u0301te\u0301", "1\ufe0f\u20e3"},
		"a\xffb": {"a", "b"},
	} {
		counts := map[string]int64{}
		for _, word := range want {
			counts[word]++
		}
		if got := occurrences(t, Config{Analyzer: Analyzer{Unit: Unicode}}, text); !maps.Equal(got, counts) {
			t.Errorf("%s: %v, want %v", text, got, counts)
		}
	}
}

func randomConfig(rng *rand.Rand) Config {
	a := Analyzer{Unit: Unit(rng.IntN(len(unitNames))), Min: 1 + rng.IntN(2), KeepCase: rng.IntN(2) == 0, StripAccents: rng.IntN(3) == 0, Normalize: Form(rng.IntN(3))}
	a.Max = a.Min + rng.IntN(2)
	c := Config{HashBits: rng.IntN(2) * rng.IntN(9)}
	if a.Unit == Regex {
		a.Pattern = patterns[1+rng.IntN(len(patterns)-1)]
	}
	if !a.Unit.Characters() {
		if n := rng.IntN(5); n != a.Unit.DefaultTokenLength() {
			a.MinTokenLength = n
		}
		if rng.IntN(2) == 0 {
			c.StopWords = [][]byte{[]byte("ab"), []byte("the")}
		}
	}
	c.Analyzer = a
	return c
}

// An analyzer that was written as JSON and read again finds the same features.
func TestAnalyzerRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	seen := map[string]string{}
	for range 2000 {
		config := randomConfig(rng)
		content, err := json.Marshal(config.Describe())
		if err != nil {
			t.Fatal(err)
		}
		var d modelio.Analyzer
		if err := json.Unmarshal(content, &d); err != nil {
			t.Fatal(err)
		}
		again, err := FromAnalyzer(d)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, config) {
			t.Fatalf("%s\n got %+v\nwant %+v", content, again, config)
		}
		options, _ := json.Marshal(d.Analysis().Options())
		if other, ok := seen[string(options)]; ok && other != string(content) {
			t.Errorf("the same options %s for %s and %s", options, other, content)
		}
		seen[string(options)] = string(content)
		if analysis, err := modelio.ParseAnalysis(d.Analysis().Options()); analysis != d.Analysis() || err != nil {
			t.Errorf("%s: %+v, %v", options, analysis, err)
		}
		text := randomText(rng, []rune("éΣx\u0301中"))
		if config.HashBits == 0 && !maps.Equal(occurrences(t, again, text), occurrences(t, config, text)) {
			t.Errorf("%s: other features of %q", content, text)
		}
	}
	if len(seen) < 500 {
		t.Errorf("%d analyzers", len(seen))
	}
	good := *Config{}.Describe()
	for _, change := range []func(d *modelio.Analyzer){
		func(d *modelio.Analyzer) { d.Unit = "sentence" },
		func(d *modelio.Analyzer) { d.Unit = "unicode" },
		func(d *modelio.Analyzer) { d.Lowercase = "turkish" },
		func(d *modelio.Analyzer) { d.StripAccents = "ascii" },
		func(d *modelio.Analyzer) { d.Normalize = "nfd" },
		func(d *modelio.Analyzer) { d.TokenPattern = `\w+` },
		func(d *modelio.Analyzer) { d.Ngrams = [2]int{2, 1} },
		func(d *modelio.Analyzer) { d.HashBits = 40 },
		func(d *modelio.Analyzer) { d.StopWords = []string{"b", "a"} },
	} {
		d := good
		change(&d)
		if c, err := FromAnalyzer(d); err == nil {
			t.Errorf("%+v became %+v", d, c)
		}
	}
}

func TestStopWordsThatCanMatch(t *testing.T) {
	for _, c := range []struct {
		a    Analyzer
		good []string
		bad  []string
	}{
		{Analyzer{}, []string{"the", "x_1", "été"}, []string{"", "The", "a", "it's", "e\u0301te", "a b"}},
		{Analyzer{KeepCase: true, MinTokenLength: 1}, []string{"The", "a"}, []string{"it's"}},
		{Analyzer{MinTokenLength: 4}, []string{"that"}, []string{"the"}},
		{Analyzer{StripAccents: true}, []string{"ete"}, []string{"été"}},
		{Analyzer{Normalize: NFKC}, []string{"fi"}, []string{"ﬁ"}},
		{Analyzer{Unit: Unicode}, []string{"it's", "a", "中"}, []string{"中文", "!", "a b"}},
		{Analyzer{Unit: Whitespace}, []string{"it's", "!"}, []string{"a b", "A", ""}},
		{Analyzer{Unit: Regex, Pattern: `#(\w+)`}, []string{"any", "a b"}, []string{""}},
		{Analyzer{Unit: Char}, nil, []string{"a"}},
	} {
		for _, word := range slices.Concat(c.good, c.bad) {
			if got := c.a.IsToken(word); got != slices.Contains(c.good, word) {
				t.Errorf("%+v: %q %v", c.a, word, got)
			}
		}
	}
}

// Any bytes, by any analyzer: the names are valid, the same each time, and not longer in all than NameBytes says.
func FuzzAnalyzers(f *testing.F) {
	for seed, text := range []string{"Upon the WHOLE, it's #well-known <b>", "ΟΔΟΣ ΑΣ'Β İstanbul Ⱥ \xe2\x82 \xf0\x9f\x98 \xff é", "ﷺ ﷺﷺ ㌀ 𝅘𝅥𝅮 \u0344\u1e9b\u0323 한국어 ภาษา 日本の 👩\u200d👧 🇩🇪🇩"} {
		for unit := range unitNames {
			f.Add([]byte(text), uint64(seed*10+unit))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		config := randomConfig(rand.New(rand.NewPCG(seed, 0)))
		config.HashBits = 0
		got := occurrences(t, config, string(text))
		size := 0
		for name, n := range got {
			if size += len(name); !utf8.ValidString(name) || name == "" || n < 1 {
				t.Errorf("%+v: %q %d times", config, name, n)
			}
		}
		valid := len(new(Words).replace(text)) // invalid bytes grow, too, but their names are alike
		if most := config.Analyzer.NameBytes(valid + 1); size > most {
			t.Errorf("%+v: the names have %d bytes, more than %d", config, size, most)
		}
		if again := occurrences(t, config, string(text)); !maps.Equal(again, got) {
			t.Errorf("%+v: %v, then %v", config, got, again)
		}
	})
}

// Any pattern: it is refused, or finds tokens in the text, in order.
func FuzzPattern(f *testing.F) {
	for _, pattern := range patterns {
		f.Add(pattern, "Upon the WHOLE, it's #well-known <b> été\n中文")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := CompilePattern(pattern)
		if err != nil || !utf8.ValidString(text) || len(p.insts) > 1000 {
			return
		}
		for at := 0; ; {
			token, end, ok := p.find([]byte(text), at)
			if !ok {
				break
			}
			if end <= at || end > len(text) || token[0] > token[1] || token[0] >= 0 && (token[0] < at || token[1] > end) || token[0] < 0 && token[1] >= 0 {
				t.Fatalf("%s in %q from %d: %v to %d", pattern, text, at, token, end)
			}
			at = end
		}
	})
}
