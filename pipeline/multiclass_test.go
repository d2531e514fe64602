package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/joint"
	"github.com/sparsenb/sparsenb/verify"
)

// corpus draws lines of several classes, and counts their words.
func multiclassCorpus(rng *rand.Rand, labels []string, lines int) (text [][]byte, counts map[string][]float64) {
	counts = map[string][]float64{}
	for range lines {
		class := rng.IntN(len(labels))
		line := []byte(labels[class] + "\t")
		for range 1 + rng.IntN(12) {
			word := fmt.Sprintf("w%d", int(math.Exp(rng.Float64()*5)))
			if rng.IntN(4) == 0 {
				word = fmt.Sprintf("only%d%d", class, rng.IntN(20))
			}
			line = append(append(line, word...), ' ')
			if counts[word] == nil {
				counts[word] = make([]float64, len(labels))
			}
			counts[word][class]++
		}
		text = append(text, append(line, '\n'))
	}
	return text, counts
}

// With several classes, every model equals the solver's for the dense counts, and verifies.
func TestSeveralClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	labels := []string{"a", "b", "c vs d", "e"} // sorted
	text, counts := multiclassCorpus(rng, labels, 400)
	for _, strategy := range []string{modelio.OneVersusRest, modelio.OneVersusOne} {
		for _, positive := range []string{"", "b"} {
			sel := choose(t, positive, "3", "20%")
			sel.Strategy, sel.Smoothing = "ovr", []float64{0.5, 1}
			if strategy == modelio.OneVersusOne {
				sel.Strategy = "ovo"
			}
			dir := filepath.Join(t.TempDir(), "out")
			if err := runTrain(t, dir, documents(t, spread(t, text, 3, "")), sel); err != nil {
				t.Fatal(err)
			}
			p := read(t, dir)
			want := map[string]int{"ovr": 4, "ovrb": 1, "ovo": 6, "ovob": 3}[strategy+positive] * 2 * 2
			if len(p.Models) != want {
				t.Errorf("%s %q: %d models, want %d", strategy, positive, len(p.Models), want)
			}
			for _, m := range p.Models {
				checkAgainstDense(t, p, m, labels, counts)
			}
			if !slices.IsSortedFunc(p.Models, func(a, b modelio.ModelRow) int { return a.Key().Compare(b.Key()) }) {
				t.Error("the models are not in order")
			}
			if checks, err := verify.Run(t.Context(), dir); err != nil {
				t.Errorf("%v: %v", checks, err)
			}
		}
	}
}

func checkAgainstDense(t *testing.T, p modelio.Published, m modelio.ModelRow, labels []string, counts map[string][]float64) {
	t.Helper()
	sides := func(word string) (positive, negative float64) {
		for c, n := range counts[word] {
			switch {
			case labels[c] == m.Positive:
				positive = n
			case m.Strategy == modelio.OneVersusRest || labels[c] == m.Negative:
				negative += n
			}
		}
		return positive, negative
	}
	var positive, negative []float64
	for word := range counts {
		a, b := sides(word)
		positive, negative = append(positive, a), append(negative, b)
	}
	groups, err := solver.GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	want, err := solver.Solve(solver.Problem{Groups: groups, K: m.K, Smoothing: m.Smoothing}, solver.Settings{})
	if err != nil || m.Gain != want.Gain || math.Abs(m.UpperBoundGain-want.UpperBound) > 1e-13*want.UpperBound {
		t.Errorf("%s: gain %v, bound %v; the solver alone: %v, %v, %v", m.Key(), m.Gain, m.UpperBoundGain, want.Gain, want.UpperBound, err)
	}
	features := p.Of(m)
	if int64(len(features)) != m.K {
		t.Errorf("%s: %d features", m.Key(), len(features))
	}
	for _, f := range features {
		if a, b := sides(f.Feature); a != f.CountPositive || b != f.CountNegative {
			t.Errorf("%s, %s: counts %v and %v, want %v and %v", m.Key(), f.Feature, f.CountPositive, f.CountNegative, a, b)
		}
	}
}

