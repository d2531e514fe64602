package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Documents of 200 words become rows of the k most frequent words, and are counted, for comparison.
func BenchmarkColumns(b *testing.B) {
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
	run := func(name string, add func(text []byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, d := range documents {
					add(d)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens), "ns/token")
		})
	}
	c := NewCounter(Config{})
	run("counter", func(text []byte) { c.Add([]byte("a"), text) })
	var words Words
	run("words", words.Split)
	for _, k := range []int{10, 1000, 10_000} {
		var names []string
		for i := range k { // every second of the most frequent words, so that half of their occurrences are in columns
			names = append(names, fmt.Sprintf("w%x", 2*i*7))
		}
		columns, err := NewColumns(Config{}, names)
		if err != nil {
			b.Fatal(err)
		}
		v := columns.NewVectorizer()
		run(fmt.Sprint("k=", k), func(text []byte) { v.Text(text) })
	}
}
