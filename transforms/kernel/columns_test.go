package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
)

// columnCases are configurations of all kinds, with keys that collide or not.
func columnCases() map[string]Config {
	stop := [][]byte{[]byte("word1"), []byte("été_"), []byte("a")}
	return map[string]Config{
		"word":              {},
		"word stop":         {StopWords: stop},
		"word buckets":      {HashBits: 5, StopWords: stop},
		"word 1,2":          {Analyzer: Analyzer{Max: 2}, StopWords: stop},
		"word 3 characters": {Analyzer: Analyzer{MinTokenLength: 3}, StopWords: stop},
		"word 1 character":  {Analyzer: Analyzer{MinTokenLength: 1}},
		"2,3 buckets":       {Analyzer: Analyzer{Min: 2, Max: 3}, HashBits: 12},
		"char":              {Analyzer: Analyzer{Unit: Char, Min: 1, Max: 3}},
		"char_wb":           {Analyzer: Analyzer{Unit: CharWB, Min: 2, Max: 4}},
		"unicode":           {Analyzer: Analyzer{Unit: Unicode, StripAccents: true}, StopWords: stop},
		"whitespace":        {Analyzer: Analyzer{Unit: Whitespace, KeepCase: true, Max: 2}},
		"regex":             {Analyzer: Analyzer{Unit: Regex, Pattern: `\w+\b`, Normalize: NFKC}, StopWords: stop},
	}
}

// columnTexts are documents with words of all lengths, in several scripts, and invalid UTF-8.
func columnTexts(rng *rand.Rand, n int) (texts []string) {
	for _, d := range randomDocuments(rng, n) {
		texts = append(texts, d.text)
	}
	for range n {
		texts = append(texts, randomText(rng, []rune("éΣx\u0301中Aab \t.")))
	}
	return append(texts, "", " ", "a", "a b c", "\xff", "word1 \xffword1\xc3", strings.Repeat("internationalization ", 70), strings.Repeat("é", 5_000))
}

// featuresOf returns how often a text has each feature, or each bucket.
func featuresOf(config Config, text string) map[string]float64 {
	found := map[string]float64{}
	EachFeature(config, []byte(text), func(name []byte) {
		if config.HashBits > 0 {
			key, _ := feature.Hash(name)
			name = AppendBucket(nil, key, config.HashBits)
		}
		found[string(name)]++
	})
	return found
}

// someColumns returns some of the features of the texts, and some that none has.
func someColumns(rng *rand.Rand, config Config, texts []string, share float64) []string {
	names := map[string]bool{}
	for _, text := range texts {
		for name := range featuresOf(config, text) {
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(string, bool) bool { return rng.Float64() >= share })
	if config.HashBits == 0 {
		for _, name := range []string{"a", "é", "ab", "word1", "été_", "no such feature", strings.Repeat("x", MaxName)} {
			names[name] = true
		}
	}
	list := slices.Sorted(maps.Keys(names))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func newColumns(t testing.TB, config Config, names []string) *Columns {
	t.Helper()
	c, err := NewColumns(config, names)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rowOf returns a row as a map, after checking its form.
func rowOf(t *testing.T, names []string, row Vector) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for i, column := range row.Columns {
		if i > 0 && column <= row.Columns[i-1] {
			t.Fatalf("columns %v", row.Columns)
		}
		values[names[column]] = row.Values[i]
	}
	if len(row.Columns) != len(row.Values) {
		t.Fatalf("%d columns, %d values", len(row.Columns), len(row.Values))
	}
	return values
}

// only returns the values of columns.
func only(values map[string]float64, names []string) map[string]float64 {
	columns := map[string]float64{}
	for _, name := range names {
		if value := values[name]; value != 0 {
			columns[name] = value
		}
	}
	return columns
}

// The rows of texts, and of the same documents as features, have what EachFeature visits.
func TestRowsHaveTheFeaturesOfTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 3))
	texts := columnTexts(rng, 60)
	for name, config := range columnCases() {
		for _, keyBits := range []int{0, 3} {
			if keyBits > 0 && config.HashBits > 0 {
				continue
			}
			t.Run(fmt.Sprint(name, " ", keyBits), func(t *testing.T) {
				defer NarrowKeys(keyBits)()
				names := someColumns(rng, config, texts, 0.4)
				v := newColumns(t, config, names).NewVectorizer()
				some := 0
				for _, text := range texts {
					found := featuresOf(config, text)
					want := only(found, names)
					row, err := v.Text([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					if got := rowOf(t, names, row); !maps.Equal(got, want) {
						t.Fatalf("%.200q: %v, want %v", text, got, want)
					}
					some += len(want)
					if config.HashBits > 0 {
						continue
					}
					features := []feature.Value{{Name: []byte("no such feature")}} // the value is 0
					for _, word := range config.StopWords {
						features = append(features, feature.Value{Name: word, Value: 1})
					}
					for name, value := range found {
						features = append(features, feature.Value{Name: []byte(name), Value: value - 0.5}, feature.Value{Name: []byte(name), Value: 0.5})
					}
					if row, err = v.Features(features); err != nil {
						t.Fatal(err)
					}
					if got := rowOf(t, names, row); !maps.Equal(got, want) {
						t.Fatalf("features of %.200q: %v, want %v", text, got, want)
					}
				}
				if some < 100 {
					t.Errorf("%d values", some)
				}
			})
		}
	}
}

// idfOf returns the inverse document frequencies of the features of texts, without some of them.
func idfOf(t *testing.T, config Config, texts []string) *IDF {
	t.Helper()
	documents := map[string]int64{}
	for _, text := range texts {
		for name := range featuresOf(config, text) {
			documents[name]++
		}
	}
	idf := NewIDF()
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		if documents[name]%7 == 3 {
			continue
		}
		if err := idf.Add([]byte(name), config.Weights.IDF(documents[name], int64(len(texts)))); err != nil {
			t.Fatal(err)
		}
	}
	return idf
}