// The joint model equals the solver's for the counts of all classes, and verifies.
func TestJointSelection(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	labels := []string{"a", "b", "c", "d"}
	text, counts := multiclassCorpus(rng, labels, 400)
	vectors := solver.NewVectors(len(labels))
	for _, row := range counts {
		if err := vectors.Add([]int32{0, 1, 2, 3}, row, 1); err != nil {
			t.Fatal(err)
		}
	}
	sel := choose(t, "", "1", "7", "20%")
	sel.Strategy, sel.Smoothing = modelio.Joint, []float64{0, 1}
	var bytes []string
	for _, files := range []int{1, 5} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := runTrain(t, dir, documents(t, spread(t, text, files, "")), sel); err != nil {
			t.Fatal(err)
		}
		if checks, err := verify.Run(t.Context(), dir); err != nil {
			t.Errorf("%v: %v", checks, err)
		}
		p := read(t, dir)
		sums := ""
		for _, f := range p.Manifest.Files {
			sums += f.Name + f.SHA256
		}
		bytes = append(bytes, sums)
		if len(p.Models) != 2*3*len(labels) {
			t.Errorf("%d models", len(p.Models))
		}
		for _, m := range p.Models {
			want, err := joint.Solve(joint.Problem{Vectors: vectors.Group(), K: m.K, Smoothing: m.Smoothing}, solver.Settings{})
			if err != nil || m.Gain != want.Gain || m.UpperBoundGain != want.UpperBound || m.Certificate != want.Certificate.String() {
				t.Errorf("%s: gain %v, bound %v; the solver alone: %v, %v, %v", m.Key(), m.Gain, m.UpperBoundGain, want.Gain, want.UpperBound, err)
			}
			gain := 0.0
			for i, f := range p.Of(m) {
				gain += f.Score
				if c := i % len(labels); f.Class != labels[c] || f.CountPositive != counts[f.Feature][c] || f.Rank != int64(i/len(labels))+1 {
					t.Errorf("%s: %+v", m.Key(), f)
				}
			}
			if math.Abs(gain-m.Gain) > 1e-9*m.Gain+1e-9 {
				t.Errorf("%s: the scores sum to %v, the gain is %v", m.Key(), gain, m.Gain)
			}
		}
	}
	if bytes[0] != bytes[1] {
		t.Error("one file and five make other bytes")
	}
}

