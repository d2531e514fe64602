package feature

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHashAtReadsOnlyTheName(t *testing.T) {
	text := bytes.Repeat([]byte("upon the subject, "), 8)
	for start := range 20 {
		for end := start; end+Padding <= len(text); end++ {
			k1, c1 := Hash(text[start:end])
			k2, c2 := HashAt(text, start, end)
			if k1 != k2 || c1 != c2 {
				t.Fatalf("HashAt(%d, %d) differs from Hash", start, end)
			}
			other := bytes.Clone(text)
			for i := range other {
				if i < start || i >= end {
					other[i] ^= 0x55
				}
			}
			if k3, c3 := HashAt(other, start, end); k3 != k1 || c3 != c1 {
				t.Fatalf("HashAt(%d, %d) depends on bytes outside the name", start, end)
			}
		}
	}
}

// The hash is part of the file format: these values never change.
func TestHashIsFixed(t *testing.T) {
	for name, want := range map[string]int64{
		"upon":                 -7672916667307181864,
		"confederation":        8136277873571814536,
		"internationalization": -1047121130299285897,
		"größe":                -9084055959418803914,
	} {
		if got := ID(mustKey(name)); got != want {
			t.Errorf("the feature_id of %q is %d, was %d", name, got, want)
		}
	}
}

func mustKey(name string) uint64 {
	k, _ := Hash([]byte(name))
	return k
}

// Every input bit changes every output bit about half of the time: in the key, and in the check of a name that is not
// determined by it, except for the byte that marks it.
func TestAvalanche(t *testing.T) {
	for _, size := range []int{3, 5, 8, 9, 16, 17, 33} {
		flips := [128]int{}
		trials := 0
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		for range 2000 {
			name := make([]byte, size)
			for i := range name {
				name[i] = byte('a' + rng.IntN(26))
			}
			k, c := Hash(name)
			for bit := range 8 * size {
				name[bit/8] ^= 1 << (bit % 8)
				k2, c2 := Hash(name)
				name[bit/8] ^= 1 << (bit % 8)
				for i := range 64 {
					flips[i] += int((k ^ k2) >> i & 1)
					flips[64+i] += int((c ^ c2) >> i & 1)
				}
				trials++
			}
		}
		for i, n := range flips {
			if i >= 64 && (size <= Exact || i < 64+8) {
				continue
			}
			if rate := float64(n) / float64(trials); rate < 0.45 || rate > 0.55 {
				t.Errorf("size %d: output bit %d flips at a rate of %.3f", size, i, rate)
			}
		}
	}
}

// A quarter of a million words fill the buckets of their leading bits, which are the table's slots and the shards, as random keys
// would, whatever it is that they differ in, and no key repeats.
func TestDistribution(t *testing.T) {
	const n = 1 << 18
	digits := func(i int, at ...int) []byte { // in places of a name, 32 to each
		name := []byte("________________")
		for j, at := range at {
			name[at] = "abcdefghijklmnopqrstuvwxyz012345"[i>>(5*j)&31]
		}
		return name
	}
	for what, name := range map[string]func(i int) []byte{
		"short words":         func(i int) []byte { return fmt.Appendf(nil, "w%d", i) },
		"numbers of 7":        func(i int) []byte { return fmt.Appendf(nil, "%07d", i) },
		"numbers of 16":       func(i int) []byte { return fmt.Appendf(nil, "%016d", i) },
		"ends of numbers":     func(i int) []byte { return fmt.Appendf(nil, "%07d000000000", i) },
		"words of 9 and more": func(i int) []byte { return fmt.Appendf(nil, "confedera%d", i) },
		"letters 13 to 16":    func(i int) []byte { return digits(i, 12, 13, 14, 15) },
		"letters 7 to 10":     func(i int) []byte { return digits(i, 6, 7, 8, 9) },
		"letters 1, 5, 9, 13": func(i int) []byte { return digits(i, 0, 4, 8, 12) },
		"Cyrillic": func(i int) []byte {
			return []byte(string([]rune{0x430 + rune(i)&31, 0x430 + rune(i)>>5&31, 0x430 + rune(i)>>10&31, 0x430 + rune(i)>>15}))
		},
		"bigrams":      func(i int) []byte { return fmt.Appendf(nil, "w%d w%d", i&1023, i>>10) },
		"long bigrams": func(i int) []byte { return fmt.Appendf(nil, "confederation%d congress%d", i&1023, i>>10) },
		"long words":   func(i int) []byte { return fmt.Appendf(nil, "internationalization_of_%d", i) },
	} {
		keys := make([]uint64, n)
		slots := map[uint][]int{6: make([]int, 1<<6), 12: make([]int, 1<<12), 16: make([]int, 1<<16)}
		for i := range n {
			key, _ := Hash(name(i))
			keys[i] = key
			for bits, counts := range slots {
				counts[key>>(64-bits)]++
			}
		}
		slices.Sort(keys)
		if distinct := len(slices.Compact(keys)); distinct < n {
			t.Errorf("%s: %d names have %d keys", what, n, distinct)
		}
		for bits, counts := range slots {
			mean := float64(n) / float64(len(counts))
			chi2 := 0.0
			for _, c := range counts {
				chi2 += (float64(c) - mean) * (float64(c) - mean) / mean
			}
			df := float64(len(counts) - 1)
			if z := (chi2 - df) / math.Sqrt(2*df); z > 6 {
				t.Errorf("%s: chi-square of %d leading bits is %.0f for %.0f degrees of freedom", what, bits, chi2, df)
			}
		}
	}
}

