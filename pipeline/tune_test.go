package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/tuning"
)

func runTune(t testing.TB, dir string, d Documents, p TuneParams) error {
	t.Helper()
	return onBoth(t, dir, func(runner Runner, dir string) error {
		run := NewTuneRun("test", d, p)
		return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Tune(s, run, dir, d, p) }, func(Progress) {})
	})
}

func tuningRows(t testing.TB, dir string) (rows []modelio.TuningRow) {
	t.Helper()
	err := tableio.Read(t.Context(), filepath.Join(dir, modelio.TuningFile), func(r *modelio.TuningRow) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// topics is documents of some classes, whose words depend on the class.
func topics(rng *rand.Rand, classes, documents int) string {
	var b strings.Builder
	for range documents {
		class := int(rng.Float64() * rng.Float64() * float64(classes)) // some are larger
		fmt.Fprintf(&b, "class%d\t", class)
		for range 1 + rng.IntN(25) {
			word := int(rng.ExpFloat64() * 25)
			if rng.IntN(4) == 0 {
				word = 100 + class*5 + rng.IntN(8)
			}
			fmt.Fprintf(&b, "w%d ", word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// foldOf is the fold of a text, as docs/tune.md defines it.
func foldOf(text []byte, folds int) int {
	hash := sha256.Sum256(text)
	return int(binary.BigEndian.Uint64(hash[:8]) % uint64(folds))
}

// tuneCase is a corpus and a grid.
type tuneCase struct {
	name     string
	corpus   string
	settings []selection.Params
	change   func(d *Documents)
}

func settings(t testing.TB, strategy, model string, weights string, minDFs ...string) (list []selection.Params) {
	t.Helper()
	for _, minDF := range minDFs {
		s, err := selection.ParseParams(map[string]string{
			"k": "1,2,10%,30,60%,1000", "smoothing": "0.1,1", "model": model, "weights": weights, "min_df": minDF, "strategy": strategy,
			"method": string(solver.NFS),
		})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// The figures of a fold are those of the models that train makes from the documents of the other folds, applied to those of the
// fold.
func TestTuneIsTrainWithoutTheFold(t *testing.T) {
	text, err := os.ReadFile(federalist)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(14, 5))
	unchanged := func(*Documents) {}
	cases := []tuneCase{
		{"federalist", string(text), settings(t, "ovr", "multinomial", "count", "10%"), unchanged},
		{"two classes", topics(rng, 2, 200), slices.Concat(settings(t, "ovr", "multinomial", "count", "", "3"), settings(t, "ovr", "multinomial", "binary", ""), settings(t, "ovr", "bernoulli", "count", "", "5%")), unchanged},
		{"ovr", topics(rng, 4, 200), slices.Concat(settings(t, "ovr", "multinomial", "count", "4"), settings(t, "ovr", "bernoulli", "count", "")), unchanged},
		{"ovo", topics(rng, 4, 200), slices.Concat(settings(t, "ovo", "multinomial", "count", ""), settings(t, "ovo", "bernoulli", "count", "")), unchanged},
		{"joint", topics(rng, 4, 200), slices.Concat(settings(t, "joint", "multinomial", "count", ""), settings(t, "joint", "bernoulli", "count", "2")), unchanged},
		{"log", topics(rng, 3, 200), settings(t, "ovr", "multinomial", "log", ""), func(d *Documents) {
			d.Weights = kernel.Weights{Scheme: kernel.Log, Exponent: kernel.DefaultExponent}
		}},
		{"pairs in buckets", topics(rng, 2, 200), settings(t, "ovr", "multinomial", "count", ""), func(d *Documents) {
			d.Analyzer, d.HashBits = kernel.Analyzer{Min: 1, Max: 2}, 9
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { testTune(t, c) })
	}
}

func testTune(t *testing.T, c tuneCase) {
	const folds = 3
	d := documents(t, save(t, "all.tsv", c.corpus))
	d.Shards = 2
	d.Tuning.RangeBytes = int64(len(c.corpus)/3 + 1)
	c.change(&d)
	dir := filepath.Join(t.TempDir(), "tuned")
	p := TuneParams{Grid: tuning.Grid{Settings: c.settings}, Folds: tuning.Folds{Number: folds}, Metric: tuning.Accuracy}
	if err := p.Validate(d); err != nil {
		t.Fatal(err)
	}
	if err := runTune(t, dir, d, p); err != nil {
		t.Fatal(err)
	}
	type key struct {
		setting   string
		smoothing float64
		k         string
		fold      int64
	}
	rows := map[key]modelio.TuningRow{}
	for _, r := range tuningRows(t, dir) {
		if r.Fold != nil {
			rows[key{r.Model + r.Weights + r.MinDF, r.Smoothing, r.KRequested, *r.Fold}] = r
		}
	}
	compared := 0
	lines := bytes.Split(bytes.TrimSuffix([]byte(c.corpus), []byte("\n")), []byte("\n"))
	for fold := range folds {
		var rest, held [][]byte
		for _, line := range lines {
			if _, text, _ := bytes.Cut(line, []byte("\t")); foldOf(text, folds) == fold {
				held = append(held, line)
			} else {
				rest = append(rest, line)
			}
		}
		train := documents(t, save(t, "rest.tsv", string(bytes.Join(rest, []byte("\n")))+"\n"))
		train.Shards = 2
		c.change(&train)
		for i, s := range c.settings {
			dir := filepath.Join(t.TempDir(), fmt.Sprintf("without%d-%d", fold, i))
			if err := trainOn(localRunners["direct"], dir, train, s); err != nil {
				t.Fatal(err)
			}
			m, err := model.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range apply(t, m, held) {
				for _, k := range strings.Split(want.decision.Requested, ",") {
					at := key{s.Model.String() + tuning.WeightsOf(s, string(cmp.Or(d.Weights.Scheme, kernel.Values))) + s.Pruning.MinDF.Text, want.decision.Smoothing, k, int64(fold)}
					got, ok := rows[at]
					if !ok {
						t.Fatalf("%v is missing", at)
					}
					compared++
					if got.Documents != int64(len(held)) || math.Abs(got.Accuracy-want.accuracy) > 1e-12 {
						t.Errorf("%v: accuracy %v of %d documents, want %v of %d", at, got.Accuracy, got.Documents, want.accuracy, len(held))
					}
					if want.decision.K != 0 && got.K != float64(want.decision.K) {
						t.Errorf("%v: %v features, want %d", at, got.K, want.decision.K)
					}
					if probable := got.LogLoss != nil; probable != want.decision.Probable {
						t.Errorf("%v: log loss is %v", at, got.LogLoss)
					} else if probable && math.Abs(*got.LogLoss-want.logLoss) > 1e-12*want.logLoss+1e-12 {
						t.Errorf("%v: log loss %v, want %v", at, *got.LogLoss, want.logLoss)
					}
				}
			}
		}
	}
	if compared != len(rows) {
		t.Errorf("%d of %d rows were compared", compared, len(rows))
	}
}

// applied is what a decision makes of documents.
type applied struct {
	decision          model.Decision
	accuracy, logLoss float64
}

func apply(t *testing.T, m *model.Model, lines [][]byte) []applied {
	t.Helper()
	predictor := m.NewPredictor(nil)
	list := make([]applied, len(m.Decisions()))
	for _, line := range lines {
		label, text, _ := bytes.Cut(line, []byte("\t"))
		scores, err := predictor.Text(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			list[i].decision = *s.Decision
			class := slices.Index(s.Decision.Classes, string(label))
			if s.Class == class {
				list[i].accuracy += 1 / float64(len(lines))
			}
			if s.LogProbs != nil {
				list[i].logLoss -= max(s.LogProbs[class], math.Log(0x1p-52)) / float64(len(lines))
			}
		}
	}
	return list
}

// tuned is a case of testdata/tuning/cross_val.py.
type tuned struct {
	Texts  []string     `json:"texts"`
	Labels []string     `json:"labels"`
	Folds  int          `json:"folds"`
	Points []tunedPoint `json:"points"`
}

type tunedPoint struct {
	Alpha     float64    `json:"alpha"`
	Bernoulli bool       `json:"bernoulli"`
	Selected  [][]string `json:"selected"` // without each fold
	k         string
}

type crossValidated struct {
	Accuracy []float64 `json:"accuracy"`
	Balanced []float64 `json:"balanced"`
	Loss     []float64 `json:"loss"`
}

// The figures of each fold are those of scikit-learn's cross_val_score, with the selection inside the pipeline. The features
// that train selects without a fold are given.
func TestTuneIsCrossValScore(t *testing.T) {
	outside.Python(t)
	const folds = 3
	rng := rand.New(rand.NewPCG(14, 6))
	var cases []tuned
	var rows [][]modelio.TuningRow
	for _, c := range []struct{ corpus, strategy, model string }{
		{topics(rng, 2, 250), "ovr", "multinomial"}, {topics(rng, 4, 250), "joint", "multinomial"}, {topics(rng, 2, 250), "ovr", "bernoulli"},
	} {
		d := documents(t, save(t, "all.tsv", c.corpus))
		s := settings(t, c.strategy, c.model, "count", "")
		dir := filepath.Join(t.TempDir(), "tuned")
		p := TuneParams{Grid: tuning.Grid{Settings: s}, Folds: tuning.Folds{Number: folds}, Metric: tuning.LogLoss}
		if err := runTune(t, dir, d, p); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, tuningRows(t, dir))
		in := tuned{Folds: folds}
		for _, point := range []struct {
			k     string
			alpha float64
		}{{"2", 1}, {"10%", 0.1}, {"30", 1}} {
			in.Points = append(in.Points, tunedPoint{point.alpha, c.model == "bernoulli", make([][]string, folds), point.k})
		}
		var rest [folds]strings.Builder
		for line := range strings.Lines(c.corpus) {
			label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			in.Labels, in.Texts = append(in.Labels, label), append(in.Texts, text)
			for fold := range folds {
				if foldOf([]byte(text), folds) != fold {
					rest[fold].WriteString(line)
				}
			}
		}
		for fold := range folds {
			dir := filepath.Join(t.TempDir(), "without")
			if err := trainOn(localRunners["direct"], dir, documents(t, save(t, "rest.tsv", rest[fold].String())), s[0]); err != nil {
				t.Fatal(err)
			}
			run := read(t, dir)
			for _, m := range run.Models {
				for i, point := range in.Points {
					if !slices.Contains(strings.Split(m.KRequested, ","), point.k) || m.Smoothing != point.Alpha || in.Points[i].Selected[fold] != nil {
						continue
					}
					for _, f := range run.Of(m) {
						if !slices.Contains(in.Points[i].Selected[fold], f.Feature) { // joint models have a row for each class
							in.Points[i].Selected[fold] = append(in.Points[i].Selected[fold], f.Feature)
						}
					}
				}
			}
		}
		cases = append(cases, in)
	}
	var want [][]crossValidated
	askPython(t, "../testdata/tuning/cross_val.py", cases, &want)
	compared := 0
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12+1e-12*math.Abs(b) }
	for i, in := range cases {
		for j, point := range in.Points {
			for _, r := range rows[i] {
				if r.Fold == nil || r.KRequested != point.k || r.Smoothing != point.Alpha {
					continue
				}
				w, f := want[i][j], *r.Fold
				compared++
				if !near(r.Accuracy, w.Accuracy[f]) || !near(r.Balanced, w.Balanced[f]) || !near(*r.LogLoss, w.Loss[f]) {
					t.Errorf("case %d, k = %s, fold %d: %v, %v and %v, scikit-learn has %v, %v and %v", i, point.k, f,
						r.Accuracy, r.Balanced, *r.LogLoss, w.Accuracy[f], w.Balanced[f], w.Loss[f])
				}
			}
		}
	}
	if compared != 3*3*folds {
		t.Errorf("%d rows were compared", compared)
	}
}

// The rows do not depend on how the input is split, on the number of threads, on whether a document counts twice or comes twice,
// or on whether its text or a group with the same value decides its fold.
func TestTuneOfTheSameDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 7))
	var twice, weighted, grouped, rows strings.Builder
	weighted.WriteString("label,text,n\n")
	grouped.WriteString("label,group,text\n")
	for line := range strings.Lines(topics(rng, 3, 150)) {
		label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text = strings.TrimSpace(text)
		n := 1 + rng.IntN(2)
		twice.WriteString(strings.Repeat(label+"\t"+text+"\n", n))
		fmt.Fprintf(&weighted, "%s,%s,%d\n", label, text, n)
		grouped.WriteString(strings.Repeat(label+","+text+","+text+"\n", n))
		fmt.Fprintf(&rows, "%s\n", strings.Repeat(fmt.Sprintf(`{"label":[%q],"text":%q}`+"\n", label, text), n))
	}
	p := TuneParams{Grid: tuning.Grid{Settings: slices.Concat(settings(t, "joint", "multinomial", "count", ""), settings(t, "joint", "bernoulli", "count", "2"))},
		Folds: tuning.Folds{Number: 4}, Metric: tuning.Balanced}
	tune := func(what, name, content string, change func(*Documents, *TuneParams)) []modelio.TuningRow {
		t.Helper()
		file := save(t, name, content)
		d, p := documents(t), p
		d.Shards = 3
		change(&d, &p)
		var err error
		if d.Files, err = corpusio.List(t.Context(), []string{file}, d.Reading); err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(d); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "out")
		run := NewTuneRun("test", d, p)
		if err := Run(t.Context(), Runner{}, dir, run, func(s beam.Scope) { Tune(s, run, dir, d, p) }, func(Progress) {}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return tuningRows(t, dir)
	}
	want := tune("all at once", "a.tsv", twice.String(), func(d *Documents, _ *TuneParams) { d.Tuning.Threads = 1 })
	for what, got := range map[string][]modelio.TuningRow{
		"ranges": tune("ranges", "a.tsv", twice.String(), func(d *Documents, _ *TuneParams) {
			d.Tuning = Tuning{RangeBytes: 500, Threads: 3, Spill: true, MemoryBytes: 1 << 20}
			d.Shards = 1
		}),
		"weights": tune("weights", "a.csv", weighted.String(), func(d *Documents, _ *TuneParams) { d.Reading.WeightColumn = "n" }),
		"groups": tune("groups", "a.csv", grouped.String(), func(d *Documents, p *TuneParams) {
			d.Reading.GroupColumn, d.Reading.TextColumns, p.Folds.ByGroup = "group", []string{"text"}, true
		}),
		"lists of labels": tune("lists of labels", "a.jsonl", rows.String(), func(d *Documents, _ *TuneParams) {}),
	} {
		if !reflect.DeepEqual(got, want) {
			for i := range want {
				if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("%s: row %d of %d is %+v, want %+v", what, i, len(got), got[min(i, len(got)-1)], want[i])
					break
				}
			}
		}
	}
	if twoLabels := tune("two labels", "b.jsonl", rows.String()+`{"label":["class0","class1"],"text":"w1 w2 w100"}`+"\n", func(d *Documents, _ *TuneParams) {}); twoLabels[0].Documents != want[0].Documents+2 {
		t.Errorf("%d documents, want %d", twoLabels[0].Documents, want[0].Documents+2)
	}
}

// Features of matrices are tuned, too.
func TestTuneMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 8))
	var b strings.Builder
	b.WriteString("label,a,b,c\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%.2f,%d,%.3f\n", i%2, rng.Float64()+float64(i%2), rng.IntN(3), 0.5)
	}
	d := documents(t)
	d.Reading.Format = "matrix"
	var err error
	if d.Files, err = corpusio.List(t.Context(), []string{save(t, "m.csv", b.String())}, d.Reading); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	p := TuneParams{Grid: tuning.Grid{Settings: settings(t, "ovr", "multinomial", "count", "")}, Folds: tuning.Folds{Number: 3}, Metric: tuning.Accuracy}
	if err := runTune(t, dir, d, p); err != nil {
		t.Fatal(err)
	}
	for _, r := range tuningRows(t, dir) {
		if r.Best && (r.Accuracy < 0.7 || r.Documents != 60) {
			t.Errorf("%+v", r)
		}
	}
}
