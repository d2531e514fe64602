package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// MaxLists is how many classes a summary lists the strongest features of.
const MaxLists = 50

// Limits of a list of features.
const (
	maxStrongest     = 10
	maxStrongestMany = 4 // if there are more than manyLists
	manyLists        = 10
)

// Strongest are the features of a model that indicate a class.
type Strongest struct {
	Model    modelio.ModelRow // of a joint model, the row of the class
	Class    string           // a label, or Rest
	Against  string           // the other class; empty if it is all others
	Features []Indication     // by their gain, descending; a few of them
	More     int              // features that indicate the class, beside these
}

// Indication is a feature that indicates a class.
type Indication struct {
	Name   string
	Weight float64 // in favor of the class, above 0
}

// IndicationMeans says what the numbers of the features mean.
func IndicationMeans(p modelio.Published) string {
	if len(p.Models) == 0 {
		return ""
	}
	c, first := NewCorpus(p.Manifest), p.Models[0]
	sign, effect := "×2", "doubles the odds of the class"
	switch {
	case first.Classifier == modelio.SVM:
		sign, effect = "+1", "adds 1 to the decision value of the class"
	case first.Strategy == modelio.Joint:
		effect = "doubles the probability of the class, before those of all classes are scaled to add up to 1"
	}
	what := "the " + c.Feature
	if c.Buckets > 0 {
		what = "a name in the bucket"
	}
	switch {
	case first.Classifier == modelio.BernoulliNB || p.Manifest.Analysis().Weights.Name == modelio.BinaryWeights:
		return fmt.Sprintf("%s: a document that contains %s %s.", sign, what, effect)
	case c.Values:
		return fmt.Sprintf("%s: a weight of 1 of %s in a document %s.", sign, what, effect)
	}
	return fmt.Sprintf("%s: each occurrence of %s %s.", sign, what, effect)
}

// StrongestFeatures returns the strongest features of each class, from one model of each problem: that with the largest
// smoothing and, of these, the largest k.
func StrongestFeatures(p modelio.Published) (lists []Strongest) {
	models := lastModels(p.Models)
	problems := map[modelio.Key]bool{}
	for _, m := range models {
		problems[m.Key()] = true
	}
	type side struct { // of a joint model, a class
		modelio.Key
		class string
	}
	features := map[side][]*modelio.FeatureRow{}
	for i := range p.Features {
		f := &p.Features[i]
		if key := f.Key(); problems[key] {
			features[side{key, f.Class}] = append(features[side{key, f.Class}], f)
		}
	}
	for _, m := range models {
		rows, positive, negative := features[side{m.Key(), m.Positive}], Strongest{Model: m, Class: m.Positive}, Strongest{Model: m, Class: m.Negative}
		switch {
		case m.Strategy == modelio.Joint || m.Strategy == modelio.OneVersusRest && len(problems) > 1:
			lists = append(lists, positive.of(rows, 1))
			continue
		case m.Strategy == modelio.OneVersusRest:
			negative.Class = Rest
		case m.Strategy == modelio.OneVersusOne:
			positive.Against, negative.Against = m.Negative, m.Positive
		}
		lists = append(lists, positive.of(rows, 1), negative.of(rows, -1))
	}
	most, names := maxStrongest, BucketNames(p)
	if len(lists) > manyLists {
		most = maxStrongestMany
	}
	for i := range lists {
		l := &lists[i]
		l.More = max(len(l.Features)-most, 0)
		l.Features = l.Features[:len(l.Features)-l.More]
		for j, f := range l.Features {
			l.Features[j].Name = QuoteWith(f.Name, names)
		}
	}
	return lists
}

// lastModels returns the last model of each problem; of a joint model, the rows of all classes.
func lastModels(rows []modelio.ModelRow) (last []modelio.ModelRow) {
	start := 0 // of the problem
	for _, m := range rows {
		switch n := len(last); {
		case n == 0:
		case last[n-1].Problem != m.Problem:
			start = n
		case last[n-1].Key() != m.Key():
			last = last[:start]
		}
		last = append(last, m)
	}
	return last
}

// of adds the features whose weights have the given sign.
func (s Strongest) of(rows []*modelio.FeatureRow, sign float64) Strongest {
	rows = slices.DeleteFunc(slices.Clone(rows), func(f *modelio.FeatureRow) bool { return !(sign*f.Weight > 0) })
	slices.SortStableFunc(rows, func(a, b *modelio.FeatureRow) int { return cmp.Compare(b.Score, a.Score) })
	for _, f := range rows {
		s.Features = append(s.Features, Indication{f.Feature, sign * f.Weight})
	}
	return s
}
