// Command counting measures documents to counts: sparsenb beside a bare loop over the same file, which tokenises, hashes
// and counts with the same kernel but does nothing else, and beside wc -w. It makes its data, measures whole processes
// from outside, one after the other in several rounds, and prints medians and ratios.
//
//	go run ./bench/counting [-rounds 5] [-megabytes 332] [-corpus FILE]
//
// The corpus is copied until it has the size; without one, text with a Zipf vocabulary is made from a seed.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "counting:", err)
		os.Exit(1)
	}
}

func run() error {
	// This process stays small and starts others: what the system calls the peak memory of a process includes that of
	// the one it was forked from.
	if len(os.Args) == 4 && os.Args[1] == "loop" {
		return loop(os.Args[2], os.Args[3])
	}
	if len(os.Args) == 5 && os.Args[1] == "make" {
		return makeText(os.Args[2], os.Args[3], os.Args[4])
	}
	rounds := flag.Int("rounds", 5, "measured runs of each command, after one to warm up")
	megabytes := flag.Int64("megabytes", 332, "size of the text")
	corpus := flag.String("corpus", "../shared/data/imdb/train.tsv.gz", "documents to copy, plain or gzip")
	flag.Parse()

	dir, err := os.MkdirTemp("", "sparsenb-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text := filepath.Join(dir, "text.tsv")
	what, err := exec.Command(self, "make", text, *corpus, strconv.FormatInt(*megabytes*1e6, 10)).Output()
	if err != nil {
		return fmt.Errorf("making the text: %w", err)
	}
	sparsenb := filepath.Join(dir, "sparsenb")
	if out, err := exec.Command("go", "build", "-o", sparsenb, "./cmd/sparsenb").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	n := 0
	commands := []command{
		{"wc -w", func() *exec.Cmd { return exec.Command("wc", "-w", text) }},
		{"bare loop", func() *exec.Cmd { return exec.Command(self, "loop", text, "1") }},
		{"bare loop, two threads", func() *exec.Cmd { return exec.Command(self, "loop", text, "2") }},
		{"sparsenb count", func() *exec.Cmd {
			n++
			return exec.Command(sparsenb, "count", "--input="+text, "--output="+filepath.Join(dir, fmt.Sprint("out", n)))
		}},
	}
	info, err := os.Stat(text)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d MB, %d rounds\n\n", bytes.TrimSpace(what), info.Size()/1e6, *rounds)
	results, err := measure(commands, *rounds)
	if err != nil {
		return err
	}
	print(results, float64(info.Size())/1e6)
	return nil
}

type command struct {
	name  string
	start func() *exec.Cmd
}

// sample is what one process took.
type sample struct{ wall, cpu, memory float64 } // seconds, seconds, MB

// measure runs the commands alternately, so that they meet the same machine.
func measure(commands []command, rounds int) (map[string][]sample, error) {
	results := map[string][]sample{}
	for round := range rounds + 1 {
		for _, c := range commands {
			cmd := c.start()
			started := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w: %s", c.name, err, out)
			}
			wall := time.Since(started)
			if round == 0 {
				continue
			}
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			results[c.name] = append(results[c.name], sample{wall.Seconds(), cpu.Seconds(), float64(usage.Maxrss) / 1e3})
		}
	}
	return results, nil
}

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func print(results map[string][]sample, megabytes float64) {
	names := make([]string, 0, len(results))
	for name := range results {
		names = append(names, name)
	}
	wall := func(s sample) float64 { return s.wall }
	cpu := func(s sample) float64 { return s.cpu }
	memory := func(s sample) float64 { return s.memory }
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	base := median(results["bare loop"], cpu)
	fmt.Println("| | wall s | MB/s | CPU s | CPU / bare loop | peak MB |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, name := range names {
		r := results[name]
		fmt.Printf("| %s | %.2f | %.0f | %.2f | %.2f | %.0f |\n", name, median(r, wall), megabytes/median(r, wall), median(r, cpu), median(r, cpu)/base, median(r, memory))
	}
}

func order(name string) int {
	return slices.IndexFunc([]string{"wc", "bare loop", "bare loop,", "sparsenb"}, func(p string) bool { return strings.HasPrefix(name, p) }) + strings.Count(name, ",")
}

// makeText writes about so many bytes of documents, and prints what they are.
func makeText(name, corpus, bytes string) (err error) {
	size, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if content, e := readCorpus(corpus); e == nil {
		fmt.Println(filepath.Base(filepath.Dir(corpus))+"/"+filepath.Base(corpus), "again and again")
		for written := int64(0); written+int64(len(content))/2 < size; written += int64(len(content)) {
			if _, err := w.Write(content); err != nil {
				return err
			}
		}
	} else {
		fmt.Println("Zipf text with 300,000 words")
		if err := writeZipf(w, size); err != nil {
			return err
		}
	}
	return w.Flush()
}

func readCorpus(name string) (content []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(name, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func writeZipf(w io.Writer, size int64) error {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.05, 3, 300_000)
	var line []byte
	for written := int64(0); written < size; written += int64(len(line)) {
		line = append(line[:0], '0'+byte(rng.IntN(2)), '\t')
		for range 50 + rng.IntN(400) {
			line = appendWord(line, zipf.Uint64())
		}
		line[len(line)-1] = '\n'
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendWord writes the rank in syllables: frequent words are short.
func appendWord(line []byte, rank uint64) []byte {
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	for rank += 16; rank > 0; rank /= 80 {
		line = append(line, consonants[rank%16], vowels[rank/16%5])
	}
	return append(line, ' ')
}
