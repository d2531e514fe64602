package pipeline

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/pierrec/lz4/v4"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

// labeled is a document of the corpus that is written in all formats.
type labeled struct {
	Label string `json:"label" parquet:"label"`
	Text  string `json:"text" parquet:"text"`
}

// readCorpus reads a TSV file.
func readCorpus(t *testing.T, name string) (list []labeled) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, labeled{label, text})
	}
	return list
}

// writers write a corpus in a format.
var writers = map[string]func(w io.Writer, docs []labeled) error{
	"tsv": func(w io.Writer, docs []labeled) error {
		for _, d := range docs {
			fmt.Fprintf(w, "%s\t%s\n", d.Label, d.Text)
		}
		return nil
	},
	"csv": func(w io.Writer, docs []labeled) error {
		c := csv.NewWriter(w)
		c.Write([]string{"id", "text", "label"})
		for i, d := range docs {
			c.Write([]string{fmt.Sprint(i), d.Text, d.Label})
		}
		c.Flush()
		return c.Error()
	},
	"jsonl": func(w io.Writer, docs []labeled) error {
		e := json.NewEncoder(w)
		for _, d := range docs {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	},
	"fasttext": func(w io.Writer, docs []labeled) error {
		for _, d := range docs {
			fmt.Fprintf(w, "__label__%s %s\n", d.Label, d.Text)
		}
		return nil
	},
	"parquet": func(w io.Writer, docs []labeled) error {
		p := parquet.NewGenericWriter[labeled](w, parquet.MaxRowsPerRowGroup(10))
		if _, err := p.Write(docs); err != nil {
			return err
		}
		return p.Close()
	},
	"wet": func(w io.Writer, docs []labeled) error {
		for i, d := range docs {
			fmt.Fprintf(w, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"+
				"WARC-Target-URI: http://example.com/%d\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(d.Text), d.Text)
		}
		return nil
	},
	"text": func(w io.Writer, docs []labeled) error {
		for _, d := range docs {
			fmt.Fprintf(w, "%s\n", d.Text)
		}
		return nil
	},
}

var compressors = map[string]func(w io.Writer) (io.WriteCloser, error){
	"":     nil,
	".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	".lz4": func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
}

// write writes a file below dir and returns its name.
func write(t *testing.T, name, format, suffix string, docs []labeled) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = nopCloser{&b}
	if pack := compressors[suffix]; pack != nil {
		var err error
		if w, err = pack(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := writers[format](w, docs); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// byLabel divides a corpus into its classes.
func byLabel(docs []labeled) map[string][]labeled {
	classes := map[string][]labeled{}
	for _, d := range docs {
		classes[d.Label] = append(classes[d.Label], d)
	}
	return classes
}

// One corpus in every format, with labels in the records or from elsewhere, and in every compression, has the same counts,
// byte for byte.
func TestOneCorpusInEveryFormat(t *testing.T) {
	docs := readCorpus(t, federalist)
	count := func(t *testing.T, patterns []string, classes []corpusio.Pattern, reading corpusio.Reading) map[string]string {
		t.Helper()
		reading.MaxRecordBytes = 8 << 20
		d := documents(t, federalist)
		var err error
		for _, glob := range patterns {
			classes = append(classes, corpusio.Pattern{Glob: glob})
		}
		if d.Files, err = corpusio.ListLabeled(t.Context(), classes, reading); err != nil {
			t.Fatal(err)
		}
		d.Reading, d.Shards, d.Tuning.RangeBytes = reading, 4, 100_000
		dir := filepath.Join(t.TempDir(), "out")
		run := NewRun("count", "test", &d, nil, nil)
		if err := Run(context.Background(), Runner{}, dir, run, func(s beam.Scope) { Count(s, run, dir, d) }, func(Progress) {}); err != nil {
			t.Fatal(err)
		}
		return sums(t, dir)
	}
	want := count(t, []string{federalist}, nil, corpusio.Reading{})
	check := func(name string, got map[string]string) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: the counts differ", name)
		}
	}
	dir := t.TempDir()
	for suffix := range compressors {
		for _, format := range []string{"tsv", "csv", "jsonl", "fasttext", "parquet"} {
			if format == "parquet" && suffix != "" {
				continue // Parquet is compressed within
			}
			name := write(t, filepath.Join(dir, "corpus."+format+suffix), format, suffix, docs)
			check(filepath.Base(name), count(t, []string{name}, nil, corpusio.Reading{}))
			check(filepath.Base(name)+" by name", count(t, []string{name}, nil, corpusio.Reading{Format: format}))
		}
		for _, format := range []string{"text", "wet", "csv", "jsonl", "parquet"} {
			if format == "parquet" && suffix != "" {
				continue
			}
			root := filepath.Join(dir, format+"-folders"+suffix)
			var names []string
			var classes []corpusio.Pattern
			for label, class := range byLabel(docs) {
				name := write(t, filepath.Join(root, label, "part."+format+suffix), format, suffix, class)
				names = append(names, name)
				classes = append(classes, corpusio.Pattern{Label: label, Glob: name})
			}
			auto := ""
			if format == "text" {
				auto = "text" // of folders, a whole file would be a document
			}
			check(root, count(t, names, nil, corpusio.Reading{Format: auto, LabelFrom: corpusio.FromFolder}))
			check(root+" by --class", count(t, nil, classes, corpusio.Reading{}))
		}
	}
	// A file per document, in a folder per class.
	root := filepath.Join(dir, "documents")
	for i, d := range docs {
		write(t, filepath.Join(root, d.Label, fmt.Sprintf("%03d.txt", i)), "text", "", docs[i:i+1])
	}
	check("a file per document", count(t, []string{root + "/*/*.txt"}, nil, corpusio.Reading{LabelFrom: corpusio.FromFolder}))
}
