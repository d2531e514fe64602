package main

import (
	"flag"
	"strings"

	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// analysisFlags say what the features of a text are.
type analysisFlags struct {
	analyzer, ngrams, hashBits *string
}

func addAnalysisFlags(fs *flag.FlagSet) analysisFlags {
	return analysisFlags{
		analyzer: fs.String("analyzer", "word", "=word|char|char_wb\n        what the features are made of, as in scikit-learn's CountVectorizer: words, characters, or characters within a word"),
		ngrams:   fs.String("ngrams", "1,1", "=1,1\n        the least and the most of them in a feature: 1,2 is words and pairs of words (default 1,1)"),
		hashBits: fs.String("hash_bits", "0", "=B\n        count features in 2^B buckets, so that memory does not grow with the vocabulary; 0 counts them by name (default 0)"),
	}
}

// maxUnits is the most units of an n-gram.
const maxUnits = 100

func (f analysisFlags) parse(d *pipeline.Documents) (err error) {
	if d.Analyzer.Unit, err = kernel.ParseUnit(*f.analyzer); err != nil {
		return pipeline.Usagef("--analyzer=%w", err)
	}
	least, most, ok := strings.Cut(*f.ngrams, ",")
	if !ok {
		most = least
	}
	if d.Analyzer.Min, err = parseInt("ngrams", strings.TrimSpace(least), 1, maxUnits); err != nil {
		return err
	}
	if d.Analyzer.Max, err = parseInt("ngrams", strings.TrimSpace(most), d.Analyzer.Min, maxUnits); err != nil {
		return err
	}
	if d.HashBits, err = parseInt("hash_bits", *f.hashBits, 0, kernel.MaxHashBits); err != nil {
		return err
	}
	return nil
}

// checkAnalysis finds what does not fit together.
func checkAnalysis(d pipeline.Documents) error {
	if d.Analyzer.Unit != kernel.Word && len(d.StopWords) > 0 {
		return pipeline.Usagef("--stop_words is for words, not for --analyzer=%s", d.Analyzer.Unit)
	}
	if n := d.Analyzer.NameBytes(d.MaxRecordBytes); n > kernel.MaxNameBytes {
		return pipeline.Usagef("--ngrams=%d,%d: a document of --max_record_bytes=%d could have features of more than 2 GB; lower one of the two", d.Analyzer.Min, d.Analyzer.Max, d.MaxRecordBytes)
	}
	return nil
}
