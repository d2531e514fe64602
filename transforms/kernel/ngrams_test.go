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
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/transforms/block"
)

// ngramCase is a text with the counts that scikit-learn's CountVectorizer has for it.
type ngramCase struct {
	Unit     string
	Min, Max int
	Stop     []string
	Text     string
	Counts   map[string]int64
}

// config is the counter's for the case.
func (c ngramCase) config(t testing.TB) (config Config) {
	t.Helper()
	unit, err := ParseUnit(c.Unit)
	if err != nil {
		t.Fatal(err)
	}
	config.Analyzer = Analyzer{Unit: unit, Min: c.Min, Max: c.Max}
	for _, word := range c.Stop {
		config.StopWords = append(config.StopWords, []byte(word))
	}
	return config
}

// twoClasses are few, so that thousands of merges are fast.
var twoClasses = sync.OnceValue(func() *block.Classes {
	classes, err := block.NewClasses([]string{"class", "other"})
	if err != nil {
		panic(err)
	}
	return classes
})

// occurrences counts the features of one text.
func occurrences(t testing.TB, config Config, text string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	c := NewCounter(config)
	// What was counted before must not matter, nor what lies behind the text in the buffers.
	c.Add([]byte("other"), []byte("Something LONGER that was there before, with  spaces, ÉTÉ and \xff"))
	c.Add([]byte("class"), []byte(text))
	err := c.Flush(1, 1<<30, false, func(_ int, b []byte) error {
		classes := twoClasses()
		sources, err := block.OpenAll(c.Keys(), classes, [][]byte{b})
		if err != nil {
			return err
		}
		return block.MergeSources(sources, len(classes.Labels), func(f *block.Feature) error {
			for _, n := range f.Counts {
				if classes.Labels[n.Class] != "class" {
					continue
				}
				if n.Documents != 1 {
					t.Errorf("%q is in %d documents of one", f.Name, n.Documents)
				}
				counts[string(f.Name)] = n.Occurrences
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func (c ngramCase) check(t *testing.T) {
	t.Helper()
	if got := occurrences(t, c.config(t), c.Text); !maps.Equal(got, c.Counts) {
		t.Errorf("%s %d,%d of %q\n got %v\nwant %v", c.Unit, c.Min, c.Max, c.Text, got, c.Counts)
	}
}

func TestNgramsAreThoseOfCountVectorizer(t *testing.T) {
	b, err := os.ReadFile("../../testdata/analyzer/ngrams.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []ngramCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.check(t)
	}
}

// Random texts, of pieces that have gone wrong in some tokenizer or other, are asked of scikit-learn itself.
func TestNgramsOfRandomTexts(t *testing.T) {
	t.Parallel()
	python := outside.Python(t)
	rng := rand.New(rand.NewPCG(6, 6))
	pieces := []string{"a", "B", "é", "É", " ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "_", "9", "İ", "Σ", "中", "文", "😀", "\u0301", "x.y", "'", "the", "upon",
		"\xff", "\xe2\x82", "\ufffd", "\x1c", "\x85", "\u0085", "\x00"}
	var cases []ngramCase
	var input bytes.Buffer
	for range 3000 {
		c := ngramCase{Unit: unitNames[rng.IntN(3)], Min: 1 + rng.IntN(4)}
		c.Max = c.Min + rng.IntN(4)
		if c.Unit == "word" && rng.IntN(3) == 0 {
			c.Stop = []string{"the", "ab"}
		}
		for range rng.IntN(25) {
			c.Text += pieces[rng.IntN(len(pieces))]
		}
		cases = append(cases, c)
		line, err := json.Marshal([]any{c.Unit, c.Min, c.Max, append([]string{}, c.Stop...), hex.EncodeToString([]byte(c.Text))})
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "../../testdata/analyzer/ngrams.py", "--count")
	cmd.Stdin = &input
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(out))
	scanner.Buffer(nil, 1<<20)
	for i := range cases {
		if !scanner.Scan() {
			t.Fatalf("%d answers", i)
		}
		cases[i].Counts = nil
		if err := json.Unmarshal(scanner.Bytes(), &cases[i].Counts); err != nil {
			t.Fatal(err)
		}
		cases[i].check(t)
	}
}

// plainNgrams finds n-grams as plainly as can be, from words or from characters.
func plainNgrams(units []string, between string, a Analyzer) map[string]int64 {
	counts := map[string]int64{}
	for n := a.Min; n <= a.Max; n++ {
		for i := 0; i+n <= len(units); i++ {
			counts[strings.Join(units[i:i+n], between)]++
		}
	}
	return counts
}

func FuzzNgrams(f *testing.F) {
	f.Add([]byte("Upon the WHOLE, it's a well-known, self_evident truth"), uint8(1), uint8(1))
	f.Add([]byte("ΟΔΟΣ ΑΣ'Β İstanbul  Ⱥ \xe2\x82 \xf0\x9f\x98 \xff é"), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, least, more uint8) {
		a := Analyzer{Min: 1 + int(least%20)}
		a.Max = a.Min + int(more%20)
		words, _ := reference(text)
		if got, want := occurrences(t, Config{Analyzer: a}, string(text)), plainNgrams(words, " ", a); !maps.Equal(got, want) {
			t.Errorf("words %d,%d of %q\n got %v\nwant %v", a.Min, a.Max, text, got, want)
		}
		a.Unit = Char
		for name, n := range occurrences(t, Config{Analyzer: a}, string(text)) {
			if size := utf8.RuneCountInString(name); !utf8.ValidString(name) || size < a.Min || size > a.Max || n < 1 {
				t.Errorf("characters %d,%d of %q have %q %d times", a.Min, a.Max, text, name, n)
			}
		}
		a.Unit = CharWB
		for name := range occurrences(t, Config{Analyzer: a}, string(text)) {
			if inner := strings.Trim(name, " "); !utf8.ValidString(name) || strings.ContainsAny(inner, " \t\u00a0\u3000") || utf8.RuneCountInString(name) > a.Max {
				t.Errorf("characters within words %d,%d of %q have %q", a.Min, a.Max, text, name)
			}
		}
	})
}

func TestBucketsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	documents := randomDocuments(rng, 500)
	for _, bits := range []int{1, 3, 8, 13, MaxHashBits} {
		config := Config{Analyzer: Analyzer{Min: 1, Max: 2}, HashBits: bits}
		byName, byBucket := map[string]int64{}, map[string]int64{}
		total := func(config Config, add func(f *block.Feature, n int64)) {
			c := NewCounter(config)
			for _, d := range documents {
				c.Add([]byte(d.label), []byte(d.text))
			}
			err := c.Flush(3, 4096, false, func(_ int, b []byte) error {
				classes := testClasses()
				sources, err := block.OpenAll(c.Keys(), classes, [][]byte{b})
				if err != nil {
					return err
				}
				return block.MergeSources(sources, len(classes.Labels), func(f *block.Feature) error {
					for _, n := range f.Counts {
						add(f, n.Occurrences)
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		total(config, func(f *block.Feature, n int64) { byBucket[string(f.Name)] += n })
		config.HashBits = 0
		total(config, func(f *block.Feature, n int64) { byName[string(AppendBucket(nil, f.Key, bits))] += n })
		if !maps.Equal(byBucket, byName) {
			t.Errorf("%d bits: %d buckets are not the sums of their names", bits, len(byBucket))
		}
		if bits == 8 && len(byBucket) != 256 {
			t.Errorf("%d of 256 buckets", len(byBucket))
		}
	}
}

func BenchmarkNgrams(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 2, 200_000)
	var text []byte
	for range 100_000 {
		text = fmt.Appendf(text, "w%x ", zipf.Uint64()*7)
	}
	for _, a := range []Analyzer{{Unit: Word, Min: 1, Max: 2}, {Unit: Char, Min: 3, Max: 3}, {Unit: CharWB, Min: 3, Max: 5}} {
		b.Run(fmt.Sprint(a), func(b *testing.B) {
			c := NewCounter(Config{Analyzer: a})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Add([]byte("a"), text)
			}
		})
	}
}

func TestBucketsOfASet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	for _, bits := range []int{1, 2, 10, nearBits, nearBits + 1, MaxHashBits} {
		set, in := NewBuckets(bits), map[uint64]bool{}
		if !set.Empty() {
			t.Error("a new set is not empty")
		}
		for range min(1<<bits/2, 1000) {
			key := rng.Uint64()
			set.Add(key)
			in[key>>(64-bits)] = true
		}
		for bucket := range in {
			for _, key := range []uint64{bucket << (64 - bits), (bucket+1)<<(64-bits) - 1} {
				if !set.Has(key) {
					t.Fatalf("%d bits: %x is not in its bucket", bits, key)
				}
			}
		}
		for range 10_000 {
			if key := rng.Uint64(); set.Has(key) != in[key>>(64-bits)] {
				t.Fatalf("%d bits: %x", bits, key)
			}
		}
	}
}