// The values of a row, rounded to units, are what a counter adds up for the document.
func TestRowsHaveTheWeightsOfCounters(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	texts := columnTexts(rng, 20)
	for _, weights := range []Weights{
		{Scheme: Values}, {Scheme: Binary}, {Scheme: Log, Exponent: -30},
		{Scheme: TFIDF, Norm: L2, Exponent: -30}, {Scheme: TFIDF, Norm: L1, Sublinear: true, Exponent: -35}, {Scheme: TFIDF, Norm: NoNorm, PlainIDF: true, Exponent: -20},
	} {
		for name, config := range columnCases() {
			if config.HashBits > 0 {
				continue // counters of real values have features by name
			}
			t.Run(fmt.Sprint(weights, " ", name), func(t *testing.T) {
				names := someColumns(rng, config, texts, 0.5)
				config.Weights = weights
				if weights.Scheme == TFIDF {
					config.IDF = idfOf(t, config, texts)
				}
				v := newColumns(t, config, names).NewVectorizer()
				for _, text := range texts {
					c := NewCounter(config)
					features := counted(config, text)
					if rng.IntN(2) == 0 && len(text) < 1000 {
						features = nil
					}
					var row Vector
					var err error
					if features != nil {
						if err = c.AddFeatures([]byte("a"), features); err == nil {
							row, err = v.Features(features)
						}
					} else {
						c.Add([]byte("a"), []byte(text))
						row, err = v.Text([]byte(text))
					}
					if err != nil {
						t.Fatal(err)
					}
					got := map[string]float64{}
					for name, value := range rowOf(t, names, row) {
						if units := math.RoundToEven(math.Ldexp(value, -weights.Exponent)); units > 0 {
							got[name] = units
						}
					}
					units := map[string]float64{}
					for name, classes := range flushed(t, c) {
						units[name] = float64(classes["a"][0])
					}
					if want := only(units, names); !maps.Equal(got, want) {
						t.Fatalf("%.200q: %v, want %v", text, got, want)
					}
				}
			})
		}
	}
}

// counted returns the features of a text in the order of the text.
func counted(config Config, text string) (features []feature.Value) {
	EachFeature(config, []byte(text), func(name []byte) {
		features = append(features, feature.Value{Name: slices.Clone(name), Value: 1})
	})
	return features
}

