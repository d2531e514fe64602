package model_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// tables are small models with made-up weights.
type tables struct{ model.Params }

func newTables() *tables { return &tables{model.Params{Analyzer: words}} }

// add adds a model of two sides; weights are by feature: aa, bb, cc, …
func (t *tables) add(strategy, positive, negative, requested string, intercept float64, weights ...float64) *tables {
	name := positive + " vs " + negative
	if negative == "" {
		name += "rest"
	}
	k := int64(len(weights))
	t.Models = append(t.Models, modelio.ModelRow{
		Problem: name, Positive: positive, Negative: negative, Model: "multinomial", KRequested: requested, K: k, Strategy: strategy,
		Intercept: intercept, Smoothing: 1,
	})
	for i, w := range weights {
		f := strings.Repeat(string(rune('a'+i)), 2)
		t.Features = append(t.Features, modelio.FeatureRow{Problem: name, K: k, Smoothing: 1, Feature: f, Class: positive, Weight: w})
	}
	return t
}

func (t *tables) model(tb testing.TB) *model.Model {
	tb.Helper()
	m, err := model.New(t.Params)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func names(m *model.Model) (list []string) {
	for _, d := range m.Decisions() {
		list = append(list, fmt.Sprintf("%s %v", d, d.Classes))
	}
	return list
}

// The models of all classes are one decision, if they have the same k or were requested as the same k.
func TestDecisions(t *testing.T) {
	t.Parallel()
	ovr := func(ks ...string) *tables { // of a, b and c, in this order
		tables := newTables()
		for i, k := range ks {
			requested, n, _ := strings.Cut(k, ":")
			tables.add("ovr", string(rune('a'+i%3)), "", requested, 0, make([]float64, len(n))...)
		}
		return tables
	}
	const knee = "auto"
	for _, c := range []struct {
		tables *tables
		want   []string
	}{
		{newTables().add("binary", "b", "a", "2", 0, 1, 2), []string{"b vs a, smoothing 1, k = 2 [a b]"}},
		{newTables().add("binary", "a", "b", "2", 0, 1, 2), []string{"a vs b, smoothing 1, k = 2 [a b]"}},
		{ovr("2:xx", "2:xx", "2:xx"), []string{"ovr, smoothing 1, k = 2 [a b c]"}},
		{newTables().add("ovr", "b", "", "2", 0, 1, 2), []string{"b vs rest, smoothing 1, k = 2 [b rest]"}},
		{newTables().add("ovr", "rest", "", "1", 0, 1), []string{"rest vs rest, smoothing 1, k = 1 [rest not rest]"}},
		{ovr(knee+":x", knee+":xx", knee+":xxx"), []string{"ovr, smoothing 1, k = auto (at most 3) [a b c]"}},
		{ovr(knee+":xx", knee+":xx", knee+":xx"), []string{"ovr, smoothing 1, k = 2 [a b c]"}},
		{ // b has 2 features by both requests
			ovr(knee+":x", "2,"+knee+":xx", knee+":xxx", "2:xx").add("ovr", "c", "", "2", 0, 1, 2),
			[]string{"ovr, smoothing 1, k = 2 [a b c]", "ovr, smoothing 1, k = auto (at most 3) [a b c]"},
		},
		{newTables().add("ovo", "a", "b", "1", 0, 1).add("ovo", "a", "c", "1", 0, 1).add("ovo", "b", "c", "1", 0, 1), []string{"ovo, smoothing 1, k = 1 [a b c]"}},
		{newTables().add("ovo", "b", "a", "1", 0, 1).add("ovo", "b", "c", "1", 0, 1), []string{"b vs a, smoothing 1, k = 1 [a b]", "b vs c, smoothing 1, k = 1 [b c]"}},
	} {
		if got := names(c.tables.model(t)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Of equal scores, the first class by name wins.
func TestTies(t *testing.T) {
	t.Parallel()
	for _, tables := range []*tables{
		newTables().add("binary", "b", "a", "1", 0, 1),
		newTables().add("binary", "a", "b", "1", 0, 1),
		newTables().add("ovr", "c", "", "1", -1, 1).add("ovr", "a", "", "1", -1, 1).add("ovr", "b", "", "1", -1, 1),
	} {
		p, err := tables.model(t).Predict("zz")
		if err != nil || p.Label != "a" {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// The effects of all features and the intercepts are the score of the predicted class, or its distance from the second.
func TestReasonsAddUp(t *testing.T) {
	t.Parallel()
	file := save(t, "train.tsv", "a\tww w1 w1 w2\nb\tww w2 w2 w4\nc\tw3 w4 w1\nc\tw3 w3\na\tw1 ww w5\nb\tw2 w6\n")
	for _, c := range []struct{ strategy, classifier string }{{"ovr", "mnb"}, {"ovo", "mnb"}, {"joint", "mnb"}, {"ovr", "bnb"}, {"joint", "bnb"}} {
		s := of(file, "2", "100%")
		s.selection.Classifier, s.selection.Strategy = c.classifier, selection.Strategy(c.strategy)
		m := open(t, s.trained(t))
		p := m.NewPredictor(nil)
		empty := map[int]model.Scores{}
		of := func(text string) []model.Scores {
			scores, err := p.Text([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return scores
		}
		for i, s := range of("") {
			s.Scores = append([]float64{}, s.Scores...)
			empty[i] = s
		}
		for _, d := range read(t, file) {
			for i, s := range of(d[1] + " other ww") {
				sum := 0.0
				reasons := p.Explain(i, 100)
				for r, reason := range reasons {
					value := reason.Value
					if c.classifier == "bnb" {
						value = 1
					}
					if reason.Effect != value*reason.Weight || r > 0 && math.Abs(reason.Effect) > math.Abs(reasons[r-1].Effect) {
						t.Errorf("%v", reasons)
					}
					sum += reason.Effect
				}
				if few := p.Explain(i, 1); len(reasons) > 0 && (len(few) != 1 || few[0] != reasons[0]) {
					t.Errorf("%v, want the first of %v", few, reasons)
				}
				var want float64
				switch c.strategy {
				case "ovr":
					want = s.Scores[s.Class] - empty[i].Scores[s.Class]
				case "joint":
					second := (s.Class + 1) % 3
					if third := (s.Class + 2) % 3; s.Scores[third] > s.Scores[second] {
						second = third
					}
					want = s.Scores[s.Class] - s.Scores[second] - empty[i].Scores[s.Class] + empty[i].Scores[second]
				default:
					continue
				}
				if math.Abs(sum-want) > 1e-12 {
					t.Errorf("%s %s, %s: %q: the effects add up to %v, want %v: %v", c.strategy, c.classifier, s.Decision, d[1], sum, want, reasons)
				}
			}
		}
	}
	m := newTables().add("ovo", "a", "b", "2", 0, 1, 2).add("ovo", "a", "c", "2", 0, 4, 8).add("ovo", "b", "c", "2", 0, 16, -32).model(t)
	p := m.NewPredictor(nil)
	if _, err := p.Text([]byte("aa bb bb")); err != nil {
		t.Fatal(err)
	}
	if got := p.Explain(0, 5); !reflect.DeepEqual(got, []model.Reason{{Feature: "bb", Value: 2, Weight: 10, Effect: 20}, {Feature: "aa", Value: 1, Weight: 5, Effect: 5}}) {
		t.Errorf("%+v", got) // a wins against b by 1 and 2, and against c by 4 and 8
	}
}

// With smoothing 0, an infinite weight is the strongest reason.
func TestReasonsWithoutSmoothing(t *testing.T) {
	t.Parallel()
	s := of(save(t, "train.tsv", "a\tww ww ww w1\nb\tww w2 w2\n"), "3")
	s.selection.Smoothing = []float64{0}
	p := open(t, s.trained(t)).NewPredictor(nil)
	for text, want := range map[string]string{"ww ww ww ww w1": "a [w1 ww] [+Inf +Inf]", "w1 w2 w2": "b [w2 w1] [+Inf -Inf]", "w1 w2": "b [w2 w1] [+Inf -Inf]"} {
		scores, err := p.Text([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var effects []float64
		for _, r := range p.Explain(0, 3) {
			names, effects = append(names, r.Feature), append(effects, r.Effect)
		}
		effects = effects[:min(2, len(effects))]
		if text == "ww ww ww ww w1" {
			effects[1] = effects[0] // finite
		}
		if got := fmt.Sprint(scores[0].Decision.Classes[scores[0].Class], " ", names, " ", effects); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A predictor of some decisions says the same as one of all.
func TestKeep(t *testing.T) {
	t.Parallel()
	s := of(federalist, "2", "9", "100")
	s.selection.Smoothing = []float64{0, 0.5, 1}
	m := open(t, s.trained(t))
	all := m.NewPredictor(nil)
	none := m.NewPredictor(func(model.Decision) bool { return false })
	for i, d := range m.Decisions() {
		one := m.NewPredictor(func(o model.Decision) bool { return o.K == d.K && o.Smoothing == d.Smoothing })
		if n := one.Columns(); n != int(d.K) {
			t.Errorf("%s: %d columns", d, n)
		}
		for _, document := range read(t, federalist)[:20] {
			a, err := all.Text([]byte(document[1]))
			b, err2 := one.Clone().Text([]byte(document[1]))
			c, err3 := none.Text([]byte(document[1]))
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a[i], b[0]) || len(c) != 0 {
				t.Errorf("%s: %+v, alone %+v", d, a[i], b[0])
			}
		}
	}
}

// Features by name have the same scores as those of a text.
func TestFeatures(t *testing.T) {
	t.Parallel()
	p := newTables().add("binary", "b", "a", "2", 0.5, 1, -2).model(t).NewPredictor(nil)
	for text, features := range map[string][]feature.Value{
		"aa aa zz bb": {{Name: []byte("bb"), Value: 1}, {Name: []byte("aa"), Value: 2}, {Name: []byte("zz"), Value: 9}},
		"aa":          {{Name: []byte("aa"), Value: 0.25}, {Name: []byte("aa"), Value: 0.75}, {Name: []byte("bb"), Value: 0}},
	} {
		a, err := p.Text([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(a)
		if b, err := p.Features(features); err != nil || fmt.Sprint(b) != want {
			t.Errorf("%s: %v, want %v; %v", text, b, want, err)
		}
	}
	if _, err := p.Features([]feature.Value{{Name: []byte("aa"), Value: math.NaN()}}); err == nil {
		t.Error("NaN is accepted")
	}
	if got := p.Explain(0, 5); len(got) != 0 {
		t.Errorf("%v after an error", got)
	}
}

// Without smoothing, a naive Bayes model of occurrences that were selected by documents has no limits, so train refuses it.
func TestInfiniteWeights(t *testing.T) {
	t.Parallel()
	s := of(federalist, "9")
	s.selection.Model, s.selection.Classifier = solver.Bernoulli, modelio.MultinomialNB
	s.selection.Smoothing = []float64{0}
	var failed *modelio.Error
	if err := s.selection.Validate(); !errors.As(err, &failed) || failed.Exit != modelio.ExitUsage || !strings.Contains(err.Error(), "--smoothing above 0") {
		t.Errorf("%v", err)
	}
}

// Tables that do not fit together are errors.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*tables){
		func(p *tables) { p.Models = nil },
		func(p *tables) { p.Models = p.Models[:1] },
		func(p *tables) { p.Features = p.Features[1:] },
		func(p *tables) { p.Features[0].Class = "c" },
		func(p *tables) { p.Features[0].Feature = "bb" },
		func(p *tables) { p.Features[0].Feature = "" },
		func(p *tables) { p.Features[0].Weight = math.NaN() },
		func(p *tables) { p.Features[0].Weight = math.Inf(1) },
		func(p *tables) { p.Models[0].Intercept = math.NaN() },
		func(p *tables) { p.Models[0].Strategy = "tree" },
		func(p *tables) { p.Models[1].Model = "poisson" },
		func(p *tables) { p.Models[1].Classifier = "forest" },
		func(p *tables) {
			for i := range p.Models {
				p.Models[i].Smoothing, p.Features[i].Smoothing = math.Inf(1), math.Inf(1)
			}
		},
		func(p *tables) { p.Models[0].Strategy = modelio.Joint },
		func(p *tables) { p.Models[0].Classifier = "svm" },
		func(p *tables) { p.Models = append(p.Models, p.Models[0]) },
		func(p *tables) { p.Features[0], p.Features[3] = p.Features[3], p.Features[0] },
		func(p *tables) { p.Analyzer.Weights = &modelio.Weights{Name: "tfidf", Norm: "l2", Unit: "2^-20"} }, // no IDF
		func(p *tables) { p.Analyzer.Unit = "sentence" },
		func(p *tables) { // no documents
			p.Models[0].Smoothing, p.Models[0].Classifier, p.Models[1].Classifier = 0, "bnb", "bnb"
			p.Features[0].Smoothing, p.Features[1].Smoothing = 0, 0
		},
	} {
		tables := newTables().add("ovr", "a", "", "2", 0, 1, 2).add("ovr", "b", "", "2", 0, 3, 4)
		if _, err := model.New(tables.Params); err != nil {
			t.Fatal(err)
		}
		change(tables)
		_, err := model.New(tables.Params)
		var failed *modelio.Error
		if !errors.As(err, &failed) || failed.Exit != modelio.ExitData && failed.Exit != modelio.ExitUsage {
			t.Errorf("%v", err)
		}
	}
}