// The run of every method verifies, and is ranked by the statistic of the method.
func TestMethods(t *testing.T) {
	counts := filepath.Join(t.TempDir(), "counts")
	if err := runCount(t, counts, documents(t, federalist)); err != nil {
		t.Fatal(err)
	}
	for _, method := range solver.Methods {
		for _, model := range []solver.Model{solver.Multinomial, solver.Bernoulli} {
			sel := choose(t, "Hamilton", "40")
			sel.Method, sel.Model = method, model
			dir := filepath.Join(t.TempDir(), "out")
			if err := runSelect(t, dir, counts, nil, sel); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			p := read(t, dir)
			if m := p.Models[0]; m.Method != string(method) || (m.Certificate == "heuristic") != (method != solver.NFS) || m.Gain > m.UpperBoundGain {
				t.Errorf("%s: %+v", method, m)
			}
			if !slices.IsSortedFunc(p.Features, func(a, b modelio.FeatureRow) int { return cmp.Compare(b.Statistic, a.Statistic) }) {
				t.Errorf("%s: the features are not in the order of their statistic", method)
			}
			if _, err := verify.Run(t.Context(), dir); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
}

// Features that a class does not have are selected by their sum in all others.
func TestFeaturesThatAClassDoesNotHave(t *testing.T) {
	table := save(t, "counts.csv", "feature,a,b,c\nx,40,0,1\ny,0,30,30\nz,0,0,50\nv,20,20,20\nw,0,0,49\nu,0,0,50\nnever,0,0,0\n")
	dir := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, table, nil, choose(t, "a", "4")); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	var names []string
	for _, f := range p.Features {
		names = append(names, f.Feature)
	}
	if !slices.Equal(names, []string{"x", "y", "u", "z"}) || p.Models[0].M != 7 {
		t.Errorf("selected %v of %d", names, p.Models[0].M)
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// A stop word that occurs 10⁹ times among rare words, equal classes, and classes without counts.
func TestClassesThatTellLittle(t *testing.T) {
	for name, table := range map[string]string{
		"huge":  "feature,a,b,c\nviews,1000000000,2000000000,1500000000\nclicks,5,9,3\nbuys,1,4,2\n",
		"alike": "feature,a,b,c\nx,1003,1003,1003\ny,17,17,17\nz,400,400,400\n",
		"empty": "feature,a,b,c,d\nx,0,0,3,1\ny,0,0,1,4\nz,0,0,5,2\n",
	} {
		for _, strategy := range []string{"ovr", "ovo", "joint"} {
			for _, smoothing := range []float64{0, 1} {
				sel := choose(t, "", "1", "2", "3")
				sel.Strategy, sel.Smoothing = selection.Strategy(strategy), []float64{smoothing}
				dir := filepath.Join(t.TempDir(), "out")
				if err := runSelect(t, dir, save(t, "counts.csv", table), nil, sel); err != nil {
					t.Errorf("%s %s %v: %v", name, strategy, smoothing, err)
					continue
				}
				if _, err := verify.Run(t.Context(), dir); err != nil {
					t.Errorf("%s %s %v: %v", name, strategy, smoothing, err)
				}
				warned := slices.ContainsFunc(read(t, dir).Manifest.Warnings, func(w string) bool { return strings.HasPrefix(w, "a vs b: neither side") })
				if want := name == "empty" && strategy == "ovo" && smoothing == 0; warned != want {
					t.Errorf("%s %s %v: the warnings are %q", name, strategy, smoothing, read(t, dir).Manifest.Warnings)
				}
			}
		}
	}
	err := runSelect(t, filepath.Join(t.TempDir(), "out"), save(t, "large.csv", "feature,a,b,c\nx,9e99,9e99,9e99\ny,1,2,3\n"), nil, choose(t, "", "1"))
	if exitOf(err) != modelio.ExitUsage {
		t.Errorf("exit %d: %v", exitOf(err), err)
	}
	contains(t, err, "large.csv: row 1: the counts of")
}

// Smoothing far above the counts makes scores that are small beside them; counts of 1e99 that should have equal shares make
// scores that are rounding errors. The run has the gain of its features, and verifies.
func TestScoresThatAreSmallBesideTheCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	sparse, huge := "feature,a,b,c,d,e,f,g,h\n", "feature,a,b,c,d,e\n"
	for i := range 600 {
		row := make([]int, 8)
		for range 1 + rng.IntN(3) {
			row[rng.IntN(8)] += 1 + rng.IntN(3)
		}
		sparse += fmt.Sprintf("w%d,%s\n", i, strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]"))
	}
	for i := range 100 {
		huge += fmt.Sprintf("w%d", i)
		for c := range 5 {
			huge += fmt.Sprintf(",%v", float64(1+c)*3.3e97*float64(1+i%7)) // rounded, and so not quite proportional
		}
		huge += "\n"
	}
	for name, c := range map[string]struct {
		table     string
		strategy  selection.Strategy
		smoothing []float64
	}{
		"sparse, jointly":    {sparse, modelio.Joint, []float64{1e-3, 1, 100, 1e4, 1e6}},
		"sparse, one by one": {sparse, modelio.OneVersusRest, []float64{1e-3, 1, 100, 1e4, 1e6}},
		"huge, jointly":      {huge, modelio.Joint, []float64{0, 1}},
		"huge, against rest": {huge, modelio.OneVersusRest, []float64{0, 1}},
		"huge, one by one":   {huge, modelio.OneVersusOne, []float64{0, 1}},
	} {
		sel := choose(t, "", "1", "3", "10", "100")
		sel.Strategy, sel.Smoothing = c.strategy, c.smoothing
		dir := filepath.Join(t.TempDir(), "out")
		if err := runSelect(t, dir, save(t, "counts.csv", c.table), nil, sel); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if checks, err := verify.Run(t.Context(), dir); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if text := strings.Join(checks, "\n"); strings.Contains(text, "gain -") || strings.Contains(text, "bound -") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
