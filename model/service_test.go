package model_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Many goroutines get what one gets.
func TestPredictInManyGoroutines(t *testing.T) {
	t.Parallel()
	m := open(t, of(federalist, "50").trained(t))
	documents := read(t, federalist)
	want := make([]model.Prediction, len(documents))
	right := 0
	for i, d := range documents {
		p, err := m.Predict(d[1])
		if err != nil {
			t.Fatal(err)
		}
		if want[i] = p; p.Label == d[0] {
			right++
		}
		if math.Abs(p.Probability-math.Exp(p.LogProbability)) > 0 || p.Scores[0] != -p.Scores[1] || len(p.Classes) != 2 {
			t.Errorf("%+v", p)
		}
	}
	if right < 60 {
		t.Errorf("%d of %d documents are right", right, len(documents))
	}
	var goroutines sync.WaitGroup
	for g := range 20 {
		goroutines.Go(func() {
			for i := range 2 * len(documents) {
				at := (i*7 + g) % len(documents)
				if got, err := m.Predict(documents[at][1]); err != nil || !reflect.DeepEqual(got, want[at]) {
					t.Errorf("%+v, want %+v; %v", got, want[at], err)
				}
			}
		})
	}
	goroutines.Wait()
}

// A document without any selected feature has the odds of the classes.
func TestEmptyDocuments(t *testing.T) {
	t.Parallel()
	m := open(t, of(federalist, "9").trained(t))
	for _, text := range []string{"", " ", "zzz", "\xff\xfe", strings.Repeat("\x00", 1000)} {
		p, err := m.Predict(text)
		if err != nil || p.Label != "Hamilton" || math.Abs(p.Probability-51./65) > 1e-15 {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// With smoothing 0 and values that are not integers, infinite weights of equal values cancel exactly.
func TestInfiniteWeightsCancel(t *testing.T) {
	t.Parallel()
	s := of(save(t, "train.tsv", "a\taa bb cc\nb\tdd ee ff\n"), "6")
	s.documents.Weights = kernel.Weights{Scheme: kernel.Log, Exponent: -20}
	s.selection.Smoothing = []float64{0}
	m := open(t, s.trained(t))
	repeat := func(times ...int) (text string) {
		for i, n := range times {
			text += strings.Repeat(strings.Repeat(string(rune('a'+i)), 2)+" ", n)
		}
		return text
	}
	for i := range 12 {
		for j := range 12 {
			p, err := m.Predict(repeat(i, j, 3, 3, i, j))
			if err != nil || math.Abs(p.Probability-0.5) > 1e-14 {
				t.Errorf("%d %d: %+v, %v", i, j, p, err)
			}
			if p, err := m.Predict(repeat(i, j, 3, 4, i, j)); err != nil || p.Label != "b" || p.Probability != 1 || !math.IsInf(p.Score, 1) {
				t.Errorf("%d %d: %+v, %v", i, j, p, err)
			}
		}
	}
}

// The features of matrices are not those of a text.
func TestMatrices(t *testing.T) {
	t.Parallel()
	m := open(t, of(save(t, "train.svm", strings.Repeat("1 1:2 3:0.5\n-1 2:1 3:1.5\n", 5)), "3").trained(t))
	_, err := m.Predict("1 2 3")
	var usage *modelio.Error
	if !errors.As(err, &usage) || usage.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), "matrices") {
		t.Error(err)
	}
	for name, want := range map[string]string{"1": "1", "2": "-1"} {
		scores, err := m.NewPredictor(nil).Features([]feature.Value{{Name: []byte(name), Value: 0.5}})
		if err != nil || scores[0].Decision.Classes[scores[0].Class] != want {
			t.Errorf("%s: %v, %v", name, scores, err)
		}
	}
}

// A k that the model lacks is an error that names the nearest.
func TestAt(t *testing.T) {
	t.Parallel()
	s := of(federalist, "9", "100")
	s.selection.Smoothing = []float64{0.1, 1}
	m := open(t, s.trained(t))
	for _, c := range []struct {
		k         int64
		smoothing float64
		want      string
	}{
		{10, 1, "k = 9 with smoothing 1"}, {1000, 1, "k = 100 with smoothing 1"}, {100, 0.2, "k = 100 with smoothing 0.1"}, {0, 5, "k = 9 with smoothing 1"},
	} {
		_, err := m.At(c.k, c.smoothing)
		var usage *modelio.Error
		if !errors.As(err, &usage) || usage.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), "the nearest is "+c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	one, err := m.At(100, 0.1)
	if err != nil || len(one.Decisions()) != 1 || one.SHA256() != m.SHA256() || one.SHA256() == "" {
		t.Fatalf("%v, %v", one.Decisions(), err)
	}
	p, err := one.Predict(read(t, federalist)[0][1])
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.NewPredictor(nil).Text([]byte(read(t, federalist)[0][1]))
	if err != nil {
		t.Fatal(err)
	}
	if got := scores[1]; got.Decision.K != 100 || got.Scores[got.Class] != p.Score { // whatever else is computed
		t.Errorf("%v, alone %v", got, p)
	}
}

// The predictor allocates nothing for a document.
func TestNoAllocations(t *testing.T) {
	s := of(federalist, "9", "100")
	s.documents.Analyzer.Max = 2
	p := open(t, s.trained(t)).NewPredictor(nil)
	text := []byte(read(t, federalist)[0][1])
	if n := testing.AllocsPerRun(10, func() {
		if _, err := p.Text(text); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPredict(b *testing.B) {
	for _, ks := range [][]string{{"100"}, {"1000"}, {"10", "20", "50", "100", "200", "500", "1000"}} {
		b.Run(strings.Join(ks, ","), func(b *testing.B) {
			m := open(b, of(federalist, ks...).trained(b))
			p := m.NewPredictor(nil)
			var texts [][]byte
			tokens := 0
			for _, d := range read(b, federalist) {
				texts = append(texts, []byte(d[1]))
				tokens += len(strings.Fields(d[1]))
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for _, text := range texts {
					if _, err := p.Text(text); err != nil {
						b.Fatal(err)
					}
				}
				n += tokens
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/token")
		})
	}
}

func BenchmarkModelPredict(b *testing.B) {
	m := open(b, of(federalist, "1000").trained(b))
	text := read(b, federalist)[0][1]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Predict(text); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(strings.Fields(text))), "ns/token")
}
