package model_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
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
	name       string
	model      *model.Model
	tolerance  float64
	Files      []string          `json:"files"` // the first is the training set
	Classifier string            `json:"classifier"`
	Ngrams     [2]int            `json:"ngrams"`
	IDF        string            `json:"idf,omitempty"` // the norm
	Buckets    map[string]string `json:"buckets"`       // of words
	Decisions  []fittedDecision  `json:"decisions"`
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
	f := fitted{tolerance: 1e-12, model: open(t, dir), Files: files, Classifier: run.Models[0].Classifier, Ngrams: a.Ngrams}
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
func read(t testing.TB, file string) (documents [][2]string) {
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

// python runs a script with input as JSON, and returns its output.
func python[T any](t *testing.T, script string, cases any) (results []T) {
	t.Helper()
	python := outside.Python(t)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", script))
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
			if faults++; !(distance <= f.tolerance) && faults < 5 {
				t.Errorf("%s, document %d, %s: %s %v, want %v", f.name, document, s.Decision, what, got, want)
				return
			} else if distance <= f.tolerance {
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
	t.Parallel()
	outside.Python(t)
	disputed := filepath.Join(filepath.Dir(federalist), "disputed.tsv")
	rng := rand.New(rand.NewPCG(14, 1))
	five := []string{"a", "b", "c", "d vs e", "rest"}
	trainFive, testFive := save(t, "five.tsv", draw(rng, five, 300)), save(t, "more.tsv", draw(rng, five, 60))
	var cases []fitted
	add := func(name string, s settings, files ...string) *fitted {
		f := newFitted(t, s.trained(t), files...)
		f.name = name
		cases = append(cases, f)
		return &cases[len(cases)-1]
	}
	for _, classifier := range []string{modelio.MultinomialNB, modelio.BernoulliNB, modelio.ComplementNB} {
		of2 := solver.Multinomial
		if classifier == modelio.BernoulliNB {
			of2 = solver.Bernoulli
		}
		s := of(federalist, "1", "9", "5%")
		s.selection.Model, s.selection.Classifier, s.selection.Smoothing = of2, classifier, []float64{0.1, 1}
		if classifier == modelio.MultinomialNB {
			s.documents.Analyzer.Max = 2
		}
		add("two classes", s, federalist, disputed)
		for _, strategy := range []selection.Strategy{"ovr", "ovo", "joint"} {
			s := of(trainFive, "1", "3", "30%", "auto:knee")
			s.selection.Model, s.selection.Classifier, s.selection.Strategy = of2, classifier, strategy
			s.selection.Smoothing = []float64{0.1, 1}
			add("five classes by "+string(strategy), s, trainFive, testFive)
		}
	}
	s := of(federalist, "20")
	s.documents.HashBits = 9
	add("buckets", s, federalist, disputed)
	s = of(federalist, "20")
	s.documents.Weights = kernel.Weights{Scheme: kernel.TFIDF, Norm: kernel.L2, Exponent: -40}
	add("tf-idf", s, federalist, disputed).tolerance = 1e-9 // the counts are rounded to the unit
	s = of(federalist, "20")
	s.selection.Classifier = modelio.BernoulliNB // selected by occurrences
	add("presence", s, federalist, disputed)
	for _, strategy := range []selection.Strategy{"ovr", "ovo"} {
		s = of(trainFive, "10")
		s.selection.Positive, s.selection.Strategy = "rest", strategy
		add("positive class of "+string(strategy), s, trainFive, testFive)
	}
	results := python[[]decided](t, "decide.py", cases)
	for i, f := range cases {
		t.Logf("%s, %s, %d decisions: largest difference %.2g", f.name, f.Classifier, len(f.Decisions), compare(t, f, results[i]))
	}
}

// With smoothing 0, probabilities are the limits of those with a smoothing that goes to 0, also where features or classes have
// no counts, or features are in all documents.
func TestSmoothing0IsALimit(t *testing.T) {
	t.Parallel()
	outside.Python(t)
	rng := rand.New(rand.NewPCG(14, 2))
	var cases []fitted
	for i := range 2 {
		corpus := "a\tw0 w1 w1\nb\tw0 w2\nc\t\nd\tw0 w3 w1\n"
		for range i * 5 {
			corpus += draw(rng, []string{"a", "b", "c", "d"}, 3)
			corpus += fmt.Sprintf("%c\tw0 w0 w%d\nd\tw0\n", 'a'+rng.IntN(4), rng.IntN(4))
		}
		corpus = strings.ReplaceAll(corpus, "w0", "ww") // in all documents of some classes
		file, more := save(t, "train.tsv", corpus), save(t, "more.tsv", "a\tww ww w1 w2 w3\na\tw1 w2 w2\na\t\na\tw2\n")
		for _, strategy := range []selection.Strategy{"ovr", "ovo", "joint"} {
			for _, classifier := range []string{modelio.MultinomialNB, modelio.BernoulliNB, modelio.ComplementNB} {
				s := of(file, "1", "3", "100%")
				s.selection.Classifier, s.selection.Strategy, s.selection.Smoothing = classifier, strategy, []float64{0}
				f := newFitted(t, s.trained(t), file, more)
				f.name = fmt.Sprintf("%d %s", i, strategy)
				cases = append(cases, f)
			}
		}
	}
	results := python[[]decided](t, "decide.py", cases)
	for i, f := range cases {
		compare(t, f, results[i])
	}
}

// A corpus of texts as they are.
func TestIMDB(t *testing.T) {
	t.Parallel()
	outside.Python(t)
	file, err := os.Open(outside.Shared(t, "data/imdb/train.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var train, test strings.Builder
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		switch n % 100 {
		case 0, 1:
			fmt.Fprintln(&train, lines.Text())
		case 2:
			fmt.Fprintln(&test, lines.Text())
		}
	}
	trainFile, testFile := save(t, "train.tsv", train.String()), save(t, "test.tsv", test.String())
	s := of(trainFile, "0.1%", "1%", "5%", "100%")
	s.selection.Smoothing = []float64{0.1, 1}
	f := newFitted(t, s.trained(t), trainFile, testFile)
	t.Logf("largest difference %.2g", compare(t, f, python[[]decided](t, "decide.py", []fitted{f})[0]))
}
