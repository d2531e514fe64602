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
		"upon":                 -4620375179578574124,
		"confederation":        7067639011866173642,
		"internationalization": 7228213052531975896,
		"größe":                -5326353543590433514,
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
