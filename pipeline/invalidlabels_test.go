package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

// Labels that are not UTF-8 are the same classes for all steps that read them.
func TestLabelsWithInvalidUTF8(t *testing.T) {
	file := save(t, "latin1.tsv", strings.Repeat("caf\xe9\xe9\tgood fine\ntea\tbad sad\ncaf\xe9\xe9\tfine\n", 5))
	sel := choose(t, "", "2")
	sel.Classifier, sel.C = modelio.Logistic, 1
	dir := filepath.Join(t.TempDir(), "model")
	if err := trainOn(Runner{}, dir, documents(t, file), sel); err != nil {
		t.Fatal(err)
	}
	_, params := modelOf(t, dir)

	out := filepath.Join(t.TempDir(), "evaluation")
	if err := evaluateOn(Runner{}, out, documents(t, file), params, nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range evaluationOf(t, out) {
		if row.Metric == evaluation.Documents && row.Value != 15 || row.Metric == evaluation.Accuracy && row.Value != 1 {
			t.Errorf("%s is %v", row.Metric, row.Value)
		}
	}

	out = filepath.Join(t.TempDir(), "matrix")
	if err := transformOn(Runner{}, out, documents(t, file), Matrix{Model: params, Layout: transforms.SVMlight}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, modelio.SVMlightFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count("\n"+string(text), "\n0 "); n != 10 {
		t.Errorf("%d documents of class 0, want 10:\n%s", n, text)
	}
}
