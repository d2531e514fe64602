package model_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// refused checks the error of opening a folder.
func refused(t *testing.T, dir string, exit int, parts ...string) {
	t.Helper()
	_, err := model.Open(t.Context(), dir)
	var failed *modelio.Error
	if !errors.As(err, &failed) || failed.Exit != exit {
		t.Errorf("%v; want exit code %d", err, exit)
		return
	}
	for _, part := range append(parts, dir) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q has several lines", err)
	}
}

// Every folder without a usable model is an error that says what to do.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	text := save(t, "text.tsv", strings.Repeat("a\tsome words and more words\nb\tother words\n", 3))
	trained := of(text, "2").trained(t)
	copied := func(change func(dir string)) string {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(trained)); err != nil {
			t.Fatal(err)
		}
		change(dir)
		return dir
	}
	write := func(dir, name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(dir, old, new string) {
		b, err := os.ReadFile(filepath.Join(dir, modelio.ManifestFile))
		if err != nil || !strings.Contains(string(b), old) {
			t.Fatalf("%v: no %s", err, old)
		}
		write(dir, modelio.ManifestFile, strings.Replace(string(b), old, new, 1))
	}
	refused(t, filepath.Join(t.TempDir(), "absent"), modelio.ExitUsage, "no published run", "_SUCCESS is missing", "train or select")
	refused(t, copied(func(dir string) { os.Remove(filepath.Join(dir, modelio.SuccessFile)) }), modelio.ExitUsage, "no published run")
	refused(t, copied(func(dir string) {
		os.Remove(filepath.Join(dir, modelio.SuccessFile))
		write(dir, modelio.VerdictFile, `{"run_id":"7","message":"too few classes"}`)
	}), modelio.ExitUsage, "run 7 failed: too few classes")
	refused(t, copied(func(dir string) {
		os.Remove(filepath.Join(dir, modelio.SuccessFile))
		write(dir, modelio.StartedFile, `{"run_id":"7"}`)
	}), modelio.ExitUsage, "run 7 is not published")
	refused(t, copied(func(dir string) { write(dir, modelio.ManifestFile, "{") }), modelio.ExitData, "malformed")
	refused(t, copied(func(dir string) { edit(dir, `"format_version": 1`, `"format_version": 99`) }), modelio.ExitUsage, "newer version", "upgrade")
	refused(t, copied(func(dir string) { edit(dir, `"unit": "word"`, `"unit": "rune"`) }), modelio.ExitUsage, "rune")
	for _, name := range []string{modelio.ModelFile, modelio.FeaturesFile} {
		refused(t, copied(func(dir string) {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			write(dir, name, string(b))
		}), modelio.ExitData, name+" differs from the published file")
		refused(t, copied(func(dir string) { os.Remove(filepath.Join(dir, name)) }), modelio.ExitData, name+" is missing")
	}

	counted := filepath.Join(t.TempDir(), "counted")
	s := of(text)
	run := pipeline.NewRun("count", "test", &s.documents, nil, nil)
	err := pipeline.Run(context.Background(), pipeline.Runner{}, counted, run, func(b beam.Scope) { pipeline.Count(b, run, counted, s.documents) }, func(pipeline.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, counted, modelio.ExitUsage, `"count" has no model`, "sparsenb select --counts="+counted)

	table := save(t, "counts.csv", "feature,class,count\nx,a,3\ny,a,1\nx,b,1\ny,b,4\n")
	refused(t, of(text, "2").selected(t, table), modelio.ExitUsage, "no analyzer", "custom table")
}

// With tf-idf, the inverse document frequencies of all features are those of the run that counted.
func TestOpenFindsIDF(t *testing.T) {
	t.Parallel()
	s := of(federalist, "10")
	s.documents.Weights = kernel.Weights{Scheme: kernel.TFIDF, Norm: kernel.L2, Exponent: -20}
	counts := s.trained(t)
	trained := open(t, counts)
	dir := of(federalist, "10").selected(t, counts)
	selected := open(t, dir)
	for _, d := range read(t, federalist)[:5] {
		a, err := trained.Predict(d[1])
		if err != nil {
			t.Fatal(err)
		}
		if b, err := selected.Predict(d[1]); err != nil || a.Score != b.Score {
			t.Errorf("%v and %v, %v", a, b, err)
		}
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(counts, moved); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, modelio.ExitUsage, "tf-idf", counts)
	open(t, moved)
	part := filepath.Join(moved, "idf", "part-00000-of-00004.parquet")
	if err := os.Truncate(part, 100); err != nil {
		t.Fatal(err)
	}
	refused(t, moved, modelio.ExitData, part)
	if err := of(federalist, "5").train(counts); err != nil { // another run
		t.Fatal(err)
	}
	refused(t, dir, modelio.ExitUsage, "another run has been published since")
}
