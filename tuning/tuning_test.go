package tuning

import (
	"bytes"
	"encoding/gob"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

// The folds are those of the Python function in docs/tune.md.
func TestFolds(t *testing.T) {
	for text, want := range map[string]int{"": 2, "upon": 0, "été": 6} {
		if got := (Folds{Number: 10}).Of(&corpusio.Document{Text: []byte(text)}); got != want {
			t.Errorf("%q: fold %d, want %d", text, got, want)
		}
		if got := (Folds{Number: 10, ByGroup: true}).Of(&corpusio.Document{Text: []byte("x"), Group: []byte(text)}); got != want {
			t.Errorf("group %q: fold %d, want %d", text, got, want)
		}
	}
	row := func(name string, value float64) *corpusio.Document {
		return &corpusio.Document{Features: []feature.Value{{Name: []byte(name), Value: value}}}
	}
	seen := map[int]bool{}
	for i := range 100 {
		seen[Folds{Number: 4}.Of(row("a", float64(i)))] = true
	}
	first, again := (Folds{Number: 50}).Of(row("a", 1)), (Folds{Number: 50}).Of(row("a", 1))
	if len(seen) != 4 || first != again {
		t.Errorf("rows of matrices are in %d of 4 folds", len(seen))
	}
}

func TestLabels(t *testing.T) {
	for _, label := range []string{"x", "fold03/x", "", "/", "a b"} {
		text := string(AppendLabel(nil, 42, []byte(label)))
		fold, got, err := CutLabel(text)
		if fold != 42 || got != label || err != nil || LabelOf(text) != label {
			t.Errorf("%q: %d, %q, %v", text, fold, got, err)
		}
	}
	for _, text := range []string{"", "fold1/x", "fold", "foldxx/y", "y"} {
		if _, _, err := CutLabel(text); err == nil {
			t.Errorf("%q has a fold", text)
		}
	}
}

func grid(t testing.TB, ks, smoothings string) Grid {
	t.Helper()
	s, err := selection.ParseParams(map[string]string{"k": ks, "smoothing": smoothings, "model": "multinomial", "strategy": "ovr", "method": "nfs"})
	if err != nil {
		t.Fatal(err)
	}
	return Grid{Settings: []selection.Params{s}}
}

// result has two folds of 1,000 documents with the given numbers of correct ones, by point.
func result(g Grid, metric Metric, ks []int64, correct ...[2]int64) Result {
	o := Outline{Classes: []string{"x"}, Probable: true, Expected: [][]int64{{1000}, {1000}}, Selected: [][]int64{{}, {}}}
	tally := newTally(2, len(correct), 1)
	for i, c := range correct {
		for f := range 2 {
			o.Selected[f] = append(o.Selected[f], ks[i%len(ks)])
			tally.Figures[f][i].Correct[0] = c[f]
			tally.Figures[f][i].LogLoss.Add(float64(1000-c[f]), 1)
		}
	}
	return NewResult(g, metric, o, tally)
}

func TestChoice(t *testing.T) {
	g, ks := grid(t, "10,20,30", "0.1,1"), []int64{10, 20, 30}
	for _, c := range []struct {
		what         string
		correct      [][2]int64
		best, chosen string
	}{
		// The standard error of 900 and 920 is 10.
		{"within one standard error", [][2]int64{{890, 890}, {905, 905}, {900, 920}, {0, 0}, {0, 0}, {0, 0}}, "30 0.1", "20 0.1"},
		{"just within", [][2]int64{{900, 900}, {905, 905}, {900, 920}, {0, 0}, {0, 0}, {0, 0}}, "30 0.1", "10 0.1"},
		{"no spread", [][2]int64{{900, 900}, {905, 905}, {910, 910}, {0, 0}, {0, 0}, {0, 0}}, "30 0.1", "30 0.1"},
		{"the better mean at one k", [][2]int64{{0, 0}, {901, 901}, {900, 920}, {0, 0}, {902, 902}, {0, 0}}, "30 0.1", "20 1"},
		{"the larger smoothing of equal ones", [][2]int64{{0, 0}, {905, 905}, {900, 920}, {0, 0}, {905, 905}, {900, 920}}, "30 1", "20 1"},
		{"equal bests: the fewest features", [][2]int64{{910, 910}, {910, 910}, {910, 910}, {0, 0}, {0, 0}, {0, 0}}, "10 0.1", "10 0.1"},
	} {
		for _, metric := range Metrics {
			r := result(g, metric, ks, c.correct...)
			name := func(i int) string { return fmt.Sprint(r.Points[i].Requested(), " ", r.Points[i].Alpha()) }
			if name(r.Best) != c.best || name(r.Chosen) != c.chosen {
				t.Errorf("%s by %s: best %s, chosen %s; want %s and %s", c.what, metric, name(r.Best), name(r.Chosen), c.best, c.chosen)
			}
		}
	}
	r := result(g, Accuracy, ks, [2]int64{900, 920}, [2]int64{}, [2]int64{}, [2]int64{}, [2]int64{}, [2]int64{})
	if mean, e := r.Points[0].Mean(Accuracy); mean != 0.91 || math.Abs(e-0.01) > 1e-15 {
		t.Errorf("%v ± %v", mean, e)
	}
	rows := r.Rows(Outline{Classes: []string{"x"}, Probable: true, Expected: [][]int64{{1000}, {1000}}}, "count")
	if len(rows) != 18 || rows[0].Fold != nil || *rows[2].Fold != 1 || rows[2].Accuracy != 0.92 || rows[0].Documents != 2000 || !rows[0].Chosen || rows[3].Chosen {
		t.Errorf("%+v", rows[:3])
	}
}

// Balanced accuracy leaves out the classes that a fold does not have.
func TestBalancedAccuracy(t *testing.T) {
	s := Scored{Figures: map[Metric][]float64{}}
	s.add([]int64{10, 0, 90}, Figures{Correct: []int64{5, 0, 81}}, false)
	if s.Figures[Accuracy][0] != 0.86 || math.Abs(s.Figures[Balanced][0]-0.7) > 1e-15 || s.Figures[LogLoss] != nil {
		t.Errorf("%v", s.Figures)
	}
}

// The sum of the pieces of tallies does not depend on their order.
func TestTalliesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var pieces []*Tally
	for range 5 {
		tally := newTally(3, 4, 2)
		tally.Read = rng.Int64N(100)
		for f := range 3 {
			tally.Documents[f][rng.IntN(2)] += rng.Int64N(100)
			for p := range 4 {
				tally.Figures[f][p].Correct[rng.IntN(2)] += rng.Int64N(100)
				tally.Figures[f][p].LogLoss.Add(rng.ExpFloat64(), 1+rng.Int64N(3))
			}
		}
		pieces = append(pieces, tally.Pieces()...)
	}
	var want *Tally
	for range 10 {
		rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		sum := newTally(3, 4, 2)
		for _, p := range pieces {
			sum.Merge(p)
		}
		if want == nil {
			want = sum
		}
		if !reflect.DeepEqual(sum, want) {
			t.Fatal("another order has another sum")
		}
	}
	if want.Figures[0][0].LogLoss == (evaluation.Sum{}) {
		t.Error("nothing was added up")
	}
}

