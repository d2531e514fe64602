package model_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

const federalist = "../testdata/federalist/train.tsv"

// settings are those of a run, with the defaults of the command.
type settings struct {
	documents pipeline.Documents
	selection selection.Params
}

// of returns the settings for a file, with ks as on the command line.
func of(file string, ks ...string) settings {
	files, err := corpusio.List(context.Background(), []string{file}, corpusio.Reading{})
	if err != nil {
		panic(err)
	}
	budget, err := transforms.ParseBudget("1%")
	if err != nil {
		panic(err)
	}
	s := settings{
		pipeline.Documents{Files: files, MaxRejected: budget, Reading: corpusio.Reading{MaxRecordBytes: 8 << 20}, Shards: 4},
		selection.Params{Smoothing: []float64{1}, Strategy: "ovr"},
	}
	for _, text := range ks {
		k, err := selection.ParseK(text)
		if err != nil {
			panic(err)
		}
		s.selection.K = append(s.selection.K, k)
	}
	return s
}

// train publishes a run in a folder.
func (s settings) train(dir string) error {
	run := pipeline.NewRun("train", "test", &s.documents, nil, &s.selection)
	return pipeline.Run(context.Background(), pipeline.Runner{}, dir, run, func(b beam.Scope) {
		pipeline.Train(b, run, dir, s.documents, s.selection)
	}, func(pipeline.Progress) {})
}

// trained returns the folder of a run.
func (s settings) trained(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	if err := s.train(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// selected returns the folder of a selection from the counts of another run.
func (s settings) selected(t testing.TB, counts string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "selected")
	from, err := selection.FindCounts(t.Context(), counts, nil, s.selection)
	if err != nil {
		t.Fatal(err)
	}
	run := pipeline.NewRun("select", "test", nil, &from, &s.selection)
	err = pipeline.Run(t.Context(), pipeline.Runner{}, dir, run, func(b beam.Scope) {
		pipeline.Select(b, run, dir, from, s.selection)
	}, func(pipeline.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, dir string) *model.Model {
	t.Helper()
	m, err := model.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func save(t testing.TB, name, content string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// draw draws documents of several classes. Some words are in one class only, and others in none of the first documents.
func draw(rng *rand.Rand, labels []string, lines int) string {
	var b strings.Builder
	for range lines {
		class := rng.IntN(len(labels))
		b.WriteString(labels[class] + "\t")
		for range rng.IntN(12) {
			word := fmt.Sprintf("w%d", int(math.Exp(rng.Float64()*4)))
			switch rng.IntN(4) {
			case 0:
				word = fmt.Sprintf("only%d%d", class, rng.IntN(8))
			case 1:
				word = fmt.Sprintf("some%d", (class*rng.IntN(3)+rng.IntN(2))%7)
			}
			b.WriteString(word + " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}
