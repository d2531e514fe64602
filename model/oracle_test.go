package model_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// fitted is a case of testdata/decide.py: a model, and the documents that it was made of and others.
type fitted struct {
	name      string
	model     *model.Model
	Files     []string          `json:"files"` // the first is the training set
	Model     string            `json:"model"`
	Ngrams    [2]int            `json:"ngrams"`
	IDF       string            `json:"idf,omitempty"` // the norm
	Buckets   map[string]string `json:"buckets"`       // of words
	Decisions []fittedDecision  `json:"decisions"`
}

type fittedDecision struct {
	Strategy  string     `json:"strategy"`
	Smoothing float64    `json:"smoothing"`
	Classes   []string   `json:"classes"`
	Columns   [][]string `json:"columns"` // by problem
}

type decided struct {
	Predicted     []string    `json:"predicted"`
	Probabilities [][]float64 `json:"probabilities"`
	Logs          [][]float64 `json:"logs"`
	Decisions     [][]float64 `json:"decisions"`
	Scale         float64     `json:"scale"`
}

// newFitted returns the case of a run.
func newFitted(t *testing.T, dir string, files ...string) fitted {
	t.Helper()
	run, err := modelio.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	a := run.Manifest.Analyzer
	f := fitted{name: t.Name(), model: open(t, dir), Files: files, Model: run.Models[0].Model, Ngrams: a.Ngrams}
	if a.Weights != nil && a.Weights.Name == "tfidf" {
		f.IDF = a.Weights.Norm
	}
	if a.HashBits > 0 {
		f.Buckets = map[string]string{}
		config, err := kernel.FromAnalyzer(*a)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, d := range read(t, file) {
				kernel.EachFeature(config, []byte(d[1]), func(name []byte) {
					key, _ := feature.Hash(name)
					f.Buckets[string(name)] = string(kernel.AppendBucket(nil, key, a.HashBits))
				})
			}
		}
	}
	// columns are the features of a problem, once each.
	columns := func(d model.Decision, positive, negative string) (names []string) {
		for _, m := range run.Models {
			ofPair := m.Positive == positive && (m.Negative == negative || negative == "") || m.Positive == negative && m.Negative == positive
			ofK := !d.Mixed && d.K == m.K || d.Mixed && slices.Contains(strings.Split(m.KRequested, ","), d.Requested)
			if m.Strategy != d.Strategy || m.Smoothing != d.Smoothing || !ofK || !ofPair {
				continue
			}
			for _, r := range run.Of(m) { // of a joint model, those of all classes
				if r.Class == m.Positive {
					names = append(names, r.Feature)
				}
			}
			return names
		}
		t.Fatalf("%s: no model of %s and %s", d, positive, negative)
		return nil
	}
	for _, d := range f.model.Decisions() {
		c := fittedDecision{Strategy: d.Strategy, Smoothing: d.Smoothing, Classes: d.Classes}
		switch {
		case d.Strategy == modelio.Binary:
			c.Columns = [][]string{columns(d, d.Classes[1], d.Classes[0])}
		case d.Rest, d.Strategy == modelio.Joint:
			c.Columns = [][]string{columns(d, d.Classes[0], "")}
		case d.Strategy == modelio.OneVersusRest:
			for _, label := range d.Classes {
				c.Columns = append(c.Columns, columns(d, label, ""))
			}
		default:
			for i, a := range d.Classes {
				for _, b := range d.Classes[i+1:] {
					c.Columns = append(c.Columns, columns(d, a, b))
				}
			}
		}
		f.Decisions = append(f.Decisions, c)
	}
	return f
}

// read returns the labels and texts of a file.
func read(t *testing.T, file string) (documents [][2]string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		documents = append(documents, [2]string{label, text})
	}
	return documents
}