func TestShardsKeepTheOrder(t *testing.T) {
	for _, n := range []int{1, 3, 16, 64, 1000} {
		last := 0
		for i := range 100_000 {
			key := uint64(i) * (math.MaxUint64 / 100_000)
			s := Shard(key, n)
			if s < last || s >= n {
				t.Fatalf("key %d of %d shards: shard %d after %d", key, n, s, last)
			}
			last = s
		}
		if last != n-1 || Shard(math.MaxUint64, n) != n-1 {
			t.Errorf("%d shards: the last key is in shard %d", n, last)
		}
	}
	if ID(0) != math.MinInt64 || ID(math.MaxUint64) != math.MaxInt64 || ID(1<<63) != 0 {
		t.Error("ID does not keep the order of the keys")
	}
}

var sink uint64

func BenchmarkHashAt(b *testing.B) {
	text := bytes.Repeat([]byte("upon the subject of confederation "), 100)
	var starts []int
	for i := 0; i+Padding < len(text)-20; i += 7 {
		starts = append(starts, i)
	}
	for b.Loop() {
		for i, s := range starts {
			k, c := HashAt(text, s, s+2+i%9)
			sink += k + c
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(starts)), "ns/hash")
}

// Names that are much alike, in one byte or in how often something is repeated, have different keys. What the length was
// mixed with once was the last byte, so that seventeen a were taken for seventeen a and a b.
func TestNamesThatAreAlike(t *testing.T) {
	seen := map[uint64]string{}
	add := func(name []byte) {
		key, _ := Hash(name)
		if other, ok := seen[key]; ok && other != string(name) {
			t.Fatalf("%q and %q have one key", other, name)
		}
		seen[key] = string(name)
	}
	for _, period := range []string{"a", "z", "0", " ", "\x00", "\x1f", "\x7f", "ab", "ha ", "the ", "é", "12345678", "abcdefghijklmnop", "invoice 0000000"} {
		for n := range 70 {
			name := bytes.Repeat([]byte(period), n/len(period)+1)[:n]
			add(name)
			for c := range 0xff { // that byte is in no text
				add(append(name[:n:n], byte(c)))
				if n > 0 {
					changed := bytes.Clone(name)
					changed[n-1] = byte(c)
					add(changed)
					changed = bytes.Clone(name)
					changed[n/2] = byte(c)
					add(changed)
				}
			}
		}
	}
	for width := range 24 {
		for n := range 2000 {
			add(fmt.Appendf(nil, "%0*d", width, n))
			add(fmt.Appendf(nil, "word %0*d", width, n))
		}
	}
}
