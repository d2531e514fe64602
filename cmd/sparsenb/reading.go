package main

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

// readingFlags define how files become documents.
type readingFlags struct {
	format, labelColumn, textColumn, featureNames, maxRecordBytes, maxExpansion, onCorrupt *string

	weightColumn, idColumn, groupColumn string // of the commands that add the flag

	header headerFlag
	labels *labelFlags
}

func addReadingFlags(fs *flag.FlagSet) *readingFlags {
	f := &readingFlags{
		format:         fs.String("format", "auto", "=NAME format of the input files: auto (detected for each file), "+strings.Join(corpusio.FormatNames(), ", ")),
		labelColumn:    fs.String("label_column", "", "=NAME|N column of the labels, by name or by number from 1; in JSON Lines a key, such as meta.label (default: by its name, such as label or class)"),
		textColumn:     fs.String("text_column", "", "=NAME|N,… columns of the text, by name or by number from 1, or keys; several are joined by a space (default: by its name, such as text or review)"),
		featureNames:   fs.String("feature_names", "", "=FILE names of the features of --format=svmlight, one per line: line 1 names index 1"),
		maxRecordBytes: fs.String("max_record_bytes", "8MiB", "=SIZE maximum length of a line or record; longer ones count as malformed"),
		maxExpansion:   fs.String("max_expansion_ratio", strconv.Itoa(corpusio.DefaultMaxExpansion), "=N how many times its size a compressed file of more than 64 MiB of content may decompress to; beyond that it is an error"),
		onCorrupt:      fs.String("on_corrupt_file", "fail", "=fail|skip what to do with a file that is damaged: fail, or count the documents before the damage"),
		labels:         addLabelFlags(fs),
	}
	fs.Var(&f.header, "header", " skip the first line of every file, which names the columns. Without the flag, a header is an error; --header=false reads it as a document")
	return f
}

// addWeightFlag adds a flag for commands that count.
func (f *readingFlags) addWeightFlag(fs *flag.FlagSet) {
	fs.StringVar(&f.weightColumn, "weight_column", "", "=NAME|N column that says how often a document counts, a whole number: 3 counts it as three equal documents (default: once)")
}

// addIDFlag adds a flag for commands that write rows of documents.
func (f *readingFlags) addIDFlag(fs *flag.FlagSet) {
	fs.StringVar(&f.idColumn, "id_column", "", "=NAME|N column, or key, that identifies a document; the output has it as id (default: none)")
}

// addGroupFlag adds a flag for commands that divide the documents.
func (f *readingFlags) addGroupFlag(fs *flag.FlagSet) {
	fs.StringVar(&f.groupColumn, "group_column", "", "=NAME|N column, or key, whose value documents share that must stay together, such as an author (default: each document is on its own)")
}

func (f *readingFlags) parse(ctx context.Context) (r corpusio.Reading, err error) {
	if r.Format = *f.format; r.Format == "auto" {
		r.Format = ""
	} else if !slices.Contains(corpusio.FormatNames(), r.Format) {
		return r, modelio.Usagef("--format=%s: must be auto, %s", r.Format, strings.Join(corpusio.FormatNames(), ", "))
	}
	r.Header, r.LabelColumn = f.header.value, *f.labelColumn
	r.WeightColumn, r.IDColumn, r.GroupColumn = f.weightColumn, f.idColumn, f.groupColumn
	if r.FeatureNames, err = fileio.Absolute(*f.featureNames); err != nil { // workers may have another folder
		return r, err
	}
	r.NamesVersion = versionOf(ctx, r.FeatureNames)
	if *f.textColumn != "" {
		r.TextColumns = strings.Split(*f.textColumn, ",")
	}
	if r.MaxRecordBytes, err = parseBytes("max_record_bytes", *f.maxRecordBytes); err != nil {
		return r, err
	}
	if r.MaxExpansion, err = parseInt("max_expansion_ratio", *f.maxExpansion); err != nil {
		return r, err
	}
	if r.MaxExpansion == 0 {
		return r, modelio.Usagef("--max_expansion_ratio=0: must be 1 to %d", pipeline.MaxExpansion)
	}
	if r.SkipCorrupt = *f.onCorrupt == "skip"; !r.SkipCorrupt && *f.onCorrupt != "fail" {
		return r, modelio.Usagef("--on_corrupt_file=%s: must be fail or skip", *f.onCorrupt)
	}
	return r, f.labels.parse(ctx, &r)
}

// versionOf returns the version of a file, or "" if it cannot be found, which is an error when it is read.
func versionOf(ctx context.Context, name string) string {
	store, err := fileio.For(name)
	if name == "" || err != nil {
		return ""
	}
	info, err := store.Stat(ctx, name)
	if err != nil {
		return ""
	}
	return info.Version
}

// headerFlag is a boolean flag that also distinguishes whether it was given.
type headerFlag struct{ value corpusio.Header }

func (f *headerFlag) IsBoolFlag() bool { return true }

func (f *headerFlag) String() string { return strconv.FormatBool(f.value == corpusio.Present) }

func (f *headerFlag) Set(text string) error {
	if f.value != corpusio.Unknown {
		return errors.New("the flag is given twice; give it once")
	}
	present, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("must be true or false")
	}
	if f.value = corpusio.Absent; present {
		f.value = corpusio.Present
	}
	return nil
}
