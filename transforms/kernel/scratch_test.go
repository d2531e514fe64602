package kernel

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func BenchmarkScratch(b *testing.B) {
	content, _ := os.ReadFile("/tmp/w/imdb.tsv")
	var documents [][]byte
	size, tokens := 0, 0
	var w Words
	for line := range bytes.Lines(content) {
		_, text, _ := bytes.Cut(line, []byte("\t"))
		if len(documents) >= 10000 {
			break
		}
		documents = append(documents, text)
		size += len(text)
		w.Split(text)
		tokens += len(w.edges) / 2
	}
	run := func(name string, add func(text []byte)) {
		b.Run(name, func(b *testing.B) {
			var before, after syscall.Rusage
			syscall.Getrusage(0, &before)
			for b.Loop() {
				for _, d := range documents {
					add(d)
				}
			}
			syscall.Getrusage(0, &after)
			b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N*tokens), "cpu-ns/token")
		})
	}
	c := NewCounter(Config{})
	run("counter", func(text []byte) { c.Add([]byte("a"), text) })
	run("fold", w.fold)
	run("words", w.Split)
	for _, k := range []int{10, 1000, 10_000} {
		t, _ := os.ReadFile(fmt.Sprintf("/tmp/w/kern-x/k%d.txt", k))
		columns, err := NewColumns(Config{}, strings.Split(string(t), "\n"))
		if err != nil {
			b.Fatal(err)
		}
		v := columns.NewVectorizer()
		run(fmt.Sprint("k=", k), func(text []byte) { v.Text(text) })
	}
}
