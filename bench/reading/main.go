// Command reading measures documents to counts from files of several formats: sparsenb beside Polars, DuckDB and ClickHouse
// (peers.py), each with the same text as TSV, CSV, JSON Lines and Parquet. It measures whole processes from outside, one after
// the other in several rounds, and prints medians and ratios as a table.
//
//	go run ./bench/reading [-rounds 3] [-megabytes 332] [-corpus FILE] [-python PYTHON]
//
// PYTHON has the packages of bench/requirements.txt and pyarrow; "make bench" makes one. Combinations that fail, such as a
// format or a tool that is missing, are named below the table.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/bench/internal/process"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

func run() error {
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 3, "measured runs of each command, after one to warm up")
	flag.IntVar(&o.megabytes, "megabytes", 332, "size of the text")
	flag.StringVar(&o.corpus, "corpus", "../shared/data/imdb/train.tsv.gz", "documents to copy, label<TAB>text, plain or gzip, or none")
	flag.StringVar(&o.python, "python", "python3", "a Python with the packages of bench/requirements.txt and pyarrow")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.megabytes < 1 {
		flag.Usage()
		return errors.New("rounds and sizes are positive numbers, and there are no arguments")
	}
	return process.InTempDir(o.bench)
}

type options struct {
	rounds, megabytes int
	corpus, python    string
}

const (
	ours  = "sparsenb"
	peers = "bench/reading/peers.py"
)

var (
	formats = []string{"tsv", "csv", "jsonl", "parquet"}
	tools   = []string{ours, "polars", "duckdb", "clickhouse"}
)

// row is a tool with a format.
type row struct {
	tool, format string
	args         []string
	samples      []process.Sample
	failure      string // why there are no samples
}

// bench writes the text in all formats, and measures every tool with each.
func (o options) bench(ctx context.Context, dir string) error {
	sparsenb, text, counts := filepath.Join(dir, "sparsenb"), filepath.Join(dir, "text."), filepath.Join(dir, "counts")
	for _, args := range [][]string{
		{"go", "build", "-o", sparsenb, "./cmd/sparsenb"},
		{"go", "run", "./bench/counting", "-make", text + "tsv", "-megabytes", strconv.Itoa(o.megabytes), "-corpus", o.corpus},
		{o.python, peers, "convert", text + "tsv"},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	info, err := os.Stat(text + "tsv")
	if err != nil {
		return err
	}
	var rows []*row
	for _, format := range formats {
		for _, tool := range tools {
			r := &row{tool: tool, format: format, args: []string{o.python, peers, tool, text + format}}
			if tool == ours {
				r.args = []string{sparsenb, "count", "--input=" + text + format, "--format=" + format, "--output=" + counts}
			}
			rows = append(rows, r)
		}
	}
	tokens := 0.0 // of the text
	for round := range o.rounds + 1 {
		for _, r := range rows {
			if r.failure != "" {
				continue
			}
			if err := os.RemoveAll(counts); err != nil {
				return err
			}
			s, counted, err := r.once(ctx, filepath.Join(counts, "manifest.json"))
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if tokens == 0 {
				tokens = counted
			}
			// Other tools may define letters differently, but only for one token in a thousand.
			if err == nil && math.Abs(counted-tokens) > tokens/1000 {
				err = fmt.Errorf("counted %.0f tokens where %s counted %.0f", counted, rows[0].tool, tokens)
			}
			if err != nil {
				r.failure, r.samples = err.Error(), nil
			} else if round > 0 {
				r.samples = append(r.samples, s)
			}
		}
	}
	fmt.Printf("%s, %d MB as TSV; %d CPUs; medians of %d\n\n", filepath.Base(o.corpus), info.Size()/1e6, runtime.NumCPU(), o.rounds)
	table(rows, float64(info.Size())/1e6)
	return nil
}

// once runs the tool, and returns how many tokens it counted.
func (r *row) once(ctx context.Context, manifest string) (s process.Sample, tokens float64, err error) {
	counted, s, err := process.Run(ctx, r.args...)
	if err != nil {
		return s, 0, err
	}
	if r.tool == ours {
		if counted, err = os.ReadFile(manifest); err != nil {
			return s, 0, err
		}
	}
	var c struct {
		Tokens  float64
		Classes []struct{ Tokens float64 }
	}
	err = json.Unmarshal(counted, &c)
	for _, class := range c.Classes {
		c.Tokens += class.Tokens
	}
	return s, c.Tokens, err
}

// table prints the medians, in Markdown. MB are those of the text as TSV in all formats.
func table(rows []*row, megabytes float64) {
	base := map[string]float64{} // the CPU seconds of sparsenb
	for _, r := range rows {
		if r.tool == ours && r.failure == "" {
			base[r.format] = process.Median(r.samples, process.CPU)
		}
	}
	fmt.Println("| format | tool | wall s | MB/s | CPU s | peak MB | CPU / sparsenb | CPU / TSV |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		if r.failure != "" {
			continue
		}
		wall := process.Median(r.samples, process.Wall)
		toOurs, toTSV := "", ""
		if base[r.format] > 0 {
			toOurs = fmt.Sprintf("%.2f", process.Median(r.samples, process.CPU)/base[r.format])
		}
		if r.tool == ours {
			toTSV = fmt.Sprintf("%.2f", base[r.format]/base[formats[0]])
		}
		fmt.Printf("| %s | %s | %.2f | %.0f | %.2f | %.0f | %s | %s |\n", r.format, r.tool, wall, megabytes/wall, process.Median(r.samples, process.CPU),
			process.Median(r.samples, process.Memory), toOurs, toTSV)
	}
	if slices.ContainsFunc(rows, func(r *row) bool { return r.failure != "" }) {
		fmt.Print("\nNot measured:\n\n")
	}
	for _, r := range rows {
		if r.failure != "" {
			fmt.Printf("- %s, %s: %s\n", r.format, r.tool, r.failure)
		}
	}
}
