package main

import (
	"flag"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// analysisFlags define the features of a text.
type analysisFlags struct {
	analyzer, ngrams, hashBits *string
}

func addAnalysisFlags(fs *flag.FlagSet) analysisFlags {
	return analysisFlags{
		analyzer: fs.String("analyzer", "word", "=word|char|char_wb unit of a feature, as in scikit-learn's CountVectorizer: words, characters, or characters within word boundaries"),
		ngrams:   fs.String("ngrams", "1,1", "=MIN,MAX smallest and largest number of words or characters in a feature, 1 to 100: 1,2 counts words and word pairs. A single number is both"),
		hashBits: fs.String("hash_bits", "0", "=B count features in 2^B hash buckets, 1 to 32, so that memory does not grow with the vocabulary; train then reads the text a second time, for the names in the selected buckets. 0 counts features by name"),
	}
}

func (f analysisFlags) parse(d *pipeline.Documents) (err error) {
	if d.Analyzer.Unit, err = kernel.ParseUnit(*f.analyzer); err != nil {
		return modelio.Usagef("--analyzer: %w", err)
	}
	if d.Analyzer.Min, d.Analyzer.Max, err = parseNgrams(*f.ngrams); err != nil {
		return err
	}
	d.HashBits, err = parseInt("hash_bits", *f.hashBits)
	return err
}

// parseNgrams reads MIN,MAX, or a number that is both.
func parseNgrams(text string) (least, most int, err error) {
	first, last, ok := strings.Cut(text, ",")
	if !ok {
		last = first
	}
	least, err = strconv.Atoi(strings.TrimSpace(first))
	if err == nil {
		most, err = strconv.Atoi(strings.TrimSpace(last))
	}
	if err != nil || least < 1 || most < least || most > pipeline.MaxNgram {
		return 0, 0, modelio.Usagef("--ngrams=%s: must be MIN,MAX with 1 ≤ MIN ≤ MAX ≤ %d, such as 1,2", text, pipeline.MaxNgram)
	}
	return least, most, nil
}
