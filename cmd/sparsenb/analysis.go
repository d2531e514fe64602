package main

import (
	"flag"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// analysisFlags say what the features of a text are.
type analysisFlags struct {
	analyzer, ngrams, hashBits *string
}

func addAnalysisFlags(fs *flag.FlagSet) analysisFlags {
	return analysisFlags{
		analyzer: fs.String("analyzer", "word", "=word|char|char_wb\n        what features are made of, as in scikit-learn's CountVectorizer: words, characters, or characters within a word (default word)"),
		ngrams:   fs.String("ngrams", "1,1", "=1,1\n        how many words or characters a feature has, the least and the most: 1,2 is words and pairs of words (default 1,1)"),
		hashBits: fs.String("hash_bits", "0", "=B\n        count features in 2^B buckets, at most 32, so that memory does not grow with the vocabulary; train then reads the text twice, for the names of those it selects. 0 counts them by name (default 0)"),
	}
}

// maxUnits is the most units of an n-gram.
const maxUnits = 100

func (f analysisFlags) parse(d *pipeline.Documents) (err error) {
	if d.Analyzer.Unit, err = kernel.ParseUnit(*f.analyzer); err != nil {
		return modelio.Usagef("--analyzer=%w", err)
	}
	if d.Analyzer.Min, d.Analyzer.Max, err = parseNgrams(*f.ngrams); err != nil {
		return err
	}
	if d.HashBits, err = parseInt("hash_bits", *f.hashBits, 0, kernel.MaxHashBits); err != nil {
		return err
	}
	return nil
}

// parseNgrams reads the least and the most; a number alone is both.
func parseNgrams(text string) (least, most int, err error) {
	first, last, ok := strings.Cut(text, ",")
	if !ok {
		last = first
	}
	least, err = strconv.Atoi(strings.TrimSpace(first))
	if err == nil {
		most, err = strconv.Atoi(strings.TrimSpace(last))
	}
	if err != nil || least < 1 || most < least || most > maxUnits {
		return 0, 0, modelio.Usagef("--ngrams=%s: it is the least and the most words or characters of a feature, from 1 to %d, such as 1,2", text, maxUnits)
	}
	return least, most, nil
}

// checkAnalysis finds what does not fit together.
func checkAnalysis(d pipeline.Documents, stopWords string) error {
	if d.Analyzer.Unit != kernel.Word && stopWords != "" {
		return modelio.Usagef("--stop_words=%s: is for --analyzer=word, not for %s; leave it out", stopWords, d.Analyzer.Unit)
	}
	if n := d.Analyzer.NameBytes(d.MaxRecordBytes); n > kernel.MaxNameBytes {
		return modelio.Usagef("--ngrams=%d,%d: a document of --max_record_bytes=%d could have features of more than 2 GB; lower one of the two", d.Analyzer.Min, d.Analyzer.Max, d.MaxRecordBytes)
	}
	return nil
}
