package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the runner's log repeats the errors at length
	os.Exit(m.Run())
}

const federalist = "../testdata/federalist/train.tsv"

// documents lists files with the defaults of the command.
func documents(t testing.TB, patterns ...string) Documents {
	t.Helper()
	files, err := corpusio.List(context.Background(), patterns, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := transforms.ParseBudget("1%")
	if err != nil {
		t.Fatal(err)
	}
	return Documents{Files: files, MaxRejected: budget, Reading: corpusio.Reading{MaxRecordBytes: 8 << 20}, Shards: 64}
}

func choose(t testing.TB, positive string, ks ...string) selection.Params {
	t.Helper()
	s := selection.Params{Smoothing: []float64{1}, Strategy: "ovr", Positive: positive}
	for _, text := range ks {
		k, err := selection.ParseK(text)
		if err != nil {
			t.Fatal(err)
		}
		s.K = append(s.K, k)
	}
	return s
}

func runTrain(t testing.TB, dir string, d Documents, sel selection.Params) error {
	t.Helper()
	return onBoth(t, dir, func(runner Runner, dir string) error { return trainOn(runner, dir, d, sel) })
}

func trainOn(runner Runner, dir string, d Documents, sel selection.Params) error {
	run := NewRun("train", "test", &d, nil, &sel)
	return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Train(s, run, dir, d, sel) }, func(Progress) {})
}

func runCount(t testing.TB, dir string, d Documents) error {
	t.Helper()
	return onBoth(t, dir, func(runner Runner, dir string) error {
		run := NewRun("count", "test", &d, nil, nil)
		return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Count(s, run, dir, d) }, func(Progress) {})
	})
}

func runSelect(t testing.TB, dir, from string, classDocuments map[string]int64, sel selection.Params) error {
	t.Helper()
	counts, err := selection.FindCounts(context.Background(), from, classDocuments, sel)
	if err != nil {
		return err
	}
	return onBoth(t, dir, func(runner Runner, dir string) error { return selectOn(runner, dir, counts, sel) })
}

func selectOn(runner Runner, dir string, counts selection.Counts, sel selection.Params) error {
	run := NewRun("select", "test", nil, &counts, &sel)
	return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Select(s, run, dir, counts, sel) }, func(Progress) {})
}

// localRunners run on one machine. Like a cluster, and unlike the direct runner, Prism encodes the elements between steps,
// sends DoFns to workers, and divides a step into several bundles.
var localRunners = map[string]Runner{"direct": {}, "prism": {Prism: true}}

// onBoth runs a job on the direct runner, and on Prism in a copy of the folder. Both must return the same error and publish
// the same bytes.
func onBoth(t testing.TB, dir string, do func(runner Runner, dir string) error) error {
	t.Helper()
	if raceDetector && t.Name() != "TestSameInputSameBytes" {
		return do(localRunners["direct"], dir)
	}
	twin := filepath.Join(t.TempDir(), "twin")
	if err := os.CopyFS(twin, os.DirFS(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	err, other := do(localRunners["direct"], dir), do(localRunners["prism"], twin)
	if fmt.Sprint(err) != strings.ReplaceAll(fmt.Sprint(other), twin, dir) || exitOf(err) != exitOf(other) {
		t.Errorf("the direct runner ends with %d, %v; Prism with %d, %v", exitOf(err), err, exitOf(other), other)
	}
	if err == nil && other == nil {
		if got, want := sums(t, twin), sums(t, dir); !maps.Equal(got, want) {
			t.Errorf("Prism made %v, the direct runner %v", got, want)
		}
	}
	return err
}

func read(t testing.TB, dir string) modelio.Published {
	t.Helper()
	p, err := modelio.Read(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sums are the checksums of all Parquet files of a run.
func sums(t testing.TB, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, f := range read(t, dir).Manifest.Files {
		m[f.Name] = f.SHA256
		if info, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || info.Size() != f.Size {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	return m
}

// exitOf is the exit code that an error means.
func exitOf(err error) int {
	var e *modelio.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Exit
	}
	return -1
}

// checkNothingPublished checks that no run is published in the folder.
func checkNothingPublished(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{modelio.SuccessFile, modelio.ManifestFile, modelio.FeaturesFile, modelio.ModelFile, modelio.PathFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there, %v", name, err)
		}
	}
}

// corpus is documents as lines, of two classes.
func corpus(t testing.TB) [][]byte {
	t.Helper()
	b, err := os.ReadFile(federalist)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimRight(b, "\n"), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	rng := rand.New(rand.NewPCG(1, 1))
	extra := []string{"été", "ΣΟΦΟΣ", "straße", "中文", "naïve", "x\xff\xfey", "upon", "whilst", "a", "İstanbul"}
	for range 2000 {
		var line []byte
		line = append(line, []string{"Hamilton", "Madison"}[rng.IntN(2)]...)
		line = append(line, '\t')
		for range rng.IntN(40) {
			if rng.IntN(8) == 0 {
				line = append(line, extra[rng.IntN(len(extra))]...)
			} else {
				line = fmt.Appendf(line, "word%d", int(1/(rng.Float64()+1e-4)))
			}
			line = append(line, " \t,"[rng.IntN(3)])
		}
		lines = append(lines, append(line, []string{"\n", "\r\n"}[rng.IntN(2)]...))
	}
	return lines
}

// spread writes lines to n files, with some compression, and returns a pattern that matches them.
func spread(t testing.TB, lines [][]byte, n int, pack string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		var b bytes.Buffer
		for j := i; j < len(lines); j += n {
			b.Write(lines[j])
		}
		name := filepath.Join(dir, fmt.Sprintf("part%d.tsv%s", i, pack))
		if err := os.WriteFile(name, packed(t, b.Bytes(), pack), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*")
}

func packed(t testing.TB, content []byte, pack string) []byte {
	t.Helper()
	var b bytes.Buffer
	switch pack {
	case ".gz":
		w := gzip.NewWriter(&b)
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		return content
	}
	return b.Bytes()
}

func shuffled(lines [][]byte) [][]byte {
	lines = bytes.SplitAfter(bytes.Join(lines, nil), []byte("\n"))
	lines = lines[:len(lines)-1]
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return lines
}

func save(t testing.TB, name, content string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parseModel(t testing.TB, name string) solver.Model {
	t.Helper()
	m, err := solver.ParseModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func contains(t testing.TB, err error, want ...string) {
	t.Helper()
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error is %v, want %q in it", err, w)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
}

// askPython runs a script with a question as JSON, and decodes its answer.
func askPython(t testing.TB, script string, question, answer any) {
	t.Helper()
	input, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(outside.Python(t), script)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, stderr.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatal(err)
	}
}
