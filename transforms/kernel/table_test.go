package kernel

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
)

// The keys of these words, behind "lastslot", begin with 32 ones: they all want the last slot of any table.
const lastSlot = `
03x7i43v 0a157uwa 0jyrge4b 0wgstcx4 19hpecd7 1cv6h36r 1f3ek0oq 1k20dxe1 1mrrwld3 24z2ycuz 2bt0k77d 2x01ech6
35ha4gjm 3dwdkncl 3o4b3sq0 3xfcgz9a 5kpu9tc0 6ofj3w04 72ub84fw 73er190q 7tcwpghc 8yb1aqy8 98gw3fxp 9b8x3fi9
9dz514wb 9i6bzfjo 9myu2vh8 af91kuwg aot1er67 aswgj6kv ax05yglm bi9inpz2 chmy4imf dmy6pzsh eddrobmj ery7zxok
fogzl56x fuo1goub gb3r1tf3 gqbrc5gv i45llzfk i6hsrs5o i7jz8nt7 ia65zbwc ib25qr7c j1l28maw jky5d3td kcspnxu0
kwryvels l60mxx01 mry2a444 nb8gvfif nebs1f75 nk8khoqf orjalc0m ovworbk0 p2jh7k8x p5700ipr pql24ox3 q22kng8p
q3lvz1pv ql8mzq3q qpgcfyw6 qrd64qkp qym5sjet ri0b6aoo rism43sp sqba2u1l t3flqi6h t6482966 tlfwhkdt tqwdnpzk
ufxnal2h umt4nzg9 ur06r5ks us3cbme7 uukk7knf uwgucu5r v9o685ca w4mkizz5 wqyci1s9 xu96jdkw xv5ub5h8 xvbgjtvn
xy6ercc2 y1bethbf yg85j2gq ygldqnyu zqq5nxcs zr6amuve`

func TestWordsThatWantTheLastSlot(t *testing.T) {
	var text []byte
	for i, word := range strings.Fields(lastSlot) {
		if key, _ := feature.Hash([]byte("lastslot" + word)); key>>32 != 1<<32-1 {
			t.Fatalf("the key of lastslot%s is %x", word, key)
		}
		for range i%3 + 1 {
			text = append(append(text, " lastslot"...), word...)
		}
	}
	documents := []document{{"a", string(text)}, {"b", string(text[:len(text)/2])}, {"a", string(text[len(text)/3:])}}
	for _, config := range []Config{{}, {StopWords: [][]byte{[]byte("lastslot6ofj3w04"), []byte("lastslotzr6amuve")}}, {Analyzer: Analyzer{Min: 1, Max: 2}}} {
		c := NewCounter(config)
		for _, d := range documents {
			c.Add([]byte(d.label), []byte(d.text))
		}
		if n := len(c.classes["a"].table.entries); n > 2048 {
			t.Errorf("%+v: %d slots for %d features", config, n, c.classes["a"].table.used)
		}
		if config.Analyzer.Max > 0 {
			continue
		}
		var stop []string
		for _, word := range config.StopWords {
			stop = append(stop, string(word))
		}
		if got, want := flushed(t, c), tally(documents, stop...); !maps.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%+v: the counts differ", config)
		}
	}
}

// flushed are the counts of a counter.
func flushed(t *testing.T, c *Counter) map[string]map[string][2]int64 {
	t.Helper()
	var blocks [][]byte
	if err := c.Flush(1, 1<<20, false, func(_ int, b []byte) error { blocks = append(blocks, b); return nil }); err != nil {
		t.Fatal(err)
	}
	return collect(t, c.Keys(), 1, map[int][][]byte{0: blocks})
}

// However many keys want the last slots, a table is as large as its features, finds them, and has them in their order.
func TestTheEndOfATable(t *testing.T) {
	table := newTable()
	for round := range 2 {
		table.reset([][]byte{[]byte("stop")}, fullKeys)
		const n = 5000
		name := func(i uint64) []byte { return fmt.Append(nil, "name", i) }
		key := func(i uint64) uint64 { return ^(i * 0x9e3779b97f4a7c15 >> 44) }
		for i := range uint64(n) {
			if table.crowded() {
				table.grow()
			}
			table.insert(key(i), i<<8, name(i))
		}
		if most := 8 * n; len(table.entries) > most {
			t.Fatalf("round %d: %d slots", round, len(table.entries))
		}
		for i := range uint64(n) {
			if e := table.find(key(i), i<<8); e.name == 0 || !bytes.Equal(table.nameOf(e), name(i)) {
				t.Fatalf("round %d: name %d is not found", round, i)
			}
		}
		if e := table.find(^uint64(0), n<<8); e.name != 0 {
			t.Error("a name is found that is not there")
		}
		entries, _ := table.sorted()
		if len(entries) != n {
			t.Errorf("%d entries", len(entries))
		}
		for i := range entries[1:] {
			if entries[i].key > entries[i+1].key {
				t.Fatalf("round %d: entry %d is not in its place", round, i)
			}
		}
	}
}

// Words that the hash of format 2 took for one, see package feature.
func TestWordsOfOneFamily(t *testing.T) {
	const zero = "vdwxmzdbfzgzymmy92xhr2ng"
	documents := []document{{"a", zero + "aaaaaaaa " + zero + "bbbbbbbb"}, {"b", zero + "bbbbbbbb"}}
	c := NewCounter(Config{})
	for _, d := range documents {
		c.Add([]byte(d.label), []byte(d.text))
	}
	if got, want := flushed(t, c), tally(documents); !maps.EqualFunc(got, want, maps.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Where keys and checks are equal, names decide: in every table, from one flush to the next, and for stop words.
func TestNamesDecide(t *testing.T) {
	const name = "a name of more than sixteen bytes"
	table := newTable()
	table.reset([][]byte{[]byte("a stop word"), []byte("another")}, narrow{check: ^uint64(0)}) // all keys are 0
	for i := range 300 {
		name := fmt.Append(nil, name, i%100)
		e := table.findNamed(0, ^uint64(0), name)
		if (e.name == 0) != (i < 100) {
			t.Fatalf("%s, time %d: its place is %d", name, i/100, e.name)
		}
		if e.name == 0 {
			if table.crowded() {
				table.grow()
			}
			e = table.insert(0, ^uint64(0), name)
		}
		e.occur(uint32(i))
	}
	entries, _ := table.sorted()
	for i, e := range entries {
		if i > 0 && bytes.Compare(table.nameOf(&entries[i-1]), table.nameOf(&e)) >= 0 || e.count != 3 {
			t.Errorf("%s, %d times, at %d", table.nameOf(&e), e.count, i)
		}
	}
	if len(entries) != 100 {
		t.Errorf("%d entries", len(entries))
	}
	// The same in a counter, for words and for n-grams.
	for _, a := range []Analyzer{{}, {Min: 1, Max: 2}, {Unit: Char, Min: 2, Max: 3}} {
		text := "upon the subject of confederation upon the confederation of congress and internationalizations "
		narrowed, full := newNarrowCounter(Config{Analyzer: a}, 1), NewCounter(Config{Analyzer: a})
		for i := range 3 {
			narrowed.Add([]byte("a"), []byte(text[i:]))
			full.Add([]byte("a"), []byte(text[i:]))
		}
		if got, want := flushed(t, narrowed), flushed(t, full); !maps.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%v: %v, want %v", a, got, want)
		}
	}
}
