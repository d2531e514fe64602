package evaluation

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
)

// sample is what a decision said about documents.
type sample struct {
	decision model.Decision
	classes  []int // true
	weights  []int64
	scores   []model.Scores
}

// randomSample has ties, probabilities of 0 and 1, and classes that no document has or that are never predicted.
func randomSample(rng *rand.Rand, classes, documents int, probable bool) sample {
	s := sample{decision: model.Decision{Problem: "p", Strategy: "ovr", Classifier: "mnb", K: 7, Smoothing: 0.5, Probable: probable}}
	for c := range classes {
		s.decision.Classes = append(s.decision.Classes, fmt.Sprint("c", c))
	}
	used, steps, spread := classes-rng.IntN(2)*rng.IntN(classes), []float64{1, 0.25, 1e-9}[rng.IntN(3)], []float64{1, 5, 60}[rng.IntN(3)]
	for range documents {
		x := model.Scores{Decision: &s.decision, Scores: make([]float64, classes)}
		for c := range x.Scores {
			x.Scores[c] = math.Round(rng.NormFloat64()*spread/steps) * steps
		}
		if classes == 2 {
			x.Scores[0] = -x.Scores[1]
		}
		x.Class = slices.Index(x.Scores, slices.Max(x.Scores))
		if probable {
			largest, sum := slices.Max(x.Scores), 0.0
			if classes == 2 { // of the class with the score 0 in a logistic function
				largest = max(0, x.Scores[1])
				sum = math.Exp(-largest) + math.Exp(x.Scores[1]-largest)
				x.LogProbs = []float64{-largest - math.Log(sum), x.Scores[1] - largest - math.Log(sum)}
			} else {
				for _, l := range x.Scores {
					sum += math.Exp(l - largest)
				}
				for _, l := range x.Scores {
					x.LogProbs = append(x.LogProbs, l-largest-math.Log(sum))
				}
			}
		}
		class := rng.IntN(used)
		if rng.IntN(2) == 0 && x.Class < used {
			class = x.Class
		}
		s.classes, s.scores = append(s.classes, class), append(s.scores, x)
		s.weights = append(s.weights, 1+int64(rng.IntN(6)/5))
	}
	return s
}

func (s sample) tally(maxScores int) *Tally {
	t := New(s.decision, maxScores)
	for i, x := range s.scores {
		t.Add(s.classes[i], x, s.weights[i])
	}
	return t
}