// Weights that depend on the columns alone can have buckets.
func TestWeightsOfBuckets(t *testing.T) {
	v := newColumns(t, Config{HashBits: 4, Weights: Weights{Scheme: Binary}}, []string{"2", "0", "f"}).NewVectorizer()
	occurrences := featuresOf(Config{HashBits: 4}, passages["english"])
	row, err := v.Text([]byte(passages["english"]))
	if err != nil {
		t.Fatal(err)
	}
	got := rowOf(t, []string{"2", "0", "f"}, row)
	for _, name := range []string{"0", "2", "f"} {
		if want := min(occurrences[name], 1); got[name] != want {
			t.Errorf("bucket %s: %v, want %v", name, got[name], want)
		}
	}
}

// Features with names that a counter drops are in no bucket.
func TestBucketsOfFeatures(t *testing.T) {
	names := []string{"0", "1"}
	v := newColumns(t, Config{HashBits: 1, StopWords: [][]byte{[]byte("stop")}}, names).NewVectorizer()
	features := []feature.Value{{Name: []byte("stop"), Value: 1}, {Name: []byte(strings.Repeat("x", MaxName+1)), Value: 1}}
	if row, err := v.Features(features); err != nil || len(row.Columns) > 0 {
		t.Errorf("%v, %v", row, err)
	}
	features = append(features, feature.Value{Name: []byte("go"), Value: 2}, feature.Value{Name: []byte("on"), Value: 3}, feature.Value{Name: []byte("and"), Value: 4})
	row, err := v.Features(features)
	if got := rowOf(t, names, row); err != nil || got["0"]+got["1"] != 9 || got["0"] == 0 || got["1"] == 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestColumnErrors(t *testing.T) {
	for want, c := range map[string]struct {
		config Config
		names  []string
	}{
		"occurs twice":                 {Config{StopWords: [][]byte{[]byte("ab")}}, []string{"ab", "b", "ab"}},
		"empty name":                   {Config{}, []string{""}},
		"at most 65535":                {Config{}, []string{strings.Repeat("x", MaxName+1)}},
		"not valid UTF-8":              {Config{}, []string{"a\xff"}},
		"one of 2^4 buckets":           {Config{HashBits: 4}, []string{"10"}},
		"one of 2^5 buckets":           {Config{HashBits: 5}, []string{"20"}},
		"one of 2^8 buckets":           {Config{HashBits: 8}, []string{"0F"}},
		"invalid HashBits":             {Config{HashBits: 33}, nil},
		"by name, not buckets":         {Config{HashBits: 3, Weights: Weights{Scheme: TFIDF, Norm: L2}, IDF: NewIDF()}, nil},
		"inverse document frequencies": {Config{Weights: Weights{Scheme: TFIDF, Norm: L2}}, nil},
		"invalid Scheme":               {Config{Weights: Weights{Scheme: "other"}}, nil},
		"the pattern is missing":       {Config{Analyzer: Analyzer{Unit: Regex}}, nil},
		"n-grams of 1 to 101":          {Config{Analyzer: Analyzer{Max: 101}}, nil},
		"n-grams of 3 to 2":            {Config{Analyzer: Analyzer{Min: 3, Max: 2}}, nil},
	} {
		if _, err := NewColumns(c.config, c.names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v instead of %s", err, want)
		}
	}
}

// A document that cannot be turned into a row leaves nothing behind.
func TestRowErrors(t *testing.T) {
	value := func(name string, value float64) feature.Value { return feature.Value{Name: []byte(name), Value: value} }
	idf := NewIDF()
	for _, name := range []string{"a", "b", "c"} {
		if err := idf.Add([]byte(name), 2); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		weights  Weights
		features []feature.Value
		problem  string
	}{
		{Weights{}, []feature.Value{value("b", 1), value("", 1)}, "has no name"},
		{Weights{}, []feature.Value{value("b", 1), value("other", -1)}, "must be finite"},
		{Weights{}, []feature.Value{value("b", 1), value("other", math.NaN())}, "must be finite"},
		{Weights{}, []feature.Value{value("b", 1), value("a", 1e308), value("a", 1e308)}, "the largest number"},
		{Weights{Scheme: Values}, []feature.Value{value("a", math.Inf(1))}, "must be finite"},
		{Weights{Scheme: Log}, []feature.Value{value("b", 1), value("a", 0.5)}, "at least 1"},
		{Weights{Scheme: TFIDF, Norm: L2}, []feature.Value{value("b", 1), value("a", 1e308), value("c", 1e308)}, "the largest number"},
		{Weights{Scheme: TFIDF, Norm: NoNorm}, []feature.Value{value("b", 1), value("a", 1e308)}, "the largest number"},
		{Weights{Scheme: TFIDF, Norm: L1, Sublinear: true}, []feature.Value{value("b", 1), value("other", 0.5)}, "at least 1"},
	} {
		names := []string{"a", "b"}
		v := newColumns(t, Config{Weights: c.weights, IDF: idf}, names).NewVectorizer()
		row, err := v.Features(c.features)
		if e := (*ValueError)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.problem) || len(row.Columns) > 0 {
			t.Errorf("%d: %v, %v", i, row, err)
		}
		row, err = v.Features([]feature.Value{value("a", 1)})
		if got := rowOf(t, names, row); err != nil || len(got) != 1 || got["a"] == 0 {
			t.Errorf("%d: the next row is %v, %v", i, got, err)
		}
	}
	if row, err := newColumns(t, Config{}, []string{"a\ufffd"}).NewVectorizer().Features([]feature.Value{value("a\xff", 2)}); err != nil || len(row.Values) != 1 {
		t.Errorf("%v, %v", row, err)
	}
}