// Pieces are small enough for a shuffle.
func TestPiecesAreSmall(t *testing.T) {
	for _, size := range []struct{ points, classes int }{{20_000, 10}, {3, 60_000}} {
		tally := newTally(2, size.points, size.classes)
		for _, figures := range tally.Figures {
			for i := range figures {
				figures[i].Correct[0] = int64(i)
				for c := 1; c < size.classes; c++ {
					figures[i].Correct[c] = math.MaxInt64
				}
			}
		}
		sum := newTally(2, size.points, size.classes)
		for _, p := range tally.Pieces() {
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(p); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 1<<20 {
				t.Errorf("%v: a piece has %d bytes", size, b.Len())
			}
			sum.Merge(p)
		}
		if !reflect.DeepEqual(sum, tally) {
			t.Errorf("%v: the pieces have another sum", size)
		}
	}
}

func TestChart(t *testing.T) {
	g := grid(t, "10,20%,30", "0.1,1")
	g.Settings = append(g.Settings, g.Settings[0])
	g.Settings[1].Pruning.MinDF.Text = `2<>&"`
	var correct [][2]int64
	for i := range int64(12) {
		correct = append(correct, [2]int64{800 + 10*i, 810 + 10*i})
	}
	for _, ks := range [][]int64{{10, 20, 30}, {7, 7, 7}} {
		for _, metric := range Metrics {
			var b bytes.Buffer
			if err := result(g, metric, ks, correct...).WriteChart(&b); err != nil {
				t.Fatal(err)
			}
			d := xml.NewDecoder(&b)
			rings, text := 0, b.String()
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%v in %s", err, text)
				}
				if e, ok := token.(xml.StartElement); ok && slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Value == "chosen" }) {
					rings++
				}
			}
			if rings != 1 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s, %v: %d points are chosen in %s", metric, ks, rings, text)
			}
		}
	}
}

func TestFoldsThatCannotBeCompared(t *testing.T) {
	class := func(fold int, label string, documents int64) modelio.Class {
		return modelio.Class{Label: string(AppendLabel(nil, fold, []byte(label))), Documents: &documents}
	}
	for _, c := range []struct {
		classes     []modelio.Class
		want, warns string
	}{
		{[]modelio.Class{class(0, "x", 5), class(0, "y", 5), class(1, "x", 5), class(1, "y", 5)}, "", ""},
		{[]modelio.Class{class(0, "x", 9), class(0, "y", 5)}, "fold 1 (of 0 to 1) has none of the 14 documents", ""},
		{[]modelio.Class{class(0, "x", 9), class(0, "y", 5), class(1, "x", 5)}, "all documents of class y (5) are in fold 0", ""},
		{[]modelio.Class{class(0, "x", 90), class(0, "y", 10), class(1, "x", 1), class(1, "y", 99)}, "", "class x is 1.0 % of fold 1, but 45.5 % of all documents"},
	} {
		d, err := divide(c.classes, 2)
		if err != nil {
			t.Fatal(err)
		}
		warnings, err := d.validate()
		var failed *modelio.Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &failed) || failed.Exit != modelio.ExitData || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if text := strings.Join(warnings, "; "); !strings.Contains(text, c.warns) || c.warns == "" && text != "" {
			t.Errorf("warnings %q, want %q", text, c.warns)
		}
	}
	if _, err := divide([]modelio.Class{class(7, "x", 1)}, 2); err == nil {
		t.Error("fold 7 is one of 2")
	}
}

func TestImportsNoBeam(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if strings.Contains(name, "beam/sdks") {
			t.Errorf("imports %s", strings.TrimSpace(name))
		}
	}
}
