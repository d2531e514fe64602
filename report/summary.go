// Package report computes what is shown of a published run, as plain values and sentences. The command prints them as text;
// another format can show the same.
package report

import (
	"slices"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// Limits of a summary.
const (
	MaxModels       = 20
	MaxFeatures     = 20 // of each model
	MaxFeaturesMany = 5  // of each model, if there are more than manyModels
	manyModels      = 3
)

// Summary is what a run found.
type Summary struct {
	Dir        string
	Corpus     Corpus
	Weights    string   // what a document adds to a count, if not its occurrences
	Classifier string   // what computed the weights of the features, if not the model that selected them
	Notes      []string // about the corpus
	Models     []Model  // in the order of model.parquet, at most MaxModels
	MoreModels int64    // beyond those
	Paths      []Path   // in the order of path.parquet
	Files      []string
	Parts      int64    // files of counts
	IDF        int64    // files of inverse document frequencies
	Warnings   []string // sentences
}

// Corpus is what was counted.
type Corpus struct {
	Vocabulary
	Classes  []modelio.Class // by label
	Features int64           // distinct features, or hash buckets in use
	Pruning  *modelio.Pruning
}

// Model is one selection of features, with what is proven about it.
type Model struct {
	Row        modelio.ModelRow // of a joint model, the row of its first class
	Vocabulary Vocabulary
	Classes    int       // that the model distinguishes
	Sides      [2]string // what Feature.Counts are counts of
	Features   []Feature // by rank, at most MaxFeatures or MaxFeaturesMany
	Bursts     []Burst

	smoothing bool // the run has models with another smoothing
}

// Path is the gain at various k, for one problem and smoothing.
type Path struct {
	Problem   string
	Smoothing float64
	Rows      []modelio.PathRow // by k
	Selected  []int64           // the k of the models
}

// Feature is a selected feature.
type Feature struct {
	Rank   int64
	Name   string
	Names  []modelio.BucketRow // the most frequent names in the bucket; nil if features are not buckets, or the names unknown
	Class  string              // that the feature indicates; empty if the weight is 0
	Weight float64             // added to the log-odds of the positive class; of a joint model, of Class
	Counts [2]float64          // occurrences, values, or documents for the Bernoulli model and binary weights
	Gain   float64             // its part of the log-likelihood gain
}

// Burst is a selected feature with many occurrences in few documents. A model of occurrences overrates it.
type Burst struct {
	Name        string
	Occurrences float64
	Documents   int64
}

// A burst has at least burstOccurrences in each of its documents, which are at most the share burstDocuments of all.
const (
	burstOccurrences = 10
	burstDocuments   = 0.05
)

// Rest is what a class is compared with by the strategy ovr.
const Rest = "the rest"

// Summarize returns the summary of a run. A run that only counted has no models.
func Summarize(p modelio.Published) Summary {
	s := Summary{Dir: p.Dir, Corpus: NewCorpus(p.Manifest), Weights: weightsOf(p), Classifier: classifierOf(p), Notes: labelNotes(p.Manifest), Warnings: slices.Concat(p.Manifest.Warnings, notes(p))}
	for _, f := range p.Manifest.Files {
		switch {
		case countio.IsPart(f.Name):
			s.Parts++
		case countio.IsIDF(f.Name):
			s.IDF++
		default:
			s.Files = append(s.Files, f.Name)
		}
	}
	s.Files = append(s.Files, modelio.ManifestFile)
	// A joint model has a row for each class.
	rows := slices.CompactFunc(slices.Clone(p.Models), func(a, b modelio.ModelRow) bool { return a.Key() == b.Key() })
	features := MaxFeatures
	if len(rows) > manyModels {
		features = MaxFeaturesMany
	}
	names := BucketNames(p)
	for _, row := range rows[:min(len(rows), MaxModels)] {
		m := newModel(row, p.Of(row), names, features)
		if row.Model == "bernoulli" || p.Manifest.Analysis().Weights.Name == modelio.BinaryWeights {
			for i, side := range m.Sides {
				m.Sides[i] = "documents " + side
			}
		}
		m.Vocabulary, m.smoothing = s.Corpus.Vocabulary, HasSeveralSmoothings(p)
		s.Models = append(s.Models, m)
	}
	s.MoreModels = int64(len(rows) - len(s.Models))
	for _, row := range p.Path {
		if n := len(s.Paths); n == 0 || s.Paths[n-1].Problem != row.Problem || s.Paths[n-1].Smoothing != row.Smoothing {
			s.Paths = append(s.Paths, Path{Problem: row.Problem, Smoothing: row.Smoothing, Selected: ksOf(rows, row)})
		}
		path := &s.Paths[len(s.Paths)-1]
		path.Rows = append(path.Rows, row)
	}
	return s
}

// NewCorpus returns what a run counted.
func NewCorpus(m modelio.Manifest) Corpus {
	v := NewVocabulary(m.Run)
	if m.Counts != nil && m.Counts.Size > 0 {
		v = Vocabulary{Feature: "feature"}
	}
	return Corpus{Vocabulary: v, Classes: m.Classes, Features: m.Features, Pruning: m.Pruning}
}

// newModel summarizes a model and the first features of it.
func newModel(row modelio.ModelRow, rows []modelio.FeatureRow, names map[string][]modelio.BucketRow, most int) Model {
	m := Model{Row: row, Classes: 2, Sides: [2]string{"in " + row.Positive, "in " + row.Negative}, Bursts: bursts(row, rows, names)}
	switch row.Strategy {
	case modelio.OneVersusRest:
		m.Row.Negative = Rest
		m.Sides[1] = "in " + Rest
	case modelio.Joint:
		m.Classes = len(rows) / max(int(row.K), 1)
		m.Sides = [2]string{"in class", "total"}
	}
	for len(rows) > 0 && len(m.Features) < most {
		n := 1
		if row.Strategy == modelio.Joint {
			n = min(max(m.Classes, 1), len(rows))
		}
		f := newFeature(m.Row, rows[:n])
		f.Names = names[f.Name]
		m.Features = append(m.Features, f)
		rows = rows[n:]
	}
	return m
}

// newFeature summarizes the row of a feature, or its rows of all classes of a joint model.
func newFeature(m modelio.ModelRow, rows []modelio.FeatureRow) Feature {
	best, gain := rows[0], 0.0
	for _, r := range rows {
		gain += r.Score
		if r.Weight > best.Weight {
			best = r
		}
	}
	f := Feature{Rank: best.Rank, Name: best.Feature, Weight: best.Weight, Gain: gain, Counts: [2]float64{best.CountPositive, best.CountNegative}}
	switch {
	case m.Strategy == modelio.Joint:
		f.Counts[1] += best.CountPositive
		if f.Class = best.Class; best.Weight == 0 {
			f.Class = ""
		}
	case best.Weight > 0:
		f.Class = m.Positive
	case best.Weight < 0:
		f.Class = m.Negative
	}
	return f
}

// ksOf returns the k of the models of the problem and smoothing of a path.
func ksOf(models []modelio.ModelRow, path modelio.PathRow) (ks []int64) {
	for _, m := range models {
		if m.Problem == path.Problem && m.Smoothing == path.Smoothing {
			ks = append(ks, m.K)
		}
	}
	return ks
}

func bursts(m modelio.ModelRow, rows []modelio.FeatureRow, names map[string][]modelio.BucketRow) (list []Burst) {
	if m.Model == "bernoulli" || m.DocsPositive == nil || m.DocsNegative == nil {
		return nil
	}
	all := float64(*m.DocsPositive + *m.DocsNegative)
	last := int64(0)
	for _, r := range rows {
		if r.Rank == last || r.DocumentsPositive == nil || r.DocumentsNegative == nil { // a joint model has several rows
			continue
		}
		last = r.Rank
		b := Burst{QuoteWith(r.Feature, names), r.CountPositive + r.CountNegative, *r.DocumentsPositive + *r.DocumentsNegative}
		if documents := float64(b.Documents); documents > 0 && b.Occurrences >= burstOccurrences*documents && documents <= burstDocuments*all {
			list = append(list, b)
		}
	}
	return list
}

// HasSeveralSmoothings reports whether the models of a run differ in their smoothing.
func HasSeveralSmoothings(p modelio.Published) bool {
	return slices.ContainsFunc(p.Models, func(m modelio.ModelRow) bool { return m.Smoothing != p.Models[0].Smoothing })
}

// BucketNames returns the names in each bucket, or nil if features are not buckets.
func BucketNames(p modelio.Published) map[string][]modelio.BucketRow {
	if len(p.Buckets) == 0 {
		return nil
	}
	names := map[string][]modelio.BucketRow{}
	for _, row := range p.Buckets {
		names[row.Feature] = append(names[row.Feature], row)
	}
	return names
}
