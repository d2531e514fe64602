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
	var last []modelio.ModelRow // of each problem; of a joint model, the rows of all classes
	for _, m := range p.Models {
		if n := len(last); n > 0 && last[n-1].Problem == m.Problem && last[n-1].Key() != m.Key() {
			last = slices.DeleteFunc(last, func(o modelio.ModelRow) bool { return o.Problem == m.Problem })
		}
		last = append(last, m)
	}
	features := map[modelio.Key][]modelio.FeatureRow{}
	for _, m := range last {
		features[m.Key()] = nil
	}
	for _, f := range p.Features {
		if rows, ok := features[f.Key()]; ok {
			features[f.Key()] = append(rows, f)
		}
	}
	problems := len(features)
	for _, m := range last {
		rows, positive := features[m.Key()], Strongest{Model: m, Class: m.Positive}
		switch {
		case m.Strategy == modelio.Joint:
			rows = slices.DeleteFunc(slices.Clone(rows), func(f modelio.FeatureRow) bool { return f.Class != m.Positive })
		case m.Strategy == modelio.OneVersusOne:
			positive.Against = m.Negative
		}
		lists = append(lists, positive.of(rows, 1))
		switch {
		case m.Strategy == modelio.Joint:
		case m.Strategy == modelio.OneVersusRest && problems == 1:
			lists = append(lists, Strongest{Model: m, Class: Rest}.of(rows, -1))
		case m.Strategy == modelio.OneVersusOne:
			lists = append(lists, Strongest{Model: m, Class: m.Negative, Against: m.Positive}.of(rows, -1))
		case m.Strategy == modelio.Binary:
			lists = append(lists, Strongest{Model: m, Class: m.Negative}.of(rows, -1))
		}
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

// of adds the features whose weights have the given sign.
func (s Strongest) of(rows []modelio.FeatureRow, sign float64) Strongest {
	rows = slices.DeleteFunc(slices.Clone(rows), func(f modelio.FeatureRow) bool { return !(sign*f.Weight > 0) })
	slices.SortStableFunc(rows, func(a, b modelio.FeatureRow) int { return cmp.Compare(b.Score, a.Score) })
	for _, f := range rows {
		s.Features = append(s.Features, Indication{f.Feature, sign * f.Weight})
	}
	return s
}
