package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// documentFlags say what to count; train and count have them.
type documentFlags struct {
	input                                                          list
	analysis                                                       analysisFlags
	stopWords, maxRejected, maxRecordBytes, shards, output, memory *string
	maxClasses                                                     *string
	header                                                         headerFlag

	runner func() (pipeline.Runner, error)
}

func addDocumentFlags(fs *flag.FlagSet) *documentFlags {
	f := &documentFlags{
		output:         addOutputFlag(fs),
		analysis:       addAnalysisFlags(fs),
		stopWords:      fs.String("stop_words", "", "=FILE\n        words that are not counted, one a line, in lower case"),
		maxRejected:    fs.String("max_rejected", "1%", "=1%\n        how many lines may be no documents, a number or a percentage (default 1%)"),
		maxRecordBytes: fs.String("max_record_bytes", "8MiB", "=8MiB\n        longer lines are rejected (default 8MiB)"),
		maxClasses:     fs.String("max_classes", "1000", "=1000\n        how many different labels there may be (default 1000)"),
		memory:         addMemoryFlag(fs),
		runner:         addRunnerFlags(fs),
		shards:         fs.String("shards", "64", "=64\n        files that the counts are written to (default 64)"),
	}
	fs.Var(&f.header, "header", "\n        skip the first line of every file, which names the columns; without the flag such a line is an error, with --header=false a document")
	fs.Var(&f.input, "input", "=GLOB\n        files of documents, a line label<TAB>text each; may be repeated")
	return f
}

// headerFlag is a boolean flag that knows whether it was given.
type headerFlag struct{ value corpusio.Header }

func (f *headerFlag) IsBoolFlag() bool { return true }

func (f *headerFlag) String() string { return strconv.FormatBool(f.value == corpusio.Present) }

func (f *headerFlag) Set(text string) error {
	if f.value != corpusio.Unknown {
		return errors.New("it is given twice; give it once")
	}
	present, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("neither true nor false")
	}
	if f.value = corpusio.Absent; present {
		f.value = corpusio.Present
	}
	return nil
}

func addOutputFlag(fs *flag.FlagSet) *string {
	return fs.String("output", "", "=DIR\n        the folder to write to; it must be empty or not exist")
}

// check looks for the flags that must be there.
func (f *documentFlags) check() error {
	if len(f.input) == 0 || slices.Contains(f.input, "") {
		return modelio.Usagef("--input is missing: the files of documents, a line label<TAB>text each")
	}
	return required("output", *f.output, "the folder to write to")
}

// parse checks the flags and lists the files.
func (f *documentFlags) parse(ctx context.Context) (d pipeline.Documents, runner pipeline.Runner, err error) {
	if err := f.check(); err != nil {
		return d, runner, err
	}
	if d, err = f.documents(ctx); err != nil {
		return d, runner, err
	}
	if runner, err = f.runner(); err != nil {
		return d, runner, err
	}
	return d, runner, tune(&d.Tuning, *f.memory, runner.InProcess())
}

func (f *documentFlags) documents(ctx context.Context) (d pipeline.Documents, err error) {
	if err := f.analysis.parse(&d); err != nil {
		return d, err
	}
	if d.MaxRejected, err = transforms.ParseBudget(*f.maxRejected); err != nil {
		return d, modelio.Usagef("--max_rejected: %w", err)
	}
	if d.MaxRecordBytes, err = parseBytes("max_record_bytes", *f.maxRecordBytes, 1, 256<<20); err != nil {
		return d, err
	}
	if d.MaxClasses, err = parseInt("max_classes", *f.maxClasses, 1, 10_000_000); err != nil {
		return d, err
	}
	d.Header = f.header.value
	if d.Shards, err = parseInt("shards", *f.shards, 1, 10_000); err != nil {
		return d, err
	}
	if err := checkAnalysis(d, *f.stopWords); err != nil {
		return d, err
	}
	if d.StopWords, err = readStopWords(ctx, *f.stopWords); err != nil {
		return d, err
	}
	if d.Files, err = corpusio.List(ctx, f.input); err != nil {
		return d, modelio.InputError(explainInput(err))
	}
	if !hasContent(d.Files) {
		return d, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("no documents: %s", allEmpty(d.Files))}
	}
	return d, nil
}

func explainInput(err error) error {
	switch {
	case errors.Is(err, corpusio.ErrNoMatch):
		return fmt.Errorf("%w --input", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; it must be readable", err)
	}
	return err
}

func hasContent(files []corpusio.File) bool {
	for _, f := range files {
		if f.Size > 0 {
			return true
		}
	}
	return false
}

func allEmpty(files []corpusio.File) string {
	if len(files) == 1 {
		return files[0].Name + " is empty"
	}
	return fmt.Sprintf("all %d files are empty", len(files))
}

// maxStopWords is the size of a list of stop words that can travel with the job.
const maxStopWords = 1 << 20

func readStopWords(ctx context.Context, name string) (words []string, err error) {
	if name == "" {
		return nil, nil
	}
	content, err := fileio.ReadAll(ctx, name, maxStopWords)
	if err != nil {
		return nil, modelio.InputError(fmt.Errorf("--stop_words: %w", err))
	}
	var useless []string
	for _, line := range strings.Split(strings.TrimPrefix(string(content), "\ufeff"), "\n") {
		switch word := strings.TrimSpace(line); {
		case kernel.IsWord(word):
			words = append(words, word)
		case word != "":
			useless = append(useless, strconv.Quote(word))
		}
	}
	if n := len(useless); n > 0 {
		warn("--stop_words=%s: of no use are %s%s: a word has two characters or more, in lower case", name,
			strings.Join(useless[:min(n, 5)], ", "), strings.Repeat(", …", min(n/6, 1)))
	}
	return words, nil
}
