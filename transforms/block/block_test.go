package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// counts is a block in plain words: by feature and label.
type counts map[string]map[string]Count

// narrowKeys returns keys with only the leading bits, so that many names share one.
func narrowKeys(bits int) Keys {
	return func(name []byte) uint64 { return FullKeys(name) & KeyMask(bits) }
}

func count(occurrences, documents int64) Count {
	return Count{Occurrences: occurrences, Documents: documents}
}

// known are the classes of these tests.
var known = func() *Classes {
	classes, err := NewClasses([]string{"Hamilton", "Madison", "a", "b", strings.Repeat("b", 50), "class0", "class1", "class2", "class3"})
	if err != nil {
		panic(err)
	}
	return classes
}()

// pack writes counts as blocks of at most limit bytes.
func pack(t testing.TB, keys Keys, c counts, limit int) [][]byte {
	t.Helper()
	var features []*Feature
	for name, byLabel := range c {
		f := &Feature{Key: keys([]byte(name)), Name: []byte(name)}
		for i, label := range known.Labels {
			if n, ok := byLabel[label]; ok {
				f.Counts = append(f.Counts, Count{Class: i, Occurrences: n.Occurrences, Documents: n.Documents})
			}
		}
		features = append(features, f)
	}
	slices.SortFunc(features, func(a, b *Feature) int { return compare(a.Key, a.Name, b.Key, b.Name) })
	var blocks [][]byte
	w := Writer{Limit: limit, Classes: known.ids, Emit: func(b []byte) error { blocks = append(blocks, b); return nil }}
	for _, f := range features {
		if err := w.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return blocks
}

func one(t testing.TB, keys Keys, c counts) []byte {
	t.Helper()
	if blocks := pack(t, keys, c, math.MaxInt); len(blocks) > 0 {
		return blocks[0]
	}
	return Zero()
}

// unpack is the inverse of pack.
func unpack(t testing.TB, keys Keys, b []byte) counts {
	t.Helper()
	r, err := Open(b, keys, known)
	if err != nil {
		t.Fatal(err)
	}
	c := counts{}
	for r.Next() {
		f := r.Feature()
		c[string(f.Name)] = map[string]Count{}
		for _, n := range f.Counts {
			c[string(f.Name)][known.Labels[n.Class]] = count(n.Occurrences, n.Documents)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return c
}

func randomCounts(rng *rand.Rand) counts {
	c := counts{}
	for range rng.IntN(60) {
		byLabel := map[string]Count{}
		for range 1 + rng.IntN(3) {
			documents := 1 + rng.Int64N(1<<uint(rng.IntN(40)))
			byLabel[fmt.Sprint("class", rng.IntN(4))] = count(documents+rng.Int64N(3)*rng.Int64N(1000), documents)
		}
		c[fmt.Sprint("word", rng.IntN(100))] = byLabel
	}
	return c
}

func sum(a, b counts) counts {
	total := counts{}
	for _, c := range []counts{a, b} {
		for name, byLabel := range c {
			if total[name] == nil {
				total[name] = map[string]Count{}
			}
			for label, n := range byLabel {
				t := total[name][label]
				total[name][label] = count(t.Occurrences+n.Occurrences, t.Documents+n.Documents)
			}
		}
	}
	return total
}

func TestMergeLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, keys := range []Keys{FullKeys, narrowKeys(8), narrowKeys(1)} {
		merge := func(blocks ...[]byte) []byte {
			b, err := Merge(keys, known, blocks...)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for range 200 {
			ca, cb, cc := randomCounts(rng), randomCounts(rng), randomCounts(rng)
			a, b, c := one(t, keys, ca), one(t, keys, cb), one(t, keys, cc)
			if !bytes.Equal(merge(a, b), one(t, keys, sum(ca, cb))) {
				t.Fatal("a merge is not the sum of the counts")
			}
			if !bytes.Equal(merge(a, b), merge(b, a)) {
				t.Fatal("not commutative")
			}
			if !bytes.Equal(merge(merge(a, b), c), merge(a, merge(b, c))) || !bytes.Equal(merge(a, b, c), merge(merge(c, a), b)) {
				t.Fatal("not associative")
			}
			if !bytes.Equal(merge(a, Zero()), a) || !bytes.Equal(merge(), Zero()) {
				t.Fatal("the empty block is not a zero")
			}
			if parts := pack(t, keys, ca, 100); !bytes.Equal(merge(parts...), a) {
				t.Fatal("cut into pieces and merged, a block is another one")
			}
		}
	}
}

func TestBlocksKeepToTheirLimit(t *testing.T) {
	c := counts{}
	for i := range 5000 {
		c[fmt.Sprint("word", i)] = map[string]Count{"a": count(int64(i+1), int64(i/2+1)), strings.Repeat("b", 50): count(7, 7)}
	}
	blocks := pack(t, FullKeys, c, 4096)
	for i, b := range blocks {
		if len(b) > 4096 || i < len(blocks)-1 && len(b) < 3900 {
			t.Errorf("block %d of %d has %d bytes", i, len(blocks), len(b))
		}
	}
	// One feature that is larger than the limit gets a block of its own.
	long := counts{strings.Repeat("x", 5000): {"a": count(1, 1)}, "y": {"a": count(1, 1)}}
	if n := len(pack(t, FullKeys, long, 4096)); n != 2 {
		t.Errorf("%d blocks for a long feature and a short one, want 2", n)
	}
}

// A class takes 8 bytes of a block, however long its label is.
func TestLabelsAreNotInBlocks(t *testing.T) {
	long := strings.Repeat("b", 50)
	with, without := one(t, FullKeys, counts{"w": {long: count(1, 1)}}), one(t, FullKeys, counts{"w": {"a": count(1, 1)}})
	if len(with) != len(without) || bytes.Contains(with, []byte("bbb")) {
		t.Errorf("%d bytes with a long label, %d with a short one", len(with), len(without))
	}
}

func TestClassesThatNoDocumentHas(t *testing.T) {
	other, err := NewClasses([]string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	b := one(t, FullKeys, counts{"w": {"a": count(1, 1), "b": count(1, 1)}})
	if _, err := Merge(FullKeys, other, b); err == nil || !strings.Contains(err.Error(), "which no document has") {
		t.Error(err)
	}
}

func TestLabelsOfOneID(t *testing.T) {
	same := func(string) ClassID { return 7 }
	if _, err := newClasses([]string{"a", "b"}, same); err == nil || !strings.Contains(err.Error(), `"a" and "b" have the same ID`) {
		t.Error(err)
	}
}

func TestEveryCorruptByteIsNoticed(t *testing.T) {
	b := one(t, FullKeys, randomCounts(rand.New(rand.NewPCG(2, 2))))
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x40
		if _, err := Merge(FullKeys, known, bad); err == nil {
			t.Errorf("a change of byte %d of %d passes", i, len(b))
		}
		if _, err := Merge(FullKeys, known, b[:i]); err == nil {
			t.Errorf("a block cut after %d of %d bytes passes", i, len(b))
		}
	}
}

func TestSumsDoNotOverflow(t *testing.T) {
	b := one(t, FullKeys, counts{"w": {"a": count(math.MaxInt64/3, 1)}})
	if _, err := Merge(FullKeys, known, b, b); err == nil {
		t.Error("a sum beyond 2⁶² passes")
	}
}

// FuzzOpen holds that no bytes make the reader panic, and that what it accepts is written as it was read.
func FuzzOpen(f *testing.F) {
	f.Add(Zero()[:len(Zero())-4])
	b := one(f, FullKeys, counts{"upon": {"Hamilton": count(374, 51), "Madison": count(7, 4)}, "whilst": {"Madison": count(12, 8)}})
	f.Add(b[:len(b)-4])
	f.Fuzz(func(t *testing.T, payload []byte) {
		b := binary.LittleEndian.AppendUint32(bytes.Clone(payload), crc32.Checksum(payload, castagnoli))
		merged, err := Merge(FullKeys, known, b)
		if err != nil {
			return
		}
		again, err := Merge(FullKeys, known, merged)
		if err != nil || !bytes.Equal(again, merged) {
			t.Errorf("merged once %x, twice %x, %v", merged, again, err)
		}
		if want, got := unpack(t, FullKeys, b), unpack(t, FullKeys, merged); fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("read %v, wrote %v", want, got)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	var blocks [][]byte
	features := 0
	for i := range 8 {
		c := counts{}
		for j := range 20_000 {
			c[fmt.Sprint("word", j*(i+1))] = map[string]Count{"a": count(int64(j+1), 1), "b": count(2, 2)}
		}
		features += len(c)
		blocks = append(blocks, one(b, FullKeys, c))
	}
	for b.Loop() {
		sources, err := OpenAll(FullKeys, known, blocks)
		if err != nil {
			b.Fatal(err)
		}
		if err := MergeSources(sources, len(known.Labels), func(*Feature) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*features), "ns/feature")
}
