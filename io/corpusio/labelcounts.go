package corpusio

import (
	"cmp"
	"maps"
	"slices"
)

// MaxLabelCounts is how many labels LabelCounts counts by name.
const MaxLabelCounts = 10_000

// LabelCounts counts documents by label in bounded memory. The first MaxLabelCounts labels, in byte order, are counted by
// name. The documents of the others are only summed, so that the counts do not depend on the order of Add and Merge, once Trim
// was called.
type LabelCounts struct {
	ByName  map[string]int64
	Unnamed int64  // documents of the labels at and after Limit
	Limit   string // "" as long as all labels are counted by name
}

// LabelCount is the number of documents of a label.
type LabelCount struct {
	Label     string `json:"label"`
	Documents int64  `json:"documents"`
}

// Add adds n documents of a label.
func (c *LabelCounts) Add(label string, n int64) {
	if c.Limit != "" && label >= c.Limit {
		c.Unnamed += n
		return
	}
	if c.ByName == nil {
		c.ByName = map[string]int64{}
	}
	if c.ByName[label] += n; len(c.ByName) > 2*MaxLabelCounts {
		c.Trim()
	}
}

// Merge adds the counts of o.
func (c *LabelCounts) Merge(o LabelCounts) {
	c.Unnamed += o.Unnamed
	if o.Limit != "" && (c.Limit == "" || o.Limit < c.Limit) {
		c.Limit = o.Limit
		for label, n := range c.ByName {
			if label >= c.Limit {
				c.Unnamed += n
				delete(c.ByName, label)
			}
		}
	}
	for label, n := range o.ByName {
		c.Add(label, n)
	}
}

// Trim drops the names beyond the first MaxLabelCounts.
func (c *LabelCounts) Trim() {
	if len(c.ByName) <= MaxLabelCounts {
		return
	}
	labels := slices.Sorted(maps.Keys(c.ByName))[MaxLabelCounts:]
	c.Limit = labels[0]
	for _, label := range labels {
		c.Unnamed += c.ByName[label]
		delete(c.ByName, label)
	}
}

// Top returns the n labels with the most documents; labels with equally many are in byte order.
func (c LabelCounts) Top(n int) (top []LabelCount) {
	for label, documents := range c.ByName {
		top = append(top, LabelCount{label, documents})
	}
	slices.SortFunc(top, func(a, b LabelCount) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Label, b.Label))
	})
	return top[:min(n, len(top))]
}
