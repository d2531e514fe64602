package pipeline

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
)

func evaluateOn(runner Runner, dir string, d Documents, m transforms.ModelParams, against *transforms.ModelParams) error {
	d.Shards, d.Reading.LabelOptional = 1, true
	run := NewApplyRun("evaluate", "test", d, m, map[string]string{})
	return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Evaluate(s, run, dir, d, m, against) }, func(Progress) {})
}

func evaluationOf(t testing.TB, dir string) []modelio.EvaluationRow {
	t.Helper()
	rows, err := modelio.ReadEvaluation(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// train makes a model of a random corpus.
func trainRandom(t testing.TB, text [][]byte, strategy, positive string, ks ...string) string {
	t.Helper()
	sel := choose(t, positive, ks...)
	sel.Strategy, sel.Smoothing = selection.Strategy(strategy), []float64{0.5, 1}
	dir := filepath.Join(t.TempDir(), "model")
	if err := trainOn(Runner{}, dir, documents(t, spread(t, text, 2, "")), sel); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The figures of a run are those of the model's decisions about each document, however the input is split.
func TestEvaluateIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 3))
	labels := []string{"a", "b", "c vs d", "rest"}
	training, _ := multiclassCorpus(rng, labels, 300)
	text, _ := multiclassCorpus(rng, append(labels, "unknown", "ünbekannt"), 500)
	text = append(text, []byte("\tno label\n"))
	for _, c := range []struct{ strategy, positive string }{{"ovr", ""}, {"ovo", ""}, {"joint", ""}, {"ovr", "b"}, {"ovo", "b"}} {
		t.Run(c.strategy+c.positive, func(t *testing.T) {
			m, params := modelOf(t, trainRandom(t, training, c.strategy, c.positive, "3", "20%"))
			other, against := modelOf(t, trainRandom(t, training, c.strategy, c.positive, "3"))
			want := directly(t, m, other, text)
			var first string
			for i, split := range []struct {
				files   int
				ranges  int64
				threads int
			}{{1, 0, 1}, {3, 100, 4}, {5, 1000, 2}} {
				d := documents(t, spread(t, text, split.files, ""))
				d.Tuning = Tuning{RangeBytes: split.ranges, Threads: split.threads}
				dir := filepath.Join(t.TempDir(), "out")
				do := func(runner Runner, dir string) error { return evaluateOn(runner, dir, d, params, &against) }
				if i == 1 && c.strategy == "ovr" {
					if err := onBoth(t, dir, do); err != nil {
						t.Fatal(err)
					}
				} else if err := do(Runner{}, dir); err != nil {
					t.Fatal(err)
				}
				rows := evaluationOf(t, dir)
				sum := sums(t, dir)[modelio.EvaluationFile]
				if i == 0 {
					first = sum
				} else if sum != first {
					t.Errorf("%+v: other bytes", split)
				}
				if !reflect.DeepEqual(rows, want) {
					t.Fatalf("%+v: %d rows instead of %d: %v\n%v", split, len(rows), len(want), rows, want)
				}
				warnings := strings.Join(read(t, dir).Manifest.Warnings, "\n")
				for _, text := range []string{"unknown (", "ünbekannt (", "1 document without a label"} {
					if !strings.Contains(warnings, text) {
						t.Errorf("no warning has %q: %s", text, warnings)
					}
				}
			}
		})
	}
}

// directly evaluates lines without a pipeline. Of several ks, other has only some.
func directly(t *testing.T, m, other *model.Model, text [][]byte) (rows []modelio.EvaluationRow) {
	known := selection.Labels(m.Manifest().Classes)
	var found evaluation.Labels
	var tallies []*evaluation.Tally
	for _, d := range m.Decisions() {
		tallies = append(tallies, evaluation.New(d, evaluation.MaxScores))
	}
	p, q := m.NewPredictor(nil), other.NewPredictor(nil)
	pairs := map[int]model.Decision{}
	for _, line := range text {
		label, words, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
		switch {
		case words == "": // of the line without a label
			found.Without++
			continue
		case !slices.Contains(known, label):
			found.Unknown.Add(label, 1)
			continue
		}
		found.Known++
		scores, err := p.Text([]byte(words))
		if err != nil {
			t.Fatal(err)
		}
		others, err := q.Text([]byte(words))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			d := m.Decisions()[i]
			class := evaluation.ClassOf(d, known, label)
			if class < 0 {
				continue
			}
			tallies[i].Add(class, s, 1)
			for j, o := range others {
				if transforms.KeyOf(other.Decisions()[j]) == transforms.KeyOf(d) {
					pairs[i] = other.Decisions()[j]
					tallies[i].Against.Add(s.Class == class, o.Class == class, 1)
				}
			}
		}
	}
	if len(pairs) == 0 || len(pairs) == len(tallies) {
		t.Errorf("%d of %d decisions are compared", len(pairs), len(tallies))
	}
	for i, tally := range tallies {
		rows = append(rows, evaluation.Figures(tally, found)...)
		rows = append(rows, evaluation.AgainstFigures(tally, pairs[i])...)
	}
	slices.SortFunc(rows, modelio.EvaluationRow.Compare)
	return rows
}

// What cannot be evaluated is refused, and what limits the figures is said.
func TestEvaluateRefuses(t *testing.T) {
	training, _ := multiclassCorpus(rand.New(rand.NewPCG(1, 3)), []string{"a", "b"}, 100)
	_, params := modelOf(t, trainRandom(t, training, "ovr", "", "3"))
	for _, c := range []struct{ name, text, want string }{
		{"unknown", "x\tw1\ny\tw2\ny\tw3\n", "no document has a label that the model knows: the documents have y (2), x (1); the classes of the model are a, b"},
		{"none", "\tw1 w2\n\tw3\n", "no document has a label, so there is nothing to compare"},
		{"malformed", "a\tw1\n" + strings.Repeat("b", 9<<20) + "\n", "malformed"},
	} {
		file := filepath.Join(t.TempDir(), "in.txt")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "out")
		err := onBoth(t, dir, func(runner Runner, dir string) error { return evaluateOn(runner, dir, documents(t, file), params, nil) })
		if err == nil || !strings.Contains(err.Error(), c.want) || exitOf(err) != modelio.ExitData {
			t.Errorf("%s: exit %d, %v", c.name, exitOf(err), err)
		}
	}
}

func TestEvaluateWarnsOfTrainingFiles(t *testing.T) {
	training, _ := multiclassCorpus(rand.New(rand.NewPCG(1, 3)), []string{"a", "b"}, 100)
	seen := spread(t, training, 2, "")
	d := documents(t, seen)
	dir := filepath.Join(t.TempDir(), "counts")
	if err := runCount(t, dir, d); err != nil {
		t.Fatal(err)
	}
	selected := filepath.Join(t.TempDir(), "selected")
	if err := runSelect(t, selected, dir, nil, choose(t, "", "3")); err != nil {
		t.Fatal(err)
	}
	_, params := modelOf(t, selected)
	copied := filepath.Join(t.TempDir(), "copy.tsv")
	content, err := os.ReadFile(d.Files[1].Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := evaluateOn(Runner{}, out, documents(t, copied), params, nil); err != nil {
		t.Fatal(err)
	}
	if warnings := read(t, out).Manifest.Warnings; len(warnings) != 1 || !strings.Contains(warnings[0], "was trained on") || !strings.Contains(warnings[0], copied) {
		t.Errorf("%q", warnings)
	}
}