func python(t *testing.T, cases []fitted) (results [][]decided) {
	t.Helper()
	python := outside.Python(t)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/decide.py")
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

// compare compares what a model says with what scikit-learn says. It returns the largest difference of the numbers.
func compare(t *testing.T, f fitted, results []decided) (largest float64) {
	t.Helper()
	p, document, faults := f.model.NewPredictor(nil), -1, 0
	near := func(what string, s model.Scores, got, want []float64, scale float64) {
		for c := range want {
			distance := math.Abs(got[c]-want[c]) / max(1, scale)
			if got[c] == want[c] { // infinities
				distance = 0
			}
			largest = max(largest, distance)
			if faults++; !(distance <= 1e-12) && faults < 5 {
				t.Errorf("%s, document %d, %s: %s %v, want %v", f.name, document, s.Decision, what, got, want)
				return
			} else if distance <= 1e-12 {
				faults--
			}
		}
	}
	for _, file := range f.Files {
		for _, text := range read(t, file) {
			document++
			scores, err := p.Text([]byte(text[1]))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range scores {
				want := results[i]
				if s.LogProbs != nil {
					probabilities, sum := make([]float64, len(s.LogProbs)), 0.0
					for c, x := range s.LogProbs {
						probabilities[c] = math.Exp(x)
						sum += probabilities[c]
					}
					if !(math.Abs(sum-1) < 1e-14*float64(len(probabilities))) {
						t.Fatalf("%s: the probabilities add up to %v", f.name, sum)
					}
					near("probabilities", s, probabilities, want.Probabilities[document], want.Scale)
				}
				if want.Logs != nil {
					near("logarithms", s, s.LogProbs, want.Logs[document], want.Scale)
				}
				if want.Decisions != nil {
					near("decision values", s, s.Scores, want.Decisions[document], 1)
				}
				if got := s.Decision.Classes[s.Class]; got != want.Predicted[document] && !saturated(want, document) {
					if faults++; faults < 5 {
						t.Errorf("%s, document %d, %s: %s, want %s", f.name, document, s.Decision, got, want.Predicted[document])
					}
				}
			}
		}
	}
	return largest
}

// saturated reports whether scikit-learn cannot tell the best classes apart, because their probabilities are equal numbers.
func saturated(d decided, document int) bool {
	if d.Decisions != nil {
		return false
	}
	best, times := 0.0, 0
	for _, p := range d.Probabilities[document] {
		if p > best*(1+1e-12) {
			best, times = p, 0
		}
		if p >= best*(1-1e-12) {
			times++
		}
	}
	return times > 1
}

// Probabilities, decision values and predicted classes are those of scikit-learn's classes fitted to the same columns.
func TestDecisionsAreThoseOfScikitLearn(t *testing.T) {
	outside.Python(t)
	disputed := filepath.Join(filepath.Dir(federalist), "disputed.tsv")
	rng := rand.New(rand.NewPCG(14, 1))
	five := []string{"a", "b", "c", "d vs e", "rest"}
	trainFive, testFive := save(t, "five.tsv", draw(rng, five, 300)), save(t, "more.tsv", draw(rng, five, 60))
	var cases []fitted
	add := func(name string, s settings, files ...string) {
		f := newFitted(t, s.trained(t), files...)
		f.name = name
		cases = append(cases, f)
	}
	for _, of2 := range []solver.Model{solver.Multinomial, solver.Bernoulli} {
		s := of(federalist, "1", "2", "9", "100", "5%")
		s.selection.Model, s.selection.Smoothing = of2, []float64{0.1, 1}
		s.documents.Analyzer.Max = 2
		add("two classes", s, federalist, disputed)
		for _, strategy := range []string{"ovr", "ovo", "joint"} {
			s := of(trainFive, "1", "3", "30%", "auto:knee")
			s.selection.Model, s.selection.Smoothing = of2, []float64{0, 0.1, 1}
			if err := setStrategy(&s, strategy); err != nil {
				t.Fatal(err)
			}
			add("five classes", s, trainFive, testFive)
		}
	}
	s := of(federalist, "20")
	s.documents.HashBits = 9
	add("buckets", s, federalist, disputed)
	for _, strategy := range []string{"ovr", "ovo"} {
		s = of(trainFive, "10")
		s.selection.Positive = "rest"
		if err := setStrategy(&s, strategy); err != nil {
			t.Fatal(err)
		}
		add("positive "+strategy, s, trainFive, testFive)
	}
	results := python(t, cases)
	for i, f := range cases {
		t.Logf("%s, %s, %d decisions: largest difference %.2g", f.name, f.Model, len(f.Decisions), compare(t, f, results[i]))
	}
}

func setStrategy(s *settings, name string) (err error) {
	s.selection.Strategy, err = selection.ParseStrategy(name)
	return err
}
