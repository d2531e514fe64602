package pipeline

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// awkward are documents that are hard to analyze: truncated characters, many kinds of white space, letters that are longer in
// lower case.
const awkward = "Hamilton\t  Two  spaces\u00a0\u00a0and \u2003 wide,\x0bthen İSTANBUL ΟΔΟΣ.\nMadison\tx\xff\xfey \xe2\x82 été E\u0301TE 中文 \x1c\x1d end \nJay\t\nJay\ta\nJay\t \n"

// Counts equal those of scikit-learn's CountVectorizer for each feature and class, with any memory limit.
func TestCountsAreThoseOfCountVectorizer(t *testing.T) {
	python := outside.Python(t)
	extra := save(t, "awkward.tsv", awkward)
	for i, analyzer := range []kernel.Analyzer{
		{Unit: kernel.Word, Min: 1, Max: 1},
		{Unit: kernel.Word, Min: 1, Max: 2},
		{Unit: kernel.Char, Min: 2, Max: 3},
		{Unit: kernel.CharWB, Min: 3, Max: 5},
	} {
		t.Run(fmt.Sprintf("%s %d,%d", analyzer.Unit, analyzer.Min, analyzer.Max), func(t *testing.T) {
			d := documents(t, federalist, extra)
			d.Analyzer = analyzer
			d.Tuning = Tuning{Threads: 2, RangeBytes: 64 << 10, MemoryBytes: 1 << 20, BlockBytes: 64 << 10, Spill: i%2 == 0}
			dir := filepath.Join(t.TempDir(), "out")
			if err := runCount(t, dir, d); err != nil {
				t.Fatal(err)
			}
			compareCounts(t, countsOf(t, dir), vectorized(t, python, analyzer, federalist, extra))
		})
	}
}

// vectorized returns the counts of scikit-learn.
func vectorized(t *testing.T, python string, a kernel.Analyzer, files ...string) map[string]map[string]tally {
	t.Helper()
	args := append([]string{"../testdata/analyzer/ngrams.py", "--classes", a.Unit.String(), strconv.Itoa(a.Min), strconv.Itoa(a.Max)}, files...)
	cmd := exec.Command(python, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var found map[string]map[string][2]int64
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	counts := map[string]map[string]tally{}
	for name, classes := range found {
		counts[name] = map[string]tally{}
		for class, n := range classes {
			counts[name][class] = tally{n[0], n[1]}
		}
	}
	return counts
}

func compareCounts(t *testing.T, got, want map[string]map[string]tally) {
	t.Helper()
	if len(got) != len(want) || len(want) < 5000 {
		t.Errorf("%d features, want %d", len(got), len(want))
	}
	wrong := 0
	for name, classes := range want {
		for class, n := range classes {
			if got[name][class] != n {
				wrong++
				if wrong <= 5 {
					t.Errorf("%q in %s: %+v, want %+v", name, class, got[name][class], n)
				}
			}
		}
		if len(got[name]) != len(classes) {
			t.Errorf("%q is in %d classes, want %d", name, len(got[name]), len(classes))
		}
	}
}
