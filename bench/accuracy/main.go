// Command accuracy measures training and testing: sparsenb beside scikit-learn with chi² (peers.py). Both select the same
// numbers of words from a training file, fit naive Bayes and logistic regression to them, and predict the labels of a test
// file. It measures whole processes from outside and prints the accuracies, and the time and memory of each, as tables.
//
//	go run ./bench/accuracy [-train FILE] [-test FILE] [-python PYTHON]
//
// PYTHON has the packages of bench/requirements.txt; "make bench" makes one.
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
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/bench/internal/process"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run() error {
	o := options{}
	flag.StringVar(&o.train, "train", "../shared/data/imdb/train.tsv.gz", "training documents, label<TAB>text, plain or gzip")
	flag.StringVar(&o.test, "test", "../shared/data/imdb/test.tsv.gz", "test documents")
	flag.StringVar(&o.python, "python", "python3", "a Python with the packages of bench/requirements.txt")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		return errors.New("there are no arguments")
	}
	return process.InTempDir(o.bench)
}

type options struct{ train, test, python string }

// The classifiers, by the names of --classifier, and the numbers of words.
var classifiers, ks = []string{"mnb", "logistic"}, []string{"0.1%", "1%", "5%", "100%"}

const peers = "bench/accuracy/peers.py"

// tool is what is measured. An accuracy has the name of a classifier and a number of words.
type tool struct {
	name     string
	accuracy map[string]float64
	usage    process.Sample
}

func (o options) bench(ctx context.Context, dir string) error {
	if err := process.AdoptOrphans(); err != nil {
		return err
	}
	sparsenb := filepath.Join(dir, "sparsenb")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", sparsenb, "./cmd/sparsenb").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	var tools []tool
	for _, classifier := range classifiers {
		t, err := o.ours(ctx, sparsenb, dir, classifier)
		if err != nil {
			return err
		}
		tools = append(tools, t)
	}
	for _, classifier := range classifiers {
		t, err := o.theirs(ctx, classifier)
		if err != nil {
			return err
		}
		tools = append(tools, t)
	}
	printTable(tools)
	return nil
}

// ours trains and evaluates with sparsenb. Logistic regression on all words does not need a selection, and is left out.
func (o options) ours(ctx context.Context, sparsenb, dir, classifier string) (t tool, err error) {
	t = tool{name: "`sparsenb --classifier=" + classifier + "`", accuracy: map[string]float64{}}
	model, evaluation := filepath.Join(dir, classifier), filepath.Join(dir, classifier+"-evaluation")
	for _, args := range [][]string{
		{"train", "--input=" + o.train, "--output=" + model, "--k=" + strings.Join(ks, ","), "--classifier=" + classifier},
		{"evaluate", "--model_dir=" + model, "--input=" + o.test, "--output=" + evaluation},
	} {
		_, s, err := process.Run(ctx, append([]string{sparsenb}, args...)...)
		if err != nil {
			return t, err
		}
		t.usage.Wall, t.usage.CPU, t.usage.Memory = t.usage.Wall+s.Wall, t.usage.CPU+s.CPU, max(t.usage.Memory, s.Memory)
	}
	return t, tableio.Read(ctx, fileio.Join(evaluation, modelio.EvaluationFile), func(row *modelio.EvaluationRow) error {
		if row.Metric == "accuracy" {
			t.accuracy[humanize.Comma(row.K)] = row.Value
		}
		return nil
	})
}

// theirs does the same with scikit-learn.
func (o options) theirs(ctx context.Context, classifier string) (t tool, err error) {
	t = tool{name: "scikit-learn, chi², " + classifier}
	stdout, s, err := process.Run(ctx, append([]string{o.python, peers, o.train, o.test, classifier}, ks...)...)
	if err != nil {
		return t, err
	}
	t.usage = s
	return t, json.Unmarshal([]byte(process.LastLine(stdout)), &t.accuracy)
}

// printTable prints the tools, in Markdown.
func printTable(tools []tool) {
	var columns []string
	for k := range tools[0].accuracy {
		columns = append(columns, k)
	}
	slices.SortFunc(columns, func(a, b string) int { return len(a) - len(b) })
	fmt.Printf("| | %s | wall s | CPU s | peak MB |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)+3))
	for _, t := range tools {
		fmt.Printf("| %s |", t.name)
		for _, k := range columns {
			fmt.Printf(" %.4f |", t.accuracy[k])
		}
		fmt.Printf(" %.1f | %.1f | %.0f |\n", t.usage.Wall, t.usage.CPU, t.usage.Memory)
	}
}