// Rows do not allocate.
func TestRowsTakeNoMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 5))
	texts := []string{passages["english"], passages["french"], passages["chinese"]}
	for name, config := range columnCases() {
		names := someColumns(rng, config, texts, 0.5)
		for _, weights := range []Weights{{}, {Scheme: Log}, {Scheme: TFIDF, Norm: L2}} {
			if config.Weights = weights; weights.Scheme == TFIDF {
				if config.HashBits > 0 {
					continue
				}
				config.IDF = idfOf(t, config, texts)
			}
			v := newColumns(t, config, names).NewVectorizer()
			features := counted(Config{}, texts[0])
			document := []byte(strings.Join(texts, " "))
			if n := testing.AllocsPerRun(20, func() {
				v.Text(document)
				v.Features(features)
			}); n > 0 {
				t.Errorf("%s %v: %v allocations", name, weights, n)
			}
		}
	}
}

// A description of weights that was read again is the same.
func TestDescribeWeights(t *testing.T) {
	for _, w := range []Weights{
		{}, {Scheme: Values, Exponent: -20}, {Scheme: Values}, {Scheme: Binary}, {Scheme: Binary, Exponent: -20}, {Scheme: Log, Exponent: 3},
		{Scheme: TFIDF, Exponent: -20, Norm: L2}, {Scheme: TFIDF, Norm: NoNorm, PlainIDF: true, Sublinear: true},
	} {
		d := Config{Weights: w}.Describe()
		c, err := FromAnalyzer(*d)
		if err != nil || !reflect.DeepEqual(c.Weights, w) {
			t.Errorf("%+v became %+v, %v", w, c.Weights, err)
		}
		if d.Weights == nil {
			continue
		}
		if d.Weights.Name = "bm25"; w.Real() {
			if _, err := FromAnalyzer(*d); err == nil {
				t.Errorf("%+v is known", d.Weights)
			}
		}
	}
}

// Any bytes, with any columns, have the row that EachFeature gives them.
func FuzzColumns(f *testing.F) {
	for i, text := range columnTexts(rand.New(rand.NewPCG(14, 6)), 5) {
		if len(text) < 1000 {
			f.Add([]byte(text), "word1 été ab", uint8(i))
		}
	}
	cases := columnCases()
	kinds := slices.Sorted(maps.Keys(cases))
	f.Fuzz(func(t *testing.T, text []byte, more string, kind uint8) {
		config := cases[kinds[int(kind)%len(kinds)]]
		rng := rand.New(rand.NewPCG(uint64(kind), uint64(len(text))))
		names := map[string]bool{}
		for name := range featuresOf(config, string(text)+" "+more) {
			if rng.IntN(2) == 0 && len(name) <= MaxName {
				names[name] = true
			}
		}
		list := slices.Collect(maps.Keys(names))
		v := newColumns(t, config, list).NewVectorizer()
		for range 2 {
			row, err := v.Text(text)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := rowOf(t, list, row), only(featuresOf(config, string(text)), list); !maps.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}
