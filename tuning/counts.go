package tuning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// Counts are the counts of documents by class and fold.
type Counts struct {
	Classes []modelio.Class // sorted by label; the labels are those of AppendLabel

	// Each calls visit with every feature, in the same order each time. Feature.Classes are numbers of Classes.
	Each func(ctx context.Context, visit func(*countio.Feature) error) error
}

// MergeClasses returns the classes without their folds, sorted by label.
func MergeClasses(classes []modelio.Class) []modelio.Class {
	sums := map[string]*modelio.Class{}
	for _, c := range classes {
		label := LabelOf(c.Label)
		sum := sums[label]
		if sum == nil {
			sum = &modelio.Class{Label: label, Documents: new(int64)}
			sums[label] = sum
		}
		if c.Documents != nil {
			*sum.Documents += *c.Documents
		}
		sum.Tokens += c.Tokens
		sum.Postings += c.Postings
	}
	var merged []modelio.Class
	for _, sum := range sums {
		merged = append(merged, *sum)
	}
	slices.SortFunc(merged, func(a, b modelio.Class) int { return strings.Compare(a.Label, b.Label) })
	return merged
}

// division is how the classes and their documents are divided into folds.
type division struct {
	classes []modelio.Class   // sorted by label
	folds   [][]modelio.Class // by fold, the same classes with its documents
	place   []place           // by number in Counts.Classes
}

type place struct{ fold, class int32 }

func divide(counts []modelio.Class, folds int) (d division, err error) {
	d.classes = MergeClasses(counts)
	number := map[string]int32{}
	for i, c := range d.classes {
		number[c.Label] = int32(i)
	}
	d.folds = make([][]modelio.Class, folds)
	for f := range d.folds {
		for _, c := range d.classes {
			d.folds[f] = append(d.folds[f], modelio.Class{Label: c.Label, Documents: new(int64)})
		}
	}
	for _, c := range counts {
		fold, label, err := CutLabel(c.Label)
		if err != nil || fold >= folds {
			return d, fmt.Errorf("the class %.40q is of none of %d folds", c.Label, folds)
		}
		at := place{int32(fold), number[label]}
		d.place = append(d.place, at)
		sum := &d.folds[at.fold][at.class]
		if c.Documents != nil {
			*sum.Documents += *c.Documents
		}
		sum.Tokens += c.Tokens
		sum.Postings += c.Postings
	}
	return d, nil
}

// rest returns the classes with the documents of all folds but one.
func (d division) rest(fold int) []modelio.Class {
	rest := slices.Clone(d.classes)
	for i := range rest {
		out := d.folds[fold][i]
		n := *rest[i].Documents - *out.Documents
		rest[i].Documents = &n
		rest[i].Tokens -= out.Tokens
		rest[i].Postings -= out.Postings
	}
	return rest
}

// validate returns an error for folds that cannot be compared, with modelio.ExitData, and warnings.
func (d division) validate() (warnings []string, err error) {
	all, last := documents(d.classes), len(d.folds)-1
	for f, classes := range d.folds {
		if documents(classes) == 0 {
			return nil, dataError("fold %d (of 0 to %d) has none of the %s documents; choose fewer --folds, or groups of fewer documents", f, last, humanize.Comma(all))
		}
	}
	unequal := 0
	for f, classes := range d.folds {
		n := documents(classes)
		for i, c := range d.rest(f) {
			if *c.Documents == 0 {
				return nil, dataError("all documents of class %s (%s) are in fold %d (of 0 to %d), so that no model of the other folds knows the class; choose other --folds, or leave the class out with --classes",
					selection.ListLabels([]string{c.Label}), humanize.Comma(*d.classes[i].Documents), f, last)
			}
			share, here := float64(*d.classes[i].Documents)/float64(all), float64(*classes[i].Documents)/float64(n)
			if here >= share/2 && here <= 2*share {
				continue
			}
			if unequal++; unequal <= maxUnequal {
				warnings = append(warnings, fmt.Sprintf("class %s is %s of fold %d, but %s of all documents", selection.ListLabels([]string{c.Label}), percent(here), f, percent(share)))
			}
		}
	}
	if more := unequal - maxUnequal; more > 0 {
		warnings = append(warnings, fmt.Sprintf("%s more classes have other shares in a fold than in all documents", humanize.Comma(int64(more))))
	}
	return warnings, nil
}