func python(t *testing.T, cases any) (results []map[string]any) {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(outside.Python(t), "../testdata/evaluation/metrics.py")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

func TestFiguresAreThoseOfScikitLearn(t *testing.T) {
	outside.Python(t)
	rng := rand.New(rand.NewPCG(14, 2))
	var samples []sample
	var cases []map[string]any
	for i := range 60 {
		s := randomSample(rng, 2+rng.IntN(5)*(i%2), 1+rng.IntN(400), i%3 > 0)
		samples = append(samples, s)
		c := map[string]any{"classes": len(s.decision.Classes), "y": s.classes, "weights": s.weights, "probabilities": nil}
		var predicted []int
		var scores, probabilities [][]float64
		for _, x := range s.scores {
			predicted, scores = append(predicted, x.Class), append(scores, x.Scores)
			var p []float64
			for _, l := range x.LogProbs {
				p = append(p, probability(l))
			}
			probabilities = append(probabilities, p)
		}
		if c["predicted"], c["scores"] = predicted, scores; s.decision.Probable {
			c["probabilities"] = probabilities
		}
		cases = append(cases, c)
	}
	for i, want := range python(t, cases) {
		got := map[string]float64{}
		var share, mean []float64
		for _, r := range Figures(samples[i].tally(MaxScores), Labels{}) {
			switch r.Metric {
			case CalibrationAccuracy:
				share = append(share, r.Value)
			case CalibrationProbability:
				mean = append(mean, r.Value)
			case Documents, UnknownLabel, WithoutLabel, CalibrationDocuments:
			default:
				got[strings.TrimRight(strings.ReplaceAll(r.Metric+" "+r.Class+" "+r.Predicted, " c", " "), " ")] = r.Value
			}
		}
		if curve, ok := want["calibration"].([]any); ok {
			for j, values := range [][]float64{share, mean} {
				want := curve[j].([]any)
				if len(values) != len(want) {
					t.Fatalf("case %d: %d bins instead of %d", i, len(values), len(want))
				}
				for b := range values {
					if math.Abs(values[b]-want[b].(float64)) > 1e-12 {
						t.Errorf("case %d: bin %d of the calibration: %v instead of %v", i, b, values[b], want[b])
					}
				}
			}
			delete(want, "calibration")
		}
		for name, value := range want {
			if g, ok := got[name]; !ok || !(math.Abs(g-value.(float64)) <= 1e-12*max(1, math.Abs(g))) {
				t.Errorf("case %d, %d classes: %s is %v (%v), scikit-learn's is %v", i, len(samples[i].decision.Classes), name, g, ok, value)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("case %d: scikit-learn does not have %v", i, got)
		}
	}
}

func TestMcNemarIsThatOfSciPy(t *testing.T) {
	var cases []map[string]int64
	for b := range int64(28) {
		for c := range int64(8) {
			cases = append(cases, map[string]int64{"only": b, "other": c})
		}
	}
	cases = append(cases, map[string]int64{"only": 1000, "other": 1100})
	for i, want := range python(t, cases) {
		c := Contingency{Both: 5, Only: cases[i]["only"], OnlyOther: cases[i]["other"], Neither: 7}
		p, statistic, exact := c.McNemar()
		if exact != (c.Only+c.OnlyOther < fewDiscordant) {
			t.Fatalf("%+v: exact is %v", c, exact)
		}
		name := "p"
		if exact {
			name = "exact"
		} else if c.Only != c.OnlyOther && math.Abs(statistic-want["statistic"].(float64)) > 1e-12*statistic {
			t.Errorf("%+v: the statistic is %v, not %v", c, statistic, want["statistic"])
		}
		if want := want[name].(float64); math.Abs(p-want) > 1e-12 && (exact || c.Only != c.OnlyOther) {
			t.Errorf("%+v: p is %v, not %v", c, p, want)
		}
	}
	if p, _, _ := (Contingency{Only: 50, OnlyOther: 50}).McNemar(); p != 1 {
		t.Errorf("p is %v if both are correct equally often", p)
	}
}

// The same rows, bit for bit, for any order, split and encoding.
func TestMergeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	tooMany := false
	for i := range 40 {
		s := randomSample(rng, 2+i%4, 3000, i%3 > 0)
		limit := []int{MaxScores, 2500, 100}[rng.IntN(3)]
		all := s.tally(limit)
		want := Figures(all, Labels{})
		shards := make([]*Tally, 1+rng.IntN(7))
		for j := range shards {
			shards[j] = New(s.decision, limit)
		}
		for _, d := range rng.Perm(len(s.scores)) {
			shards[rng.IntN(len(shards))].Add(s.classes[d], s.scores[d], s.weights[d])
		}
		var pieces []*Tally
		for j, shard := range shards {
			if j%2 == 0 && j > 0 {
				shards[0].Merge(shard)
				continue
			}
			if j > 0 {
				pieces = append(pieces, shard.Pieces()...)
			}
		}
		pieces = append(pieces, shards[0].Pieces()...)
		merged := New(s.decision, limit)
		for _, j := range rng.Perm(len(pieces)) {
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(pieces[j]); err != nil {
				t.Fatal(err)
			}
			var piece Tally
			if err := gob.NewDecoder(&b).Decode(&piece); err != nil {
				t.Fatal(err)
			}
			merged.Merge(&piece)
		}
		if got := Figures(merged, Labels{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("case %d: %v\ninstead of\n%v", i, got, want)
		}
		tooMany = tooMany || all.TooManyScores
		if merged.TooManyScores != all.TooManyScores {
			t.Fatalf("case %d: too many scores: %v, %v, with a limit of %d", i, merged.TooManyScores, all.TooManyScores, limit)
		}
	}
	if !tooMany {
		t.Error("no case has too many scores")
	}
}

func TestPiecesAreSmall(t *testing.T) {
	d := model.Decision{Classes: []string{"a", "b", "c"}}
	t3 := New(d, MaxScores)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range 40_000 {
		x := []float64{rng.NormFloat64() * 1e100, rng.NormFloat64(), rng.ExpFloat64()}
		t3.Add(i%3, model.Scores{Class: i % 2, Scores: x}, math.MaxInt32)
		t3.Confusion[Cell{int32(i), int32(i * 3)}] = math.MaxInt64 // as of many classes
	}
	pieces := t3.Pieces()
	for _, piece := range pieces {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(piece); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 1<<20 {
			t.Errorf("a piece has %d bytes", b.Len())
		}
	}
	if len(pieces) < 8 {
		t.Errorf("%d pieces", len(pieces))
	}
}

func TestSumIsExact(t *testing.T) {
	var s Sum
	for range 1000 {
		s.Add(0.1, 1)
	}
	var once Sum
	once.Add(0.1, 1000)
	if s != once || math.Abs(s.Float()-100) > 1e-13 {
		t.Errorf("%v, %v", s, once)
	}
	var carry Sum
	carry.Add(1-0x1p-53, 1<<40)
	if carry != (Sum{1<<40 - 1, -1 << 64 & (1<<64 - 1<<51)}) && carry.Float() != (1-0x1p-53)*(1<<40) {
		t.Errorf("%v", carry)
	}
}

func TestClassOf(t *testing.T) {
	known := []string{"a", "b", "rest"}
	all := model.Decision{Problem: "joint", Strategy: "joint", Classes: known}
	ovr := model.Decision{Problem: "ovr", Strategy: "ovr", Classes: known}
	one := model.Decision{Problem: `b vs rest`, Strategy: "ovr", Classes: []string{"b", "rest"}}
	for _, c := range []struct {
		decision model.Decision
		label    string
		want     int
	}{
		{all, "a", 0}, {all, "rest", 2}, {all, "A", -1}, {ovr, "b", 1}, {one, "b", 0}, {one, "a", 1}, {one, "rest", 1}, {one, "c", -1}, {all, "", -1},
	} {
		if got := ClassOf(c.decision, known, c.label); got != c.want {
			t.Errorf("%s, %q: class %d, not %d", c.decision.Problem, c.label, got, c.want)
		}
	}
}

func TestUnknownLabelsAreNamed(t *testing.T) {
	d := model.Decision{Problem: "p", Classes: []string{"a", "b"}}
	t1 := New(d, 10)
	t1.Add(0, model.Scores{Class: 0, Scores: []float64{1, -1}}, 1)
	labels := Labels{Known: 3, Without: 2}
	labels.Unknown.Merge(corpusio.LabelCounts{ByName: map[string]int64{"x": 4, "y": 1}})
	got := map[string]float64{}
	for _, r := range Figures(t1, labels) {
		got[r.Metric+" "+r.Class] = r.Value
	}
	for name, want := range map[string]float64{"documents ": 1, "documents_other_class ": 2, "documents_unknown_label ": 5,
		"documents_unknown_label x": 4, "documents_unknown_label y": 1, "documents_without_label ": 2, "accuracy ": 1} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v, not %v", name, v, want)
		}
	}
	if _, ok := got["auc "]; ok {
		t.Error("there is an AUC of one class")
	}
	if rows := Figures(New(d, 10), Labels{}); len(rows) != 3 {
		t.Errorf("without documents: %v", rows)
	}
}

// Infinite log-odds, and numbers that are not, cannot make a figure that is not a number.
func TestExtremeScores(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1)} {
		t1 := New(model.Decision{Classes: []string{"a", "b"}, Probable: true}, 1000)
		t1.Add(0, model.Scores{Class: 0, Scores: []float64{-x, x}, LogProbs: []float64{x, -x}}, 1)
		t1.Add(1, model.Scores{Class: 0, Scores: []float64{-x, x}, LogProbs: []float64{-x, x}}, 1)
		for _, r := range Figures(t1, Labels{}) {
			if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) || r.Metric == AUC && r.Value != 0.5 {
				t.Errorf("%v: %+v", x, r)
			}
		}
	}
}

func TestFiguresAreSorted(t *testing.T) {
	rows := Figures(randomSample(rand.New(rand.NewPCG(1, 1)), 4, 50, true).tally(1000), Labels{})
	if !slices.IsSortedFunc(rows, modelio.EvaluationRow.Compare) || len(rows) < 20 {
		t.Error(rows)
	}
}
