package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
)

// Values of whole numbers in units of 1 are what occurrences are, from text and from features, for any analyzer, and with keys
// that collide.
func TestValuesAreOccurrences(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	documents := randomDocuments(rng, 300)
	for _, test := range []struct {
		config  Config
		keyBits int
	}{
		{Config{}, 0},
		{Config{}, 3},
		{Config{StopWords: [][]byte{[]byte("word1"), []byte("été_")}}, 0},
		{Config{Analyzer: Analyzer{Min: 1, Max: 2}}, 2},
		{Config{Analyzer: Analyzer{Unit: CharWB, Min: 2, Max: 3}}, 0},
		{Config{MemoryBytes: limit(20_000)}, 0},
	} {
		var counts []map[string]map[string][2]int64
		var tokens []int64
		for way := range 3 {
			config := test.config
			if way > 0 {
				config.Weights = Weights{Scheme: Values}
			}
			c := newNarrowCounter(config, test.keyBits)
			blocks := map[int][][]byte{}
			flush := func() {
				if err := c.Flush(3, 4096, false, func(shard int, b []byte) error { blocks[shard] = append(blocks[shard], b); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			for _, d := range documents {
				if way < 2 || !config.Analyzer.words() {
					c.Add([]byte(d.label), []byte(d.text))
				} else if err := c.AddFeatures([]byte(d.label), featureCounts(rng, d.text)); err != nil {
					t.Fatal(err)
				}
				if c.Full() {
					flush()
				}
			}
			flush()
			if err := c.Err(); err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for _, class := range c.TakeTotals().Classes {
				n += class.Tokens<<20 + class.Postings<<10 + class.Documents
			}
			counts, tokens = append(counts, collect(t, c.Keys(), 3, blocks)), append(tokens, n)
		}
		for way := 1; way < 3; way++ {
			if !maps.EqualFunc(counts[way], counts[0], maps.Equal) || tokens[way] != tokens[0] || len(counts[0]) == 0 {
				t.Errorf("%+v, way %d: other counts or totals", test, way)
			}
		}
	}
}

func valuesFlushed(t *testing.T, w Weights, documents ...[]feature.Value) (map[string]map[string][2]int64, Totals) {
	t.Helper()
	c := NewCounter(Config{Weights: w})
	for _, d := range documents {
		if err := c.AddFeatures([]byte("a"), d); err != nil {
			t.Fatal(err)
		}
	}
	return flushed(t, c), c.TakeTotals()
}

// Values are rounded half to even; what that changes is added up, and values that become zero are dropped.
func TestRounding(t *testing.T) {
	one := func(name string, value float64) []feature.Value {
		return []feature.Value{{Name: []byte(name), Value: value}}
	}
	got, totals := valuesFlushed(t, Weights{Scheme: Values, Exponent: -1}, one("x", 0.75), one("x", 1.25), one("y", 0.25), one("z", 3), one("x", 0))
	if x, z := got["x"]["a"], got["z"]["a"]; x != [2]int64{4, 2} || z != [2]int64{6, 1} || len(got) != 2 {
		t.Errorf("%v", got)
	}
	want := Class{Documents: 5, Tokens: 10, Postings: 3}
	if totals.Classes["a"] != want || totals.Rounding != (Rounding{Zero: 1, Lost: 3 << 19}) {
		t.Errorf("%+v", totals)
	}
	if lost := totals.Rounding.Of(Weights{Scheme: Values, Exponent: -1}); lost != 0.75 {
		t.Errorf("rounding lost %v, want 3 times 0.25", lost)
	}
	got, _ = valuesFlushed(t, Weights{Scheme: Log, Exponent: -20}, one("x", 1), one("x", 7), one("x", 1e6))
	if x := got["x"]["a"]; x[0] != 1<<20+int64(math.RoundToEven((1+math.Log(7))*(1<<20)))+int64(math.RoundToEven((1+math.Log(1e6))*(1<<20))) {
		t.Errorf("%v", x)
	}
	if got, _ = valuesFlushed(t, Weights{Scheme: Binary}, one("x", 0.001), one("x", 7)); got["x"]["a"] != [2]int64{2, 2} {
		t.Errorf("%v", got)
	}
}

// Values that cannot be counted are errors that name the feature, and nothing of the document is counted.
func TestValueErrors(t *testing.T) {
	for _, test := range []struct {
		weights Weights
		value   float64
		want    string
	}{
		{Weights{Scheme: Values}, -1, `feature "x" has the value -1; values must be finite and not negative`},
		{Weights{Scheme: Values}, math.NaN(), "NaN"},
		{Weights{Scheme: Values}, math.Inf(1), "+Inf"},
		{Weights{Scheme: Log}, 0.5, "a logarithm needs values of at least 1"},
		{Weights{Scheme: Values, Exponent: -20}, 1 << 33, "2⁵³ units"},
		{Weights{Scheme: Values}, 1e300, "2⁵³ units"},
	} {
		c := NewCounter(Config{Weights: test.weights})
		err := c.AddFeatures([]byte("a"), []feature.Value{{Name: []byte("fine"), Value: 1}, {Name: []byte("x"), Value: test.value}})
		var value *ValueError
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, &value) && !errors.Is(err, ErrOverflow) {
			t.Errorf("%v: %v", test.value, err)
		}
		if err := c.AddFeatures([]byte("a"), []feature.Value{{Name: []byte("x"), Value: 2}}); err != nil {
			t.Error(err)
		}
		if got := flushed(t, c); len(got) != 1 || got["x"]["a"][1] != 1 {
			t.Errorf("%v: %v", test.value, got)
		}
	}
	c := NewCounter(Config{Weights: Weights{Scheme: Values, Exponent: -51}})
	for range 4 {
		c.Add([]byte("a"), []byte("word"))
	}
	if !errors.Is(c.Err(), ErrOverflow) || !c.Full() {
		t.Errorf("%v, full %v", c.Err(), c.Full())
	}
}

// Documents with few and with many features leave nothing in the table of the document.
func TestDocumentsOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	c := NewCounter(Config{Weights: Weights{Scheme: Values}})
	want := map[string]int64{}
	for range 50 {
		var text strings.Builder
		for range 1 << rng.IntN(15) {
			word := fmt.Sprintf("w%d", rng.IntN(1<<rng.IntN(18)))
			want[word]++
			text.WriteString(word + " ")
		}
		c.Add([]byte("a"), []byte(text.String()))
	}
	got := flushed(t, c)
	for word, n := range want {
		if got[word]["a"][0] != n {
			t.Fatalf("%s: %v, want %d", word, got[word], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d features, want %d", len(got), len(want))
	}
}

func TestIDF(t *testing.T) {
	w := Weights{Scheme: TFIDF, Norm: L2, Exponent: -40}
	idf := NewIDF()
	for name, documents := range map[string]int64{"aa": 1, "bb": 3} {
		if err := idf.Add([]byte(name), w.IDF(documents, 3)); err != nil {
			t.Fatal(err)
		}
	}
	c := NewCounter(Config{Weights: w, IDF: idf})
	c.Add([]byte("x"), []byte("aa bb bb unknown"))
	a, b := math.Log(2)+1, 2.0
	norm := math.Hypot(a, b)
	got := flushed(t, c)
	if x := math.Ldexp(float64(got["aa"]["x"][0]), -40); math.Abs(x-a/norm) > 1e-12 || len(got) != 2 {
		t.Errorf("%v, want %v; %v", x, a/norm, got)
	}
	if x := math.Ldexp(float64(got["bb"]["x"][0]), -40); math.Abs(x-b/norm) > 1e-12 {
		t.Errorf("%v, want %v", x, b/norm)
	}
}
