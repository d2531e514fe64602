package pipeline

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/transforms"
)

const disputed = "../testdata/federalist/disputed.tsv"

// modelOf returns all decisions of a published model.
func modelOf(t testing.TB, dir string) (*model.Model, transforms.ModelParams) {
	t.Helper()
	m, err := model.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p := transforms.ModelParams{Dir: dir, SHA256: m.SHA256()}
	for _, d := range m.Decisions() {
		p.Decisions = append(p.Decisions, transforms.KeyOf(d))
	}
	return m, p
}

func runPredict(t testing.TB, dir string, d Documents, p Predictions) error {
	t.Helper()
	return onBoth(t, dir, func(runner Runner, dir string) error {
		run := NewApplyRun("predict", "test", d, p.Model, p.Options())
		return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Predict(s, run, dir, d, p) }, func(Progress) {})
	})
}

// hamiltonModel trains a model on the Federalist Papers.
func hamiltonModel(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	if err := trainOn(localRunners["direct"], dir, documents(t, federalist), choose(t, "Hamilton", "10", "100")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// explained reads nested columns, which tableio does not.
func explained(t testing.TB, dir string) []modelio.ExplainedRow {
	t.Helper()
	rows, err := parquet.ReadFile[modelio.ExplainedRow](filepath.Join(dir, modelio.PredictionsFile))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A row is what the model says about the document at its place.
func TestPredictions(t *testing.T) {
	m, chosen := modelOf(t, hamiltonModel(t))
	out := filepath.Join(t.TempDir(), "out")
	d := documents(t, disputed)
	d.Shards = 1
	if err := runPredict(t, out, d, Predictions{Model: chosen, Reasons: 3}); err != nil {
		t.Fatal(err)
	}
	if p := read(t, out); p.Manifest.Read != 12 || p.Manifest.Files[0].Name != modelio.PredictionsFile || p.Manifest.Model.Name != chosen.Dir {
		t.Errorf("manifest %+v", p.Manifest)
	}
	rows := explained(t, out)
	if len(rows) != 24 {
		t.Fatalf("%d rows, want two for each of 12 documents", len(rows))
	}
	offset, p := int64(0), m.NewPredictor(nil)
	for line := range strings.Lines(readFile(t, disputed)) {
		label, text, _ := strings.Cut(line, "\t")
		scores, err := p.Text([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			r := rows[0]
			rows = rows[1:]
			if r.Offset != offset || *r.Label != label || r.K != s.Decision.K || r.KRequested != s.Decision.Requested || r.Predicted != s.Decision.Classes[s.Class] ||
				r.Score != s.Scores[s.Class] || *r.LogProbability != s.LogProbs[s.Class] {
				t.Errorf("%s: row %+v, the model says %+v", label, r, s)
			}
			want := p.Explain(i, 3)
			if !slices.EqualFunc(r.Reasons, want, func(a modelio.ReasonRow, b model.Reason) bool { return a == modelio.ReasonRow(b) }) || len(want) != 3 {
				t.Errorf("%s: reasons %v, want %v", label, r.Reasons, want)
			}
		}
		offset += int64(len(line))
	}
}

// The same documents give the same bytes for any split, and the shards together have the rows of one.
func TestPredictionsAtEverySplit(t *testing.T) {
	_, chosen := modelOf(t, hamiltonModel(t))
	lines := corpus(t)
	whole, six := spread(t, lines, 1, ""), spread(t, lines, 6, "")
	predict := func(pattern string, shards int, tuning Tuning) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "out")
		d := documents(t, pattern)
		d.Shards, d.Tuning = shards, tuning
		if err := runPredict(t, dir, d, Predictions{Model: chosen}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, pattern := range []string{whole, six} {
		one := predict(pattern, 1, Tuning{Threads: 1, RangeBytes: 1 << 40})
		many := predict(pattern, 5, Tuning{Threads: 1, RangeBytes: 1 << 40})
		for _, tuning := range []Tuning{{Threads: 2, RangeBytes: 4 << 10}, {Threads: 3, RangeBytes: 1 << 20}, {Threads: 1, RangeBytes: 999}} {
			if got := predict(pattern, 1, tuning); !maps.Equal(sums(t, got), sums(t, one)) {
				t.Errorf("%+v: other bytes", tuning)
			}
			if got := predict(pattern, 5, tuning); !maps.Equal(sums(t, got), sums(t, many)) {
				t.Errorf("%+v: other bytes in 5 shards", tuning)
			}
		}
		all := predictions(t, many)
		slices.SortStableFunc(all, func(a, b modelio.PredictionRow) int {
			return strings.Compare(a.Source, b.Source)*2 + sign(a.Offset-b.Offset)
		})
		if want := predictions(t, one); !slices.EqualFunc(all, want, samePrediction) || len(want) != 2*len(lines) {
			t.Errorf("%s: %d rows in 5 shards, %d in one, of %d documents", pattern, len(all), len(want), len(lines))
		}
	}
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func predictions(t testing.TB, dir string) (rows []modelio.PredictionRow) {
	t.Helper()
	for _, f := range read(t, dir).Manifest.Files {
		err := tableio.Read(t.Context(), filepath.Join(dir, f.Name), func(r *modelio.PredictionRow) error {
			rows = append(rows, *r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func samePrediction(a, b modelio.PredictionRow) bool {
	same := *a.Label == *b.Label && *a.LogProbability == *b.LogProbability
	a.Label, b.Label, a.LogProbability, b.LogProbability = nil, nil, nil, nil
	return same && a == b
}

// Bad documents, models and options end as those of train do, and publish nothing.
func TestPredictRefuses(t *testing.T) {
	dir := hamiltonModel(t)
	_, chosen := modelOf(t, dir)
	broken := save(t, "broken.tsv", "a\tupon\nno tab\nno tab\n")
	corrupt := save(t, "corrupt.tsv.gz", string(packed(t, []byte("a\tupon\nb\ton\n"), ".gz")[:30]))
	for name, c := range map[string]struct {
		input string
		sha   string
		exit  int
		says  string
	}{
		"malformed lines": {broken, chosen.SHA256, modelio.ExitData, "2 of 3 records are malformed"},
		"a damaged file":  {corrupt, chosen.SHA256, modelio.ExitData, "corrupt.tsv.gz"},
		"another model":   {disputed, "other", -1, "the model has changed"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		d := documents(t, c.input)
		d.Shards = 1
		p := Predictions{Model: chosen}
		p.Model.SHA256 = c.sha
		err := runPredict(t, out, d, p)
		if exit := exitOf(err); err == nil || c.exit > 0 && exit != c.exit || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: exit %d, %v", name, exit, err)
		}
		checkNothingPublished(t, out)
		if _, err := os.Stat(filepath.Join(out, modelio.PredictionsFile)); err == nil && c.exit == modelio.ExitData {
			t.Errorf("%s: predictions are left", name)
		}
	}
}

// An id that is empty is not the same as none, and a document without a label has none.
func TestPredictionsOfDocumentsWithoutLabels(t *testing.T) {
	_, chosen := modelOf(t, hamiltonModel(t))
	input := save(t, "mail.csv", "id,text\n7,upon the powers\n,there\n")
	reading := corpusio.Reading{MaxRecordBytes: 1 << 20, LabelOptional: true, IDColumn: "id"}
	d := documents(t, disputed)
	d.Files, d.Reading, d.Shards = list(t, reading, input), reading, 1
	out := filepath.Join(t.TempDir(), "out")
	if err := runPredict(t, out, d, Predictions{Model: chosen}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range predictions(t, out) {
		if r.Label != nil || r.ID == nil || math.IsNaN(r.Score) {
			t.Fatalf("row %+v", r)
		}
		ids = append(ids, *r.ID)
	}
	if !slices.Equal(ids, []string{"7", "7", "", ""}) {
		t.Errorf("ids %q", ids)
	}
}
