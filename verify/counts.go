package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/solver"
)

// Counts are the counts of a run, as the checks of its other files need them.
type Counts struct {
	named    map[string]featureCounts // of the features that the other files name; the zero value if a feature has none
	problems *selection.Problems

	needsOccurrences bool // see selection.Params

	last    selection.Problem // rows of a problem follow each other
	lastKey [3]string         // problem, model and method
}

// featureCounts are the counts of a feature in the classes in which it occurs.
type featureCounts struct {
	found       bool
	id          int64
	labels      []string
	counts      []float64 // those that the model counts
	documents   []float64 // nil if they are unknown, or are the counts
	byClass     []float64 // occurrences
	occurrences float64   // in all classes
}

// ReadCounts reads the counts that a run was made from, and compares their sums with the totals of its manifest, which were
// taken while the documents were read.
func ReadCounts(ctx context.Context, run modelio.Published) (*Counts, string, error) {
	source, files, err := source(ctx, run)
	if err != nil {
		return nil, "", err
	}
	r := countsReader{source: source, named: map[string]featureCounts{}, histogram: histogram.New()}
	for _, f := range run.Features {
		r.named[f.Feature] = featureCounts{}
	}
	for _, b := range run.Buckets {
		r.named[b.Feature] = featureCounts{}
	}
	var sel selection.Params
	if len(run.Models) > 0 {
		model, err := solver.ParseModel(run.Models[0].Model)
		if err != nil {
			return nil, "", err
		}
		sel = selection.Params{Model: model, Weights: run.Manifest.Options["weights"], Classifier: run.Models[0].Classifier}
		r.documents = sel.CountsDocuments()
	}
	classes := run.Manifest.Classes
	r.classes = countio.ClassesOf(selection.Labels(classes))
	r.sums = countio.NewClassSums(r.classes)
	p, err := newPruning(ctx, run.Manifest, source, files)
	if err != nil {
		return nil, "", err
	}
	for _, file := range files {
		if err := p.each(ctx, file.Name, &r); err != nil {
			return nil, "", err
		}
	}
	if n := len(classes); n < len(r.classes.Labels) {
		return nil, "", fmt.Errorf("the counts have classes that the manifest does not list: %s", selection.ListLabels(r.classes.Labels[n:]))
	}
	finding, err := r.compareTotals(run.Manifest)
	if err == nil {
		finding, err = p.compare(run.Manifest, finding)
	}
	if err != nil {
		return nil, "", err
	}
	vectors, err := vectorsOf(r.histogram, len(classes))
	return &Counts{named: r.named, problems: selection.NewProblems(vectors, classes), needsOccurrences: sel.NeedsOccurrences()}, finding, err
}

// source returns where the counts are that the run was made from, and their files.
func source(ctx context.Context, run modelio.Published) (countio.Source, []tableio.FileSum, error) {
	from := run.Manifest.Counts
	switch {
	case from == nil:
		return countio.Source{Dir: run.Dir}, run.Manifest.Parts(), nil
	case from.Size > 0:
		now, err := tableio.Checksum(ctx, from.Name)
		if err == nil && (now.Size != from.Size || now.SHA256 != from.SHA256) {
			err = fmt.Errorf("%s has changed since the run read it", from.Name)
		}
		return countio.Source{Table: from.Name}, []tableio.FileSum{{Name: from.Name}}, err
	}
	counts, err := selection.PublishedCounts(ctx, from.Name)
	if err == nil && counts.From != *from {
		err = fmt.Errorf("%s holds another run than the one that the counts were read from", from.Name)
	}
	return counts.Source, counts.Files, err
}

// countsReader collects what is needed of the features while they are read.
type countsReader struct {
	source    countio.Source
	documents bool // are the counts
	classes   *countio.Classes
	sums      *countio.ClassSums
	features  int64
	histogram *histogram.Histogram
	named     map[string]featureCounts

	lastID   int64
	lastName []byte
	counts   []float64
}

// add checks and adds up a feature of the counts.
func (r *countsReader) add(file string, f *countio.Feature) error {
	name, err := f.Name()
	if err != nil {
		return err
	}
	// The parts of a run are one sorted list without repeats.
	if r.source.Table == "" && r.features > 0 && cmp.Or(cmp.Compare(f.ID, r.lastID), bytes.Compare(name, r.lastName)) <= 0 {
		return fmt.Errorf("%s: the feature %q is out of order", file, name)
	}
	r.lastID, r.lastName = f.ID, append(r.lastName[:0], name...)
	r.features++
	r.sums.Add(f)
	return nil
}

// keep collects a feature that was not pruned.
func (r *countsReader) keep(f *countio.Feature) error {
	name, err := f.Name()
	if err != nil {
		return err
	}
	r.counts = f.Counts(r.counts[:0], r.documents)
	r.histogram.AddPresent(f.Classes, r.counts)
	if _, ok := r.named[string(name)]; !ok {
		return nil
	}
	c := featureCounts{found: true, id: r.source.IDOf(f, name), counts: slices.Clone(r.counts)}
	c.byClass = slices.Clone(f.Occurrences)
	for i, class := range f.Classes {
		c.labels = append(c.labels, r.classes.Labels[class])
		c.occurrences += f.Occurrences[i]
	}
	if f.DocumentsKnown {
		c.documents = append([]float64{}, f.Documents...) // not nil, if there are none
	}
	r.named[string(name)] = c
	return nil
}

func (r *countsReader) compareTotals(m modelio.Manifest) (finding string, err error) {
	var tokens float64
	for _, c := range m.Classes {
		if gotTokens, postings := r.sums.Of(c.Label); gotTokens != c.Tokens || postings != c.Postings {
			return "", fmt.Errorf("class %s has %v tokens and %v postings in the counts, but %v and %v in the manifest", c.Label, gotTokens, postings, c.Tokens, c.Postings)
		}
		tokens += c.Tokens
	}
	if r.features != m.Features {
		return "", fmt.Errorf("the counts have %d features, but the manifest %d", r.features, m.Features)
	}
	noun := "tokens"
	if m.Analysis().Weights.Unit != "" {
		noun = "total value"
	}
	return fmt.Sprintf("%s %s of %s features in the counts, as in the manifest", humanize.Commaf(tokens), noun, humanize.Comma(r.features)), nil
}

func vectorsOf(h *histogram.Histogram, classes int) (*solver.Vectors, error) {
	var pieces [][]byte
	h.Pack(1<<20, func(b []byte) { pieces = append(pieces, b) })
	return selection.CollectVectors(func(b *[]byte) bool {
		if len(pieces) == 0 {
			return false
		}
		*b, pieces = pieces[0], pieces[1:]
		return true
	}, classes)
}

// problemOf returns the problem that a model is a solution of.
func (c *Counts) problemOf(m modelio.ModelRow) (selection.Problem, error) {
	if c.last == nil || c.lastKey != [3]string{m.Problem, m.Model, m.Method} {
		p, err := c.problems.Of(m)
		if err != nil {
			return nil, err
		}
		c.last, c.lastKey = p, [3]string{m.Problem, m.Model, m.Method}
	}
	return c.last.Smoothed(m.Smoothing), nil
}
