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

// documentFlags define what to count; train and count have them.
type documentFlags struct {
	input                                                      list
	reading                                                    *readingFlags
	rejects                                                    rejectFlags
	analysis                                                   analysisFlags
	weights                                                    weightFlags
	stopWords, maxRejected, maxClasses, shards, output, memory *string

	runner func() (pipeline.Runner, error)
}

func addDocumentFlags(fs *flag.FlagSet) *documentFlags {
	f := &documentFlags{
		output:      addOutputFlag(fs),
		reading:     addReadingFlags(fs),
		rejects:     addRejectFlags(fs),
		analysis:    addAnalysisFlags(fs),
		weights:     addWeightFlags(fs),
		stopWords:   fs.String("stop_words", "", "=FILE words to ignore, one per line, as the analyzer finds them: in lower case, unless --keep_case is given. For words, not for characters"),
		maxRejected: fs.String("max_rejected", "1%", "=N|P% malformed records tolerated, as a number or a percentage; the run fails if there are more"),
		maxClasses:  fs.String("max_classes", "1000", "=N maximum number of distinct labels; the run fails if there are more"),
		memory:      addMemoryFlag(fs),
		runner:      addRunnerFlags(fs),
		shards:      fs.String("shards", "64", "=N number of files that the counts are written to, 1 to 10000"),
	}
	f.reading.addWeightFlag(fs)
	fs.Var(&f.input, "input", "=GLOB input files, or folders of them; may be repeated")
	return f
}

func addOutputFlag(fs *flag.FlagSet) *string {
	return fs.String("output", "", "=DIR folder to write to; must be empty or not exist")
}

// check requires the flags that have no default.
func (f *documentFlags) check() error {
	if err := f.checkInput(); err != nil {
		return err
	}
	return required("output", *f.output, "the folder to write to")
}

func (f *documentFlags) checkInput() error {
	if len(f.input) == 0 && len(f.reading.labels.class) == 0 || slices.Contains(f.input, "") {
		return modelio.Usagef("--input is required: files of labeled documents; or --class=LABEL=GLOB for each class")
	}
	return nil
}

// parse validates the flags and lists the files.
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
	if d.Weights, err = f.weights.parse(); err != nil {
		return d, err
	}
	if d.MaxRejected, err = transforms.ParseBudget(*f.maxRejected); err != nil {
		return d, modelio.Usagef("--max_rejected: %w", err)
	}
	if d.Reading, err = f.reading.parse(ctx); err != nil {
		return d, err
	}
	patterns, err := f.reading.labels.patterns(f.input)
	if err != nil {
		return d, err
	}
	if d.Rejects, err = f.rejects.parse(*f.output); err != nil {
		return d, err
	}
	if d.MaxClasses, err = parseInt("max_classes", *f.maxClasses); err != nil {
		return d, err
	}
	if d.MaxClasses == 0 {
		return d, modelio.Usagef("--max_classes=0: must be 1 to %d", pipeline.MaxClasses)
	}
	if d.Shards, err = parseInt("shards", *f.shards); err != nil {
		return d, err
	}
	words, unusable, err := readStopWords(ctx, *f.stopWords, d.Analyzer)
	if err != nil {
		return d, err
	}
	d.StopWords = words
	if err := d.Validate(); err != nil {
		return d, err
	}
	if n := len(unusable); n > 0 {
		warn("--stop_words=%s: these stop words can never match: %s%s; %s", *f.stopWords,
			strings.Join(unusable[:min(n, 5)], ", "), strings.Repeat(", …", min(n/6, 1)), tokenRule(d.Analyzer))
	}
	if d.Files, err = corpusio.ListLabeled(ctx, patterns, d.Reading); err != nil {
		return d, modelio.InputError(explainInput(err))
	}
	if !hasContent(d.Files) {
		return d, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("no documents: %s", allEmpty(d.Files))}
	}
	return d, d.ValidateFiles()
}

func explainInput(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; make it readable for this user", err)
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

// maxStopWords is the maximum size of the file in bytes: the words travel with the job.
const maxStopWords = 1 << 20

// tokenRule says which texts can be a stop word.
func tokenRule(a kernel.Analyzer) string {
	if a == (kernel.Analyzer{Min: a.Min, Max: a.Max}) {
		return "a word has at least two characters and is in lower case"
	}
	return "--analyzer=" + a.Unit.String() + " does not find them as single tokens"
}

// readStopWords reads a file of words. unusable are quoted lines that are no word, and so cannot match one.
func readStopWords(ctx context.Context, name string, a kernel.Analyzer) (words, unusable []string, err error) {
	if name == "" {
		return nil, nil, nil
	}
	content, err := fileio.ReadAll(ctx, name, maxStopWords)
	if err != nil {
		return nil, nil, modelio.InputError(fmt.Errorf("--stop_words: %w", err))
	}
	for _, line := range strings.Split(strings.TrimPrefix(string(content), "\ufeff"), "\n") {
		switch word := strings.TrimSpace(line); {
		case a.IsToken(word), word != "" && a.Unit.Characters(): // Validate refuses those
			words = append(words, word)
		case word != "":
			unusable = append(unusable, strconv.Quote(word))
		}
	}
	return words, unusable, nil
}
