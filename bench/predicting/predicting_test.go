package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sparsenb/sparsenb/bench/internal/process"
	"github.com/sparsenb/sparsenb/internal/outside"
)

// The peer that needs no more than the tests' Python predicts with the words of a model.
func TestScikitLearn(t *testing.T) {
	python := outside.Python(t)
	t.Chdir(outside.Root())
	dir := t.TempDir()
	file, output := filepath.Join(dir, "text.tsv"), filepath.Join(dir, "output")
	// The last document has no selected word, and so the class with more documents.
	const documents = "good\tFine, fine film\ngood\tfine\nbad\tdull film\nbad\tA \"dull\" one\ngood\tfilm\n"
	if err := os.WriteFile(file, []byte(documents), 0o666); err != nil {
		t.Fatal(err)
	}
	model := "import pyarrow, pyarrow.parquet as p; p.write_table(pyarrow.table({'feature': ['fine', 'dull']}), '" + filepath.Join(dir, "features.parquet") + "')"
	if out, err := exec.Command(python, "-c", model).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, _, err := process.Run(t.Context(), python, peers, "train", "scikit-learn", file, dir, ""); err != nil {
		t.Fatal(err)
	}
	r := row{name: same, output: output, predict: []string{python, peers, "predict", "scikit-learn", file, dir, output}}
	if _, err := r.once(t.Context()); err != nil || r.results != (results{5, 5}) {
		t.Fatalf("%v, %v", r.results, err)
	}
	const read = "import sys, pyarrow.parquet as p; print([(r['label'], r['predicted'], round(r['log_probability'], 6)) for r in p.read_table(sys.argv[1]).to_pylist()])"
	got, err := exec.Command(python, "-c", read, output).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Smoothed, good has 4 and 1 of the two words, bad has 1 and 3; the priors are 3/5 and 2/5. The odds of the first document
	// are 3/2 · ((4/5)/(1/4))² = 15.36, and log(15.36/16.36) = -0.063.
	const want = "[('good', 'good', -0.063073), ('good', 'good', -0.189242), ('bad', 'bad', -0.336472), ('bad', 'bad', -0.336472), ('good', 'good', -0.510826)]\n"
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompare(t *testing.T) {
	self := &row{name: ours, results: results{10, 8}}
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{name: same, results: results{10, 8}}, ""},
		{row{name: same, results: results{10, 7}}, "7 correct labels where sparsenb has 8"},
		{row{name: "fastText", results: results{10, 7}}, ""},
		{row{name: "fastText", results: results{9, 8}}, "9 documents where sparsenb has 10"},
	} {
		got := ""
		if err := c.row.compare(self); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.row.results, got, c.want)
		}
	}
}
