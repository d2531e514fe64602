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
	analyzer, ngrams, hashBits, normalize, minTokenLength *string
	keepCase, stripAccents                                *bool
}

func addAnalysisFlags(fs *flag.FlagSet) analysisFlags {
	return analysisFlags{
		analyzer:       fs.String("analyzer", "word", "=word|unicode|whitespace|regex:PATTERN|char|char_wb unit of a feature: words as in scikit-learn's CountVectorizer, words by Unicode's rules for any script (UAX #29), tokens between white space, matches of a regular expression (token_pattern), characters, or characters within word boundaries"),
		ngrams:         fs.String("ngrams", "1,1", "=MIN,MAX smallest and largest number of words or characters in a feature, 1 to 100: 1,2 counts words and word pairs. A single number is both"),
		normalize:      fs.String("normalize", "none", "=none|nfc|nfkc normal form of Unicode that the text is converted to first; with nfkc, ligatures and full-width letters become plain letters"),
		keepCase:       fs.Bool("keep_case", false, " do not convert the text to lower case"),
		stripAccents:   fs.Bool("strip_accents", false, " remove accents and other combining marks, as strip_accents='unicode' of CountVectorizer"),
		minTokenLength: fs.String("min_token_length", "0", "=N ignore words and other tokens of fewer than N characters (default: 2 for word, 1 for unicode, whitespace and regex)"),
		hashBits:       fs.String("hash_bits", "0", "=B count features in 2^B hash buckets, 1 to 32, so that memory does not grow with the vocabulary; train then reads the text a second time, for the names in the selected buckets. 0 counts features by name"),
	}
}

func (f analysisFlags) parse(d *pipeline.Documents) (err error) {
	if d.Analyzer, err = kernel.ParseAnalyzer(*f.analyzer); err != nil {
		return modelio.Usagef("--analyzer: %w", err)
	}
	if d.Analyzer.Min, d.Analyzer.Max, err = parseNgrams(*f.ngrams); err != nil {
		return err
	}
	if d.Analyzer.Normalize, err = kernel.ParseForm(*f.normalize); err != nil {
		return modelio.Usagef("--normalize: %w", err)
	}
	d.Analyzer.KeepCase, d.Analyzer.StripAccents = *f.keepCase, *f.stripAccents
	if d.Analyzer.MinTokenLength, err = parseInt("min_token_length", *f.minTokenLength); err != nil {
		return err
	}
	if d.Analyzer.Unit == kernel.Word && *f.analyzer != kernel.Word.String() && d.Analyzer.MinTokenLength > 0 {
		d.Analyzer.MinTokenLength = max(2, d.Analyzer.MinTokenLength) // the pattern of words has no shorter ones
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
