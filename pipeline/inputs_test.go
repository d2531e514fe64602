package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms"
)

// One corpus gives the same counts in every format of text, however it is cut.
func TestFormatsOfTextGiveTheSameCounts(t *testing.T) {
	var jsonl, fastText, labels strings.Builder
	byLabel := map[string]string{}
	folder := t.TempDir()
	for i, line := range strings.Split(strings.TrimSuffix(readFile(t, federalist), "\n"), "\n") {
		label, text, _ := strings.Cut(line, "\t")
		record, err := json.Marshal(map[string]any{"id": i, "text": text, "meta": map[string]string{"author": label}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&jsonl, "%s\n", record)
		fmt.Fprintf(&fastText, "__label__%s %s\n", label, text)
		fmt.Fprintf(&labels, "%s __label__%s\n", text, label)
		byLabel[label] += text + "\n"
		if err := os.MkdirAll(filepath.Join(folder, label), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, label, fmt.Sprint(i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	count := func(what string, d Documents) map[string]string {
		dir := filepath.Join(t.TempDir(), "out")
		d.Tuning.RangeBytes = 100_000
		if err := runCount(t, dir, d); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if m := read(t, dir).Manifest; len(m.Warnings) > 0 || m.MoreLabels > 0 {
			t.Errorf("%s: %q, %d", what, m.Warnings, m.MoreLabels)
		}
		return sums(t, dir)
	}
	want := count("tsv", documents(t, federalist))
	check := func(what string, d Documents) {
		if got := count(what, d); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	d := documents(t, federalist)
	d.Reading.LabelColumn, d.Reading.TextColumns = "meta.author", []string{"text"}
	d.Files = list(t, d.Reading, save(t, "in.jsonl", jsonl.String()))
	check("jsonl", d)
	check("fasttext", documents(t, save(t, "in.txt", fastText.String())))
	check("labels at the end", func() Documents {
		d := documents(t, federalist)
		d.Reading.Format = "fasttext"
		d.Files = list(t, d.Reading, save(t, "in.txt", labels.String()))
		return d
	}())
	lines, whole := documents(t, federalist), documents(t, federalist)
	lines.Reading.LabelFrom, lines.Files = corpusio.FromFile, nil
	whole.Reading.LabelFrom, whole.Files = corpusio.FromFolder, nil
	for label, text := range byLabel {
		for _, f := range list(t, lines.Reading, save(t, label, text)) {
			f.Label = label
			lines.Files = append(lines.Files, f)
		}
		for _, f := range list(t, whole.Reading, filepath.Join(folder, label, "*")) {
			f.Label = label
			whole.Files = append(whole.Files, f)
		}
	}
	check("text", lines)
	check("file", whole)
}

func list(t *testing.T, reading corpusio.Reading, pattern string) []corpusio.File {
	t.Helper()
	files, err := corpusio.List(t.Context(), []string{pattern}, reading)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A document with several labels counts in each of its classes, but once as a document.
func TestDocumentsWithSeveralLabels(t *testing.T) {
	several := save(t, "several.txt", "__label__a __label__b upon the subject\n__label__a whilst\nno label\nno label\n__label__b __label__b the\n")
	twice := save(t, "twice.tsv", "a\tupon the subject\nb\tupon the subject\na\twhilst\nb\tthe\n")
	want, got := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	if err := runCount(t, want, documents(t, twice)); err != nil {
		t.Fatal(err)
	}
	d := documents(t, several)
	d.MaxRejected = transforms.Budget{Text: "40%", Share: 0.4, Number: -1} // 2 of 5 lines, not of 6
	if err := runCount(t, got, d); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(sums(t, got), sums(t, want)) {
		t.Errorf("%v, want %v", sums(t, got), sums(t, want))
	}
	if m := read(t, got).Manifest; m.MoreLabels != 1 || *m.Classes[0].Documents != 2 || *m.Classes[1].Documents != 2 {
		t.Errorf("%+v", m)
	}
	d.MaxRejected = transforms.Budget{Text: "39%", Share: 0.39, Number: -1}
	err := runCount(t, filepath.Join(t.TempDir(), "out"), d)
	contains(t, err, "2 of 5 records are malformed")
}
