package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

func runTransform(t testing.TB, dir string, d Documents, m Matrix) error {
	t.Helper()
	return onBoth(t, dir, func(runner Runner, dir string) error { return transformOn(runner, dir, d, m) })
}

func transformOn(runner Runner, dir string, d Documents, m Matrix) error {
	run := NewApplyRun("transform", "test", d, m.Model, m.Options())
	return Run(context.Background(), runner, dir, run, func(s beam.Scope) { Transform(s, run, dir, d, m) }, func(Progress) {})
}

// strangeCorpus has words that are also names of other columns, or hard to write.
func strangeCorpus(rng *rand.Rand) string {
	words := []string{"id", "label", "source", "offset", "feature:id", "feature:feature:id", "Id", "a,b", `"q"`, "`", "日本", "x=y", "1:2", "#", "é", "\\", "{}", "null"}
	var b strings.Builder
	for range 60 {
		fmt.Fprintf(&b, "%s\t", []string{"+1", "b"}[rng.IntN(2)])
		for range rng.IntN(30) {
			b.WriteString(words[int(rng.ExpFloat64()*5)%len(words)] + " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// scikit-learn's naive Bayes, fitted to the rows of the training documents, has the weights of the model; and all layouts have
// the same rows.
func TestScikitLearnFitsTheMatrix(t *testing.T) {
	outside.Python(t)
	rng := rand.New(rand.NewPCG(14, 9))
	three := func() Documents { return documents(t, save(t, "random.tsv", randomCorpus(rng))) }
	with := func(d Documents, change func(*Documents)) Documents { change(&d); return d }
	weighted := func(w kernel.Weights) Documents {
		return with(three(), func(d *Documents) { d.Weights = w })
	}
	binary := choose(t, "Madison", "10", "300")
	binary.Smoothing = []float64{0.1, 1}
	bernoulli := choose(t, "Hamilton", "20")
	bernoulli.Model = solver.Bernoulli
	ovo, joint, documentsOnly := choose(t, "", "7", "15"), choose(t, "", "7", "15"), choose(t, "", "8")
	ovo.Strategy, joint.Strategy, documentsOnly.Weights = "ovo", "joint", modelio.BinaryWeights
	type result struct {
		Layouts, Weights float64
		Values, Models   int
	}
	type matrixCase struct {
		Model    string `json:"model"`
		Lists    string `json:"lists"`
		Wide     string `json:"wide"`
		SVMlight string `json:"svmlight"`
		Exponent *int   `json:"exponent"`
	}
	var cases []matrixCase
	for _, c := range []struct {
		documents Documents
		selection selection.Params
	}{
		{documents(t, federalist), binary},
		{documents(t, federalist), bernoulli},
		{three(), choose(t, "", "5")},
		{three(), ovo},
		{three(), joint},
		{three(), documentsOnly},
		{with(three(), func(d *Documents) { d.HashBits = 6; d.StopWords = []string{"w1", "w3"} }), choose(t, "class1", "12")},
		{with(three(), func(d *Documents) { d.Analyzer = kernel.Analyzer{Unit: kernel.CharWB, Min: 2, Max: 3} }), choose(t, "", "12")},
		{with(documents(t, save(t, "strange.tsv", strangeCorpus(rng))), func(d *Documents) {
			d.Analyzer = kernel.Analyzer{Unit: kernel.Whitespace, KeepCase: true, Max: 2}
		}), choose(t, "", "80")},
		{weighted(kernel.Weights{Scheme: kernel.Log, Exponent: -30}), choose(t, "", "9")},
		{weighted(kernel.Weights{Scheme: kernel.TFIDF, Norm: kernel.L2, Exponent: -30}), choose(t, "", "9")},
	} {
		model := filepath.Join(t.TempDir(), "model")
		if err := trainOn(localRunners["direct"], model, c.documents, c.selection); err != nil {
			t.Fatal(err)
		}
		_, chosen := modelOf(t, model)
		dirs := map[transforms.Layout]string{}
		d := c.documents
		d.Shards = 1
		for _, layout := range transforms.Layouts {
			dirs[layout] = filepath.Join(t.TempDir(), string(layout))
			if err := transformOn(localRunners["direct"], dirs[layout], d, Matrix{chosen, layout}); err != nil {
				t.Fatal(err)
			}
		}
		m := matrixCase{model, dirs[transforms.Lists], dirs[transforms.Wide], dirs[transforms.SVMlight], nil}
		if d.Weights.Real() {
			m.Exponent = &d.Weights.Exponent
		}
		cases = append(cases, m)
	}
	var results []result
	askPython(t, "testdata/transform.py", cases, &results)
	for i, r := range results {
		if r.Layouts > 0 || r.Weights > 1e-12 || r.Values < 50 || r.Models == 0 {
			t.Errorf("case %d: %+v", i, r)
		}
	}
}

// rowsOf reads the rows of a matrix, sorted by source and offset.
func rowsOf(t testing.TB, dir string) (rows []modelio.MatrixRow) {
	t.Helper()
	for _, f := range read(t, dir).Manifest.Files {
		if !strings.HasPrefix(f.Name, "rows") {
			continue
		}
		part, err := parquet.ReadFile[modelio.MatrixRow](filepath.Join(dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, part...)
	}
	slices.SortStableFunc(rows, func(a, b modelio.MatrixRow) int {
		return strings.Compare(a.Source, b.Source)*2 + sign(a.Offset-b.Offset)
	})
	return rows
}

// The same documents give the same bytes for any split, and the shards together have the rows of one.
func TestMatrixAtEverySplit(t *testing.T) {
	_, chosen := modelOf(t, hamiltonModel(t))
	pattern := spread(t, corpus(t), 3, "")
	transform := func(layout transforms.Layout, shards int, tuning Tuning) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "out")
		d := documents(t, pattern)
		d.Shards, d.Tuning = shards, tuning
		if err := runTransform(t, dir, d, Matrix{chosen, layout}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, layout := range transforms.Layouts {
		var list []string
		for _, shards := range []int{1, 5} {
			one := transform(layout, shards, Tuning{Threads: 1, RangeBytes: 1 << 40})
			list = append(list, one)
			for _, tuning := range []Tuning{{Threads: 2, RangeBytes: 4 << 10}, {Threads: 3, RangeBytes: 100 << 10}} {
				if got := transform(layout, shards, tuning); !maps.Equal(sums(t, got), sums(t, one)) {
					t.Errorf("%s in %d shards, %+v: other bytes", layout, shards, tuning)
				}
			}
		}
		if layout != transforms.Lists {
			continue
		}
		same := func(a, b modelio.MatrixRow) bool {
			return a.Source == b.Source && a.Offset == b.Offset && *a.Label == *b.Label && slices.Equal(a.Indices, b.Indices) && slices.Equal(a.Values, b.Values)
		}
		if got, want := rowsOf(t, list[1]), rowsOf(t, list[0]); !slices.EqualFunc(got, want, same) || len(want) < 2000 {
			t.Errorf("%d rows in 5 shards, %d in one", len(got), len(want))
		}
	}
}

// Ids travel along, documents without a label are -1 in SVMlight, and so do several labels.
func TestMatrixOfDocumentsWithoutLabels(t *testing.T) {
	_, chosen := modelOf(t, hamiltonModel(t))
	transform := func(name, content string, layout transforms.Layout, reading corpusio.Reading) (dir string, err error) {
		reading.MaxRecordBytes, reading.LabelOptional = 1<<20, true
		d := documents(t, disputed)
		d.Files, d.Reading, d.Shards = list(t, reading, save(t, name, content)), reading, 1
		dir = filepath.Join(t.TempDir(), "out")
		return dir, runTransform(t, dir, d, Matrix{chosen, layout})
	}
	dir, err := transform("mail.csv", "id,text\n7,upon Upon\n,nothing\n", transforms.Lists, corpusio.Reading{IDColumn: "id"})
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, dir)
	if len(rows) != 2 || *rows[0].ID != "7" || *rows[1].ID != "" || rows[0].Label != nil || !slices.Equal(rows[0].Values, []float64{2}) || len(rows[1].Values) > 0 {
		t.Errorf("rows %+v", rows)
	}
	dir, err = transform("mail.csv", "text,label\nupon upon,\nupon,Madison\nnothing,Hamilton\n", transforms.SVMlight, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	column := rows[0].Indices[0] + 1
	if got, want := readFile(t, filepath.Join(dir, modelio.SVMlightFile)), fmt.Sprintf("-1 %d:2\n1 %d:1\n0\n", column, column); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	dir, err = transform("several.txt", "__label__Hamilton __label__Madison upon\n", transforms.SVMlight, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := readFile(t, filepath.Join(dir, modelio.SVMlightFile)), fmt.Sprintf("0,1 %d:1\n", column); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	dir, err = transform("jay.tsv", "Hamilton\tupon\nJay\tupon\n", transforms.SVMlight, corpusio.Reading{})
	if exitOf(err) != modelio.ExitData || !strings.Contains(err.Error(), `jay.tsv`) || !strings.Contains(err.Error(), `the label "Jay" is not a class of the model`) {
		t.Errorf("exit %d, %v", exitOf(err), err)
	}
	checkNothingPublished(t, dir)
	for _, name := range []string{modelio.SVMlightFile, modelio.ColumnsFile, modelio.ClassesFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if _, err = transform("jay.tsv", "Hamilton\tupon\nJay\tupon\n", transforms.SVMlight, corpusio.Reading{Classes: []string{"Hamilton"}}); err != nil {
		t.Error(err)
	}
	_, err = transform("jay.tsv", "Jay\tupon\n", transforms.Lists, corpusio.Reading{Classes: []string{"Hamilton"}})
	if exitOf(err) != modelio.ExitData || !strings.Contains(err.Error(), "no document has the label Hamilton; the labels are Jay (1)") {
		t.Errorf("exit %d, %v", exitOf(err), err)
	}
}

// The Python in the documentation reads the matrix.
func TestTransformDocs(t *testing.T) {
	python := outside.Python(t)
	_, text, _ := strings.Cut(readFile(t, "../docs/predict.md"), "\n## Transform\n")
	text, _, _ = strings.Cut(text, "\n## ")
	_, chosen := modelOf(t, hamiltonModel(t))
	dir := t.TempDir()
	d := documents(t, federalist)
	d.Shards = 1
	for name, layout := range map[string]transforms.Layout{"matrix": transforms.Lists, "light": transforms.SVMlight} {
		if err := transformOn(localRunners["direct"], filepath.Join(dir, name), d, Matrix{chosen, layout}); err != nil {
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for i, block := range strings.Split(text, "```python\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		fmt.Fprintf(&script, "%s\nX%d = X\n", block, i)
	}
	script.WriteString("assert abs(X0 - X1).max() == 0 and X0.shape == (65, 100)\nassert (model.classes_[y.astype(int)] == rows['label']).all()\n")
	cmd := exec.Command(python, "-c", script.String())
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
