package kernel

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

func limit(n int) func() int { return func() int { return n } }

type document struct{ label, text string }

// tally counts documents with maps, as plainly as can be: occurrences and documents by word and label.
func tally(documents []document, stop ...string) map[string]map[string][2]int64 {
	counts := map[string]map[string][2]int64{}
	for _, d := range documents {
		words, _ := reference([]byte(d.text))
		seen := map[string]bool{}
		for _, word := range words {
			if slices.Contains(stop, word) {
				continue
			}
			if counts[word] == nil {
				counts[word] = map[string][2]int64{}
			}
			n := counts[word][d.label]
			n[0]++
			if !seen[word] {
				n[1]++
			}
			seen[word] = true
			counts[word][d.label] = n
		}
	}
	return counts
}

// testClasses are those of all documents of these tests.
var testClasses = sync.OnceValue(func() *block.Classes {
	labels := []string{"a", "b", "c", "class", "label", "other", "x", "y", "\ufffdx"}
	for i := range 5000 {
		labels = append(labels, fmt.Sprint("class", i), fmt.Sprint("label", i))
	}
	slices.Sort(labels)
	classes, err := block.NewClasses(labels)
	if err != nil {
		panic(err)
	}
	return classes
})

// collect merges flushed blocks and returns their counts, after it has checked the shards they came under.
func collect(t *testing.T, keys block.Keys, shards int, blocks map[int][][]byte) map[string]map[string][2]int64 {
	t.Helper()
	counts := map[string]map[string][2]int64{}
	for shard, list := range blocks {
		classes := testClasses()
		sources, err := block.OpenAll(keys, classes, list)
		if err != nil {
			t.Fatal(err)
		}
		err = block.MergeSources(sources, len(classes.Labels), func(f *block.Feature) error {
			if feature.Shard(f.Key, shards) != shard {
				return fmt.Errorf("%s is in shard %d", f.Name, shard)
			}
			name := string(f.Name)
			if counts[name] != nil {
				return fmt.Errorf("%s comes twice", name)
			}
			counts[name] = map[string][2]int64{}
			for _, n := range f.Counts {
				counts[name][classes.Labels[n.Class]] = [2]int64{n.Occurrences, n.Documents}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

func randomDocuments(rng *rand.Rand, n int) []document {
	documents := make([]document, n)
	for i := range documents {
		var b strings.Builder
		for range rng.IntN(30) {
			// Frequencies fall with the rank, as in text.
			rank := int(math.Exp(rng.Float64() * 9))
			fmt.Fprintf(&b, "Word%d ", rank)
			if rng.IntN(20) == 0 {
				b.WriteString("Été_" + strings.Repeat("long", rng.IntN(9)) + " ")
			}
		}
		documents[i] = document{fmt.Sprint("class", rng.IntN(3)), b.String()}
	}
	return documents
}

func TestCounterCountsWhatMapsCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	documents := randomDocuments(rng, 3000)
	stop := []string{"word1", "word2", "word3", "été_", "absent"}
	var stopWords [][]byte
	for _, word := range stop {
		stopWords = append(stopWords, []byte(word))
	}
	want := tally(documents, stop...)
	for _, test := range []struct {
		config  Config
		keyBits int
	}{
		{Config{StopWords: stopWords}, 0},
		{Config{StopWords: stopWords, MemoryBytes: limit(20_000)}, 0},
		{Config{StopWords: stopWords}, 8},
		{Config{StopWords: stopWords, MemoryBytes: limit(10_000)}, 1},
	} {
		for _, shards := range []int{1, 7} {
			config, keyBits := test.config, test.keyBits
			var distinct Sketch
			config.Distinct = &distinct
			c := newNarrowCounter(config, keyBits)
			blocks, flushes := map[int][][]byte{}, 0
			flush := func() {
				err := c.Flush(shards, 4096, false, func(shard int, b []byte) error {
					blocks[shard] = append(blocks[shard], b)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				flushes++
			}
			for _, d := range documents {
				c.Add([]byte(d.label), []byte(d.text))
				if c.Full() {
					flush()
				}
			}
			flush()
			if config.MemoryBytes != nil && flushes < 20 {
				t.Errorf("only %d flushes", flushes)
			}
			got := collect(t, c.Keys(), shards, blocks)
			if !maps.EqualFunc(got, want, maps.Equal) {
				t.Errorf("%+v with %d shards: the counts differ", test, shards)
			}
			checkTotals(t, c.TakeTotals(), want, documents)
			if again := c.TakeTotals(); again.Classes["class0"] != (Class{}) || again.Stopped != 0 {
				t.Errorf("totals taken twice: %+v", again)
			}
			if estimate := distinct.Estimate(); keyBits == 0 && math.Abs(float64(estimate)/float64(len(want))-1) > 0.1 {
				t.Errorf("%d distinct features are estimated as %d", len(want), estimate)
			}
		}
	}
}

// newNarrowCounter returns a counter that uses only some bits of the keys; 0 means all.
func newNarrowCounter(config Config, keyBits int) *Counter {
	defer NarrowKeys(keyBits)()
	return NewCounter(config)
}

func checkTotals(t *testing.T, got Totals, want map[string]map[string][2]int64, documents []document) {
	t.Helper()
	classes := map[string]Class{}
	stopped := int64(0)
	for _, d := range documents {
		c := classes[d.label]
		c.Documents++
		classes[d.label] = c
		words, _ := reference([]byte(d.text))
		stopped += int64(len(words))
	}
	for _, byLabel := range want {
		for label, n := range byLabel {
			c := classes[label]
			c.Tokens += n[0]
			c.Postings += n[1]
			classes[label] = c
			stopped -= n[0]
		}
	}
	if !maps.Equal(got.Classes, classes) || got.Stopped != stopped {
		t.Errorf("totals %+v, want %+v and %d stopped", got, classes, stopped)
	}
}

func TestOverlongWordsAreDroppedAndCounted(t *testing.T) {
	c := NewCounter(Config{})
	for range 3 {
		c.Add([]byte("a"), []byte(strings.Repeat("x", MaxName)+" "+strings.Repeat("y", MaxName+1)+" short"))
	}
	if err := c.Flush(1, 1<<20, false, func(int, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got := c.TakeTotals()
	if want := (Class{Documents: 3, Tokens: 6, Postings: 6}); got.Classes["a"] != want || got.Overlong != 3 {
		t.Errorf("totals %+v, want %+v and 3 overlong", got, want)
	}
}

func TestLabelsAreMadeValid(t *testing.T) {
	c := NewCounter(Config{})
	c.Add([]byte("a\xe2\x82b\xff"), []byte("two words"))
	if err := c.Flush(1, 1<<20, false, func(int, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got := c.TakeTotals()
	if want := (Class{Documents: 1, Tokens: 2, Postings: 2}); got.Classes["a\ufffdb\ufffd"] != want || got.Replaced != 2 {
		t.Errorf("totals %+v", got)
	}
}

// A counter reports the memory that its tables take.
func TestTablesTakeWhatTheCounterSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	c := NewCounter(Config{StopWords: [][]byte{[]byte("word1")}})
	for range 3 {
		for _, d := range randomDocuments(rng, 2000) {
			c.Add([]byte(d.label), []byte(d.text))
		}
		before := c.Bytes()
		if got := c.Take(7).Bytes(); got != before || c.Bytes() != 0 {
			t.Errorf("the counter said %d bytes, the tables take %d, %d are left", before, got, c.Bytes())
		}
	}
}

// A class that is not admitted is not counted, and takes no memory.
func TestClassesAreAdmitted(t *testing.T) {
	var asked []string
	c := NewCounter(Config{Admit: func(label string) bool { asked = append(asked, label); return label != "c" }})
	for _, label := range []string{"a", "b", "a", "b", "a"} {
		c.Add([]byte(label), []byte("some words"))
	}
	before := c.Bytes()
	if c.Full() {
		t.Error("full before a class was refused")
	}
	for range 3 {
		c.Add([]byte("c"), []byte("other words"))
	}
	if !c.Full() || c.Bytes() != before || len(c.TakeTotals().Classes) != 2 {
		t.Errorf("full %v, %d bytes, were %d", c.Full(), c.Bytes(), before)
	}
	if got := fmt.Sprint(asked); got != "[a b c c c]" {
		t.Error(got)
	}
}

// A column taken for the label by mistake may make a class of every document.
func TestManyClasses(t *testing.T) {
	c := NewCounter(Config{MemoryBytes: limit(1 << 20)})
	var blocks [][]byte
	flush := func() {
		if err := c.Flush(1, 1<<20, false, func(_ int, b []byte) error { blocks = append(blocks, b); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	const n = 5000
	for i := range n {
		c.Add(fmt.Append(nil, "label", i), []byte("same words"))
		if c.Full() {
			flush()
		}
	}
	flush()
	counts := collect(t, block.FullKeys, 1, map[int][][]byte{0: blocks})
	if totals := c.TakeTotals(); len(totals.Classes) != n || len(counts["same"]) != n || len(c.classes) > 0 {
		t.Errorf("%d classes, %d with counts, %d kept", len(totals.Classes), len(counts["same"]), len(c.classes))
	}
}

// AddFeatures counts what Add counts for the same tokens, and both may meet in one counter.
func TestAddFeaturesCountsWhatAddCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	documents := randomDocuments(rng, 500)
	only := NewBuckets(2)
	only.Add(1 << 63)
	stopWords := [][]byte{[]byte("word1"), []byte("été_")}
	for _, test := range []struct {
		config  Config
		keyBits int
	}{
		{Config{}, 0},
		{Config{StopWords: stopWords}, 0},
		{Config{StopWords: stopWords}, 2},
		{Config{StopWords: stopWords, HashBits: 5}, 0},
		{Config{StopWords: stopWords, Only: only}, 0},
		{Config{MemoryBytes: limit(20_000)}, 0},
	} {
		var counts [3]map[string]map[string][2]int64
		var totals [3]Totals
		for way := range counts {
			c := newNarrowCounter(test.config, test.keyBits)
			blocks := map[int][][]byte{}
			flush := func() {
				err := c.Flush(3, 4096, false, func(shard int, b []byte) error { blocks[shard] = append(blocks[shard], b); return nil })
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, d := range documents {
				if way == 0 || way == 2 && i%2 == 0 {
					c.Add([]byte(d.label), []byte(d.text))
				} else if err := c.AddFeatures([]byte(d.label), featureCounts(rng, d.text)); err != nil {
					t.Fatal(err)
				}
				if c.Full() {
					flush()
				}
			}
			flush()
			counts[way], totals[way] = collect(t, c.Keys(), 3, blocks), c.TakeTotals()
		}
		for way := 1; way < 3; way++ {
			if !maps.EqualFunc(counts[way], counts[0], maps.Equal) || !reflect.DeepEqual(totals[way], totals[0]) || len(counts[0]) == 0 {
				t.Errorf("%+v, way %d: other counts, or totals %+v and not %+v", test, way, totals[way], totals[0])
			}
		}
	}
}

// featureCounts are the words of a text in random order; some come in two parts, and some with the count 0.
func featureCounts(rng *rand.Rand, text string) (features []feature.Value) {
	counts := map[string]int64{}
	words, _ := reference([]byte(text))
	for _, word := range words {
		counts[word]++
	}
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		n := counts[word]
		part := rng.Int64N(n + 1)
		features = append(features, feature.Value{Name: []byte(word), Value: float64(part)}, feature.Value{Name: []byte(word), Value: float64(n - part)})
	}
	rng.Shuffle(len(features), func(i, j int) { features[i], features[j] = features[j], features[i] })
	return features
}

// Features that cannot be counted are an error before any is; names are made valid.
func TestAddFeaturesChecks(t *testing.T) {
	c := NewCounter(Config{})
	for want, features := range map[string][]feature.Value{
		"empty name":           {{Name: []byte("a"), Value: 1}, {Name: nil, Value: 1}},
		`feature "b" has`:      {{Name: []byte("a"), Value: 1}, {Name: []byte("b"), Value: -1}},
		"more than 2147483647": {{Name: []byte("a"), Value: MaxDocumentCount}, {Name: []byte("a"), Value: 1}},
		"than 2147483647":      {{Name: []byte("a"), Value: math.MaxInt64}, {Name: []byte("a"), Value: math.MaxInt64}},
	} {
		if err := c.AddFeatures([]byte("a"), features); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for range 2 {
		err := c.AddFeatures([]byte("a"), []feature.Value{{Name: []byte("\xff"), Value: MaxDocumentCount - 7}, {Name: bytes.Repeat([]byte("x"), MaxName+1), Value: 7}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !c.Full() {
		t.Error("the next document may overflow a count")
	}
	got := flushed(t, c)
	if n := got["\ufffd"]["a"]; len(got) != 1 || n != [2]int64{2 * (MaxDocumentCount - 7), 2} {
		t.Errorf("%v", got)
	}
	want := Totals{Classes: map[string]Class{"a": {Documents: 2, Tokens: 2 * (MaxDocumentCount - 7), Postings: 2}}, Replaced: 2, Overlong: 14}
	if totals := c.TakeTotals(); !reflect.DeepEqual(totals, want) {
		t.Errorf("totals %+v", totals)
	}
}

func TestDocumentsWithoutWordsCount(t *testing.T) {
	c := NewCounter(Config{})
	c.Add([]byte("a"), nil)
	c.Add([]byte("a"), []byte("x . y"))
	if err := c.Flush(1, 1<<20, false, func(int, []byte) error { t.Error("a block without a word"); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := c.TakeTotals().Classes["a"]; got != (Class{Documents: 2}) {
		t.Errorf("class %+v, want two documents", got)
	}
}

func TestSketch(t *testing.T) {
	for _, n := range []int{0, 1, 100, 5000, 20_000, 1_000_000} {
		var s Sketch
		var name []byte
		for i := range n {
			name = strconv.AppendInt(name[:0], int64(i), 10)
			key, _ := feature.Hash(name)
			s.Add(key)
			s.Add(key)
		}
		if got := float64(s.Estimate()); math.Abs(got-float64(n)) > 0.05*float64(n) {
			t.Errorf("%d distinct features are estimated as %v", n, got)
		}
	}
}

// BenchmarkCounter is the kernel on text with a Zipf vocabulary, without reading or writing anything.
func BenchmarkCounter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 2, 200_000)
	var documents [][]byte
	size, tokens := 0, 0
	for range 10_000 {
		var text []byte
		for range 200 {
			text = fmt.Appendf(text, "w%x ", zipf.Uint64()*7)
			tokens++
		}
		size += len(text)
		documents = append(documents, text)
	}
	c := NewCounter(Config{})
	b.SetBytes(int64(size))
	for b.Loop() {
		for i, d := range documents {
			c.Add([]byte{byte('a' + i%2)}, d)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens), "ns/token")
}
