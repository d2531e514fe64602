// Command predicting measures documents to labels: sparsenb predict beside scikit-learn with the same model, and beside
// fastText and Vowpal Wabbit with models of the same documents (peers.py). Training is not measured. It measures whole processes
// from outside, one after the other in several rounds, and prints medians and ratios as a table.
//
//	go run ./bench/predicting [-rounds 3] [-megabytes 332] [-k 1000] [-corpus FILE] [-python PYTHON]
//
// The models are those of one copy of the corpus; the documents are copies of it. PYTHON has the packages of
// bench/requirements.txt; "make bench" makes one. A tool that fails or is missing is named below the table.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/bench/internal/process"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "predicting:", err)
		os.Exit(1)
	}
}

func run() error {
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 3, "measured runs of each command, after one to warm up")
	flag.IntVar(&o.megabytes, "megabytes", 332, "size of the text")
	flag.IntVar(&o.k, "k", 1000, "words of the model")
	flag.StringVar(&o.corpus, "corpus", "../shared/data/imdb/train.tsv.gz", "documents to copy, label<TAB>text, plain or gzip, or none")
	flag.StringVar(&o.python, "python", "python3", "a Python with the packages of bench/requirements.txt")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.megabytes < 1 || o.k < 1 {
		flag.Usage()
		return errors.New("rounds, sizes and k are positive numbers, and there are no arguments")
	}
	return process.InTempDir(o.bench)
}

type options struct {
	rounds, megabytes, k int
	corpus, python       string
}

const (
	ours  = "`sparsenb predict`"
	same  = "scikit-learn `MultinomialNB`" // has the model of ours
	peers = "bench/predicting/peers.py"
)

// row is a tool.
type row struct {
	name    string
	train   []string // if it needs a model of its own
	predict []string
	output  string
	results results
	samples []process.Sample
	failure string // why there are no samples
}

// results show whether a tool did the work.
type results struct{ Documents, Correct int64 }

// bench makes the text and the models, and measures every tool.
func (o options) bench(ctx context.Context, dir string) error {
	if err := errors.Join(process.AdoptOrphans(), os.Setenv("TMPDIR", dir)); err != nil {
		return err
	}
	sparsenb, once, text, model := filepath.Join(dir, "sparsenb"), filepath.Join(dir, "once.tsv"), filepath.Join(dir, "text.tsv"), filepath.Join(dir, "model")
	for _, args := range [][]string{
		{"go", "build", "-o", sparsenb, "./cmd/sparsenb"},
		{"go", "run", "./bench/counting", "-make", once, "-megabytes", "1", "-corpus", o.corpus}, // at least one copy
		{"go", "run", "./bench/counting", "-make", text, "-megabytes", strconv.Itoa(o.megabytes), "-corpus", cmp.Or(copied(o.corpus), once)},
		{sparsenb, "--input=" + once, "--output=" + model, "--k=" + strconv.Itoa(o.k)},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	info, err := os.Stat(text)
	if err != nil {
		return err
	}
	output := filepath.Join(dir, "predictions")
	rows := []*row{{name: ours, output: output, predict: []string{sparsenb, "predict", "--model_dir=" + model, "--input=" + text, "--output=" + output}}}
	for _, tool := range [][2]string{{same, "scikit-learn"}, {"fastText, words by Python", "fasttext"}, {"fastText, text as it is", "fasttext-text"}, {"Vowpal Wabbit, words by Python", "vowpalwabbit"}} {
		rows = append(rows, &row{
			name: tool[0], output: output,
			train:   []string{o.python, peers, "train", tool[1], once, model, ""},
			predict: []string{o.python, peers, "predict", tool[1], text, model, output},
		})
	}
	for _, r := range rows[1:] {
		if _, _, err := process.Run(ctx, r.train...); err != nil {
			r.failure = err.Error()
		}
	}
	for round := range o.rounds + 1 {
		for _, r := range rows {
			if r.failure != "" {
				continue
			}
			s, err := r.once(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				err = r.compare(rows[0])
			}
			switch {
			case err != nil && r.name == ours:
				return err
			case err != nil:
				r.failure = err.Error()
			case round > 0:
				r.samples = append(r.samples, s)
			}
		}
	}
	fmt.Printf("%s, %d MB, %d documents; k = %d; %d CPUs; medians of %d\n\n", filepath.Base(o.corpus), info.Size()/1e6, rows[0].results.Documents, o.k, runtime.NumCPU(), o.rounds)
	table(rows, float64(info.Size())/1e6)
	return nil
}

// copied is a corpus of which the text is copies. Without one, a text is made from a seed, and the copies are of that.
func copied(corpus string) string {
	if corpus == "none" {
		return ""
	}
	return corpus
}

// once runs the tool.
func (r *row) once(ctx context.Context) (s process.Sample, err error) {
	if err := os.RemoveAll(r.output); err != nil {
		return s, err
	}
	stdout, s, err := process.Run(ctx, r.predict...)
	if err != nil {
		return s, err
	}
	if r.name == ours {
		r.results, err = readPredictions(ctx, r.output)
		return s, err
	}
	return s, json.Unmarshal([]byte(process.LastLine(stdout)), &r.results)
}

// readPredictions reads what sparsenb wrote.
func readPredictions(ctx context.Context, dir string) (found results, err error) {
	err = tableio.Read(ctx, fileio.Join(dir, modelio.PredictionsFile), func(row *modelio.PredictionRow) error {
		found.Documents++
		if row.Label != nil && *row.Label == row.Predicted {
			found.Correct++
		}
		return nil
	})
	return found, err
}

// compare returns an error if a tool has read other documents than sparsenb, or the same model has found other labels.
func (r *row) compare(ours *row) error {
	switch got, want := r.results, ours.results; {
	case got.Documents != want.Documents:
		return fmt.Errorf("%d documents where sparsenb has %d", got.Documents, want.Documents)
	case r.name == same && got.Correct != want.Correct:
		return fmt.Errorf("%d correct labels where sparsenb has %d", got.Correct, want.Correct)
	}
	return nil
}

// table prints the medians, in Markdown.
func table(rows []*row, megabytes float64) {
	fmt.Println("| | wall s | documents/s | MB/s | CPU s | peak MB | CPU / sparsenb | wall / sparsenb | memory / sparsenb | correct |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		if r.failure != "" {
			continue
		}
		median := func(of func(process.Sample) float64) (value, ratio float64) {
			value = process.Median(r.samples, of)
			return value, value / process.Median(rows[0].samples, of)
		}
		wall, wallRatio := median(process.Wall)
		cpu, cpuRatio := median(process.CPU)
		memory, memoryRatio := median(process.Memory)
		documents := float64(r.results.Documents)
		fmt.Printf("| %s | %.2f | %.0f | %.0f | %.2f | %.0f | %.2f | %.2f | %.2f | %.1f %% |\n", r.name, wall, documents/wall, megabytes/wall, cpu, memory,
			cpuRatio, wallRatio, memoryRatio, 100*float64(r.results.Correct)/documents)
	}
	if slices.ContainsFunc(rows, func(r *row) bool { return r.failure != "" }) {
		fmt.Print("\nNot measured:\n\n")
	}
	for _, r := range rows {
		if r.failure != "" {
			fmt.Printf("- %s: %s\n", r.name, r.failure)
		}
	}
}
