package countio

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// bigrams are names like those of pairs of words, sorted by their ids.
func bigrams(n int) []string {
	rng := rand.New(rand.NewPCG(3, 3))
	vocabulary := make([]string, 50_000)
	for i := range vocabulary {
		word := make([]byte, 2+rng.IntN(10))
		for j := range word {
			word[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(int(rng.ExpFloat64()*7), 25)]
		}
		vocabulary[i] = string(word)
	}
	zipf := rand.NewZipf(rng, 1.1, 20, uint64(len(vocabulary)-1))
	names := make([]string, n)
	for i := range names {
		names[i] = vocabulary[zipf.Uint64()] + " " + vocabulary[zipf.Uint64()]
	}
	ids := make(map[string]int64, n)
	for _, name := range names {
		key, _ := feature.Hash([]byte(name))
		ids[name] = feature.ID(key)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(ids[a], ids[b]) })
	return slices.Compact(names)
}

// counted are features side by side, as in a block; without pointers, which the garbage collector would follow.
type counted struct {
	features []counts
	names    []byte
	counts   []feature.Count
}

type counts struct {
	id                int64
	nameEnd, countEnd int
}

// countedBigrams have small counts in two classes, and are mostly in one of them.
func countedBigrams(n int) (c counted) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, name := range bigrams(n) {
		key, _ := feature.Hash([]byte(name))
		c.names = append(c.names, name...)
		first := rng.IntN(2)
		for class := range 2 {
			if class == first || rng.IntN(6) == 0 {
				n := 1 + int64(rng.ExpFloat64()*rng.ExpFloat64())
				c.counts = append(c.counts, feature.Count{Class: class, Occurrences: n, Documents: max(1, n-1)})
			}
		}
		c.features = append(c.features, counts{feature.ID(key), len(c.names), len(c.counts)})
	}
	return c
}

// BenchmarkWrite writes one large part, and as many small ones as a count has by default.
func BenchmarkWrite(b *testing.B) {
	for parts, n := range map[int]int{1: 1_500_000, 64: 64 * 2000} {
		c := countedBigrams(n)
		rows := len(c.counts)
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) {
			dir := b.TempDir()
			var size int64
			runtime.GC()
			userBefore, systemBefore := cpuTime()
			for b.Loop() {
				size = 0
				for part := range parts {
					size += writeFeatures(b, dir, part, parts, c).Size
				}
			}
			user, system := cpuTime()
			b.ReportMetric(float64(user-userBefore)/float64(b.N)/float64(rows), "user-ns/row")
			b.ReportMetric(float64(system-systemBefore)/float64(b.N)/float64(rows), "system-ns/row")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
		})
	}
}

func cpuTime() (user, system int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano(), u.Stime.Nano()
}

func writeFeatures(t testing.TB, dir string, part, parts int, c counted) tableio.FileSum {
	t.Helper()
	w, err := CreatePart(t.Context(), dir, part, parts, []string{"a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	from, to := len(c.features)*part/parts, len(c.features)*(part+1)/parts
	var last counts
	if from > 0 {
		last = c.features[from-1]
	}
	for _, f := range c.features[from:to] {
		if err := w.Add(c.names[last.nameEnd:f.nameEnd], f.id, c.counts[last.countEnd:f.countEnd]); err != nil {
			t.Fatal(err)
		}
		last = f
	}
	sum, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// BenchmarkRead reads a part without its names, and with all of them.
func BenchmarkRead(b *testing.B) {
	c := countedBigrams(500_000)
	dir := b.TempDir()
	file := writeFeatures(b, dir, 0, 1, c)
	for _, names := range []bool{false, true} {
		b.Run(fmt.Sprintf("names=%v", names), func(b *testing.B) {
			for b.Loop() {
				var classes Classes
				features := 0
				err := Source{Dir: dir}.Each(b.Context(), file.Name, &classes, func(f *Feature) error {
					features++
					if names {
						_, err := f.Name()
						return err
					}
					return nil
				})
				if err != nil || features != len(c.features) {
					b.Fatal(features, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(file.Rows), "ns/row")
		})
	}
}
