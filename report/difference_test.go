package report

import (
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestDifferences(t *testing.T) {
	run := func(unit string, options map[string]string) modelio.Manifest {
		m := modelio.Manifest{Run: modelio.Run{Options: options}}
		if unit != "" {
			m.Analyzer = &modelio.Analyzer{Unit: unit, Ngrams: [2]int{1, 1}, Lowercase: modelio.FullLowercase}
		}
		return m
	}
	words := run("word", map[string]string{"analyzer": "word", "k": "10", "model": "multinomial", "smoothing": "1", "shards": "64"})
	const warning = "gains and weights cannot be compared, only which features are selected"
	for name, c := range map[string]struct {
		b    modelio.Manifest
		want []string
	}{
		"none":      {words, nil},
		"k":         {run("word", map[string]string{"analyzer": "word", "k": "20", "model": "multinomial", "smoothing": "1"}), nil},
		"smoothing": {run("word", map[string]string{"analyzer": "word", "model": "multinomial", "smoothing": "0.1", "positive": "a"}), []string{"options: --positive=a (before: default); --smoothing=0.1 (before: 1)"}},
		"model":     {run("word", map[string]string{"analyzer": "word", "model": "bernoulli", "smoothing": "1"}), []string{"model: bernoulli (before: multinomial)", warning}},
		"analyzer": {run("char", map[string]string{"analyzer": "char", "model": "multinomial", "smoothing": "1"}),
			[]string{"features: char, in lower case (before: word, in lower case)", warning}},
		"table": {modelio.Manifest{Run: modelio.Run{Options: map[string]string{"model": "multinomial", "smoothing": "1"}}, Counts: &modelio.Counts{Size: 1}},
			[]string{"features: a table of counts (before: word, in lower case)", warning}},
		"matrix": {modelio.Manifest{Run: words.Run, Analyzer: words.Analyzer, Inputs: []modelio.Input{{File: corpusio.File{Format: "matrix"}}}},
			[]string{"features: columns of matrices (before: word, in lower case)", warning}},
	} {
		if got := Differences(words, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestInputs(t *testing.T) {
	in := func(format string, compression corpusio.Compression) modelio.Input {
		return modelio.Input{File: corpusio.File{Format: format, Compression: compression}}
	}
	for want, inputs := range map[string][]modelio.Input{
		"1 file, tsv":        {in("", "")},
		"2 files, csv, gzip": {in("csv", corpusio.Gzip), in("csv", corpusio.Gzip)},
		"2 files, csv; 1 file, csv, zstd; 1 file, tsv": {in("csv", ""), in("csv", corpusio.Zstd), in("", ""), in("csv", "")},
	} {
		if got := Inputs(inputs); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
