// Command counting measures documents to counts: sparsenb beside a bare loop over the same file, which tokenises, hashes
// and counts with the same kernel but does nothing else, beside wc -w, and beside other tools that do the same work
// (peers.py). It makes its data, measures whole processes from outside, one after the other in several rounds, and writes
// medians and ratios as a table, counting.md, and a chart, counting.svg.
//
//	go run ./bench/counting [-rounds 5] [-python PYTHON] [-scale 10] [-corpus FILE] [-out DIR]
//
// The corpus is copied until it has the size; without one, text with a Zipf vocabulary is made from a seed. PYTHON has the
// packages of bench/requirements.txt; "make bench" makes one. A tool that is missing is named below the table. With
// -make FILE it makes the text and no more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/sparsenb/sparsenb/bench/internal/process"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "counting:", err)
		os.Exit(1)
	}
}

func run() error {
	// This process stays small, because the peak memory of a child includes that of the process that forked it.
	if len(os.Args) == 5 && os.Args[1] == "loop" {
		return loop(os.Args[2], os.Args[3], os.Args[4])
	}
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 5, "measured runs of each command, after one to warm up")
	flag.Int64Var(&o.megabytes, "megabytes", 332, "size of the text")
	flag.StringVar(&o.text.corpus, "corpus", defaultCorpus, "documents to copy, plain or gzip, or none")
	flag.IntVar(&o.text.vocabulary, "vocabulary", 300_000, "distinct words of the generated text")
	flag.IntVar(&o.text.classes, "classes", 2, "classes of the generated text")
	flag.Uint64Var(&o.text.seed, "seed", 1, "seed of the generated text")
	flag.StringVar(&o.ngrams, "ngrams", words, "lengths of n-grams to count, MIN,MAX")
	flag.Int64Var(&o.scale, "scale", 0, "also measure sparsenb on this number of copies of the text; 0: do not")
	flag.StringVar(&o.python, "python", "python3", "a Python with the packages of bench/requirements.txt, or - for none")
	flag.StringVar(&o.out, "out", filepath.Join("out", "bench"), "folder for the table and the chart")
	made := flag.String("make", "", "only generate the text, into this file")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.megabytes < 1 || o.scale < 0 || o.text.vocabulary < 1 || o.text.classes < 1 {
		flag.Usage()
		return errors.New("rounds, sizes, words and classes are positive numbers, and there are no arguments")
	}
	if *made != "" {
		what, _, err := o.text.write(*made, o.megabytes*1e6)
		fmt.Println(what)
		return err
	}
	// An interrupted run removes its files, too.
	return process.InTempDir(o.bench)
}

type options struct {
	text                text
	megabytes, scale    int64
	rounds              int
	ngrams, python, out string
}

// bench makes the text and measures everything, with its files in a folder.
func (o options) bench(ctx context.Context, dir string) error {
	// Some peers write a copy of the text in another format.
	if err := needDisk(dir, o.megabytes*1e6*(2+o.scale)); err != nil {
		return err
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}
	sparsenb := filepath.Join(dir, "sparsenb")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", sparsenb, "./cmd/sparsenb").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file, counts := filepath.Join(dir, "text.tsv"), filepath.Join(dir, "counts")
	what, size, err := o.text.write(file, o.megabytes*1e6)
	if err != nil {
		return fmt.Errorf("making the text: %w", err)
	}
	commands := []command{
		{name: "`wc -w`", args: []string{"wc", "-w", file}},
		{name: bareLoop, args: []string{self, "loop", file, "1", o.ngrams}},
		{name: bareLoop + ", two threads", args: []string{self, "loop", file, "2", o.ngrams}},
		countCommand(ours, sparsenb, file, counts, o.ngrams),
	}
	if o.scale > 0 {
		larger := filepath.Join(dir, "larger.tsv")
		if _, _, err := (text{corpus: file}).write(larger, size*o.scale); err != nil {
			return fmt.Errorf("copying the text: %w", err)
		}
		c := countCommand(fmt.Sprintf("%s, %d × the text", ours, o.scale), sparsenb, larger, counts, o.ngrams)
		c.larger = true
		commands = append(commands, c)
	}
	commands = append(commands, peerCommands(o.python, file, o.ngrams)...)
	rows, err := measure(ctx, commands, o.rounds)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %d MB; %d CPUs; medians of %d", what, size/1e6, runtime.NumCPU(), o.rounds)
	if o.ngrams != words {
		title += fmt.Sprintf("; n-grams of %s words", o.ngrams)
	}
	return report{title, size, rows}.publish(o.out, os.Stdout)
}

const (
	bareLoop = "bare loop"
	ours     = "`sparsenb count`"
	words    = "1,1" // n-grams of one word
)

// countCommand is sparsenb itself. Its counts are in its manifest.
func countCommand(name, sparsenb, file, output, ngrams string) command {
	args := []string{sparsenb, "count", "--input=" + file, "--output=" + output}
	if ngrams != words {
		args = append(args, "--ngrams="+ngrams)
	}
	return command{name: name, args: args, output: output, counted: func([]byte) (counts, error) {
		content, err := os.ReadFile(filepath.Join(output, "manifest.json"))
		if err != nil {
			return counts{}, err
		}
		var manifest struct {
			Classes  []struct{ Tokens int64 }
			Features int64
		}
		err = json.Unmarshal(content, &manifest)
		c := counts{Features: manifest.Features}
		for _, class := range manifest.Classes {
			c.Tokens += class.Tokens
		}
		return c, err
	}}
}

// peerCommands are the functions of peers.py.
func peerCommands(python, file, ngrams string) (commands []command) {
	for _, p := range []struct {
		name, function string
		ngrams         bool // it counts them
	}{
		{"scikit-learn `CountVectorizer`", "countvectorizer", true},
		{"scikit-learn `HashingVectorizer`", "hashingvectorizer", true},
		{"Polars", "polars", false},
		{"DuckDB", "duckdb", false},
		{"Spark `local[" + strconv.Itoa(runtime.NumCPU()) + "]`", "spark", false},
		{"Vowpal Wabbit", "vowpalwabbit", false},
		{"fastText", "fasttext", false},
	} {
		c := command{name: p.name, peer: true, counted: lastLine}
		c.args = []string{python, filepath.Join("bench", "counting", "peers.py"), p.function, file, ngrams}
		switch {
		case python == "-":
			c.unasked = "not asked, by -python -"
		case ngrams != words && !p.ngrams:
			c.unasked = "not asked, it does not count n-grams as peers.py uses it"
		}
		commands = append(commands, c)
	}
	return commands
}

// lastLine reads what a peer prints.
func lastLine(stdout []byte) (c counts, err error) {
	err = json.Unmarshal([]byte(process.LastLine(stdout)), &c)
	return c, err
}