// maxUnequal is how many unequal shares of classes are listed.
const maxUnequal = 3

func documents(classes []modelio.Class) (n int64) {
	for _, c := range classes {
		n += *c.Documents
	}
	return n
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func dataError(format string, args ...any) error {
	return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf(format, args...)}
}

// countedFeature has the counts of a feature by class, and those of each fold.
type countedFeature struct {
	index   int32 // in the order of Counts.Each
	name    string
	id      int64
	classes []int32      // in which the feature occurs, ascending
	totals  [2][]float64 // occurrences and documents
	parts   []part       // by fold
}

// part is the count of a feature in a class and a fold.
type part struct {
	fold   int32
	place  int32 // in countedFeature.classes
	counts [2]float64
}

// The kinds of counts.
const (
	occurrences = iota
	inDocuments
)

func (d division) feature(f *countio.Feature, index int32) countedFeature {
	c := countedFeature{index: index, id: f.ID, parts: make([]part, 0, len(f.Classes))}
	for _, class := range f.Classes {
		c.classes = append(c.classes, d.place[class].class)
	}
	slices.Sort(c.classes)
	c.classes = slices.Compact(c.classes)
	c.totals = [2][]float64{make([]float64, len(c.classes)), make([]float64, len(c.classes))}
	for i, class := range f.Classes {
		at := d.place[class]
		j, _ := slices.BinarySearch(c.classes, at.class)
		p := part{at.fold, int32(j), [2]float64{f.Occurrences[i], f.Documents[i]}}
		for kind, n := range p.counts {
			c.totals[kind][j] += n
		}
		c.parts = append(c.parts, p)
	}
	return c
}

// without returns the classes in which the feature occurs outside of a fold, and its counts there. It reuses the slices.
// Counts are integers or multiples of a unit, so differences are exact.
func (c *countedFeature) without(fold int32, kind int, classes []int32, counts []float64) ([]int32, []float64) {
	classes, counts = append(classes[:0], c.classes...), append(counts[:0], c.totals[kind]...)
	found := false
	for _, p := range c.parts {
		if p.fold == fold {
			counts[p.place] -= p.counts[kind]
			found = true
		}
	}
	if !found {
		return classes, counts
	}
	n := 0
	for i, count := range counts {
		if count > 0 {
			classes[n], counts[n] = classes[i], count
			n++
		}
	}
	return classes[:n], counts[:n]
}

// sumWithout is the sum of the counts outside of a fold.
func (c *countedFeature) sumWithout(fold int32, kind int) float64 {
	sum := solver.Sum(c.totals[kind])
	for _, p := range c.parts {
		if p.fold == fold {
			sum -= p.counts[kind]
		}
	}
	return sum
}

// batchSize is how many features are worked on at once.
const batchSize = 1024

// eachBatch calls visit with the features, in batches.
func (c Counts) eachBatch(ctx context.Context, d division, named bool, visit func([]countedFeature) error) error {
	var batch []countedFeature
	index := int32(0)
	err := c.Each(ctx, func(f *countio.Feature) error {
		counted := d.feature(f, index)
		if named {
			name, err := f.Name()
			if err != nil {
				return err
			}
			counted.name = string(name)
		}
		batch = append(batch, counted)
		if index++; index < 0 {
			return dataError("there are more than 2³¹ features, which is too many to tune")
		}
		if len(batch) < batchSize {
			return nil
		}
		err := visit(batch)
		batch = batch[:0]
		return err
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return visit(batch)
}
