package feature

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func names(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = fmt.Appendf(nil, "w%d", i)
	}
	return out
}

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
		"upon":                 4887428112197075457,
		"confederation":        -167407340962079273,
		"internationalization": 92605409441069534,
		"größe":                -6159110109871394698,
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

// Every input bit changes every output bit about half of the time, in the key and in the check.
func TestAvalanche(t *testing.T) {
	for _, size := range []int{3, 5, 8, 9, 16, 17, 33} {
		flips := [96]int{}
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
				}
				for i := range 32 {
					flips[64+i] += int((c ^ c2) >> i & 1)
				}
				trials++
			}
		}
		for i, n := range flips {
			if rate := float64(n) / float64(trials); rate < 0.45 || rate > 0.55 {
				t.Errorf("size %d: output bit %d flips at a rate of %.3f", size, i, rate)
			}
		}
	}
}

// A million words fill the buckets of their leading bits, which are the table's slots and the shards, as random keys
// would, and neither half of the identity repeats more than chance allows.
func TestDistribution(t *testing.T) {
	const n = 1 << 20
	const bucketBits = 12
	keys := make(map[uint64]bool, n)
	checks := make([]int, 1<<16)
	buckets := make([]int, 1<<bucketBits)
	for _, name := range names(n) {
		k, c := Hash(name)
		if keys[k] {
			t.Errorf("the key of %q repeats", name)
		}
		keys[k] = true
		checks[c>>16]++
		buckets[k>>(64-bucketBits)]++
	}
	for what, counts := range map[string][]int{"key": buckets, "check": checks} {
		mean := float64(n) / float64(len(counts))
		chi2 := 0.0
		for _, c := range counts {
			chi2 += (float64(c) - mean) * (float64(c) - mean) / mean
		}
		df := float64(len(counts) - 1)
		if z := (chi2 - df) / math.Sqrt(2*df); z > 6 {
			t.Errorf("%s: chi-square of the leading bits is %.0f for %.0f degrees of freedom", what, chi2, df)
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
			sink += k + uint64(c)
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
	for _, period := range []string{"a", "z", "0", " ", "\x00", "\x1f", "\xff", "ab", "ha ", "the ", "é", "12345678", "abcdefghijklmnop", "invoice 0000000"} {
		for n := range 70 {
			name := bytes.Repeat([]byte(period), n/len(period)+1)[:n]
			add(name)
			for c := range 256 {
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
