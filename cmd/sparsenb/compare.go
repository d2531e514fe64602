package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
)

// comparable returns an error if features of equal names are not the same in two runs.
func comparable(a, b modelio.Published) error {
	bitsA, bitsB := a.Manifest.Analysis().HashBits, b.Manifest.Analysis().HashBits
	switch {
	case bitsA != bitsB:
		return modelio.Usagef("%s has %s, but %s has %s, so no feature is the same; compare runs with the same --hash_bits", a.Dir, bucketsOf(bitsA), b.Dir, bucketsOf(bitsB))
	case bitsA > 0 && a.Manifest.Tables != b.Manifest.Tables:
		return modelio.Usagef("%s and %s have hash buckets of different versions, which cannot be compared; count the documents of the older run again", a.Dir, b.Dir)
	}
	return nil
}

func bucketsOf(bits int) string {
	if bits == 0 {
		return "features by name"
	}
	return fmt.Sprintf("2^%d hash buckets", bits)
}

// printDifference compares the models of two runs that have the same classes and k.
func printDifference(w io.Writer, a, b modelio.Published) {
	printf(w, "%s: %s\n%s: %s\n", a.Dir, report.NewCorpus(a.Manifest), b.Dir, report.NewCorpus(b.Manifest))
	for _, line := range report.Differences(a.Manifest, b.Manifest) {
		printf(w, "%s\n", line)
	}
	compared := 0
	for _, ma := range a.Models {
		for _, mb := range b.Models {
			same := ma.Smoothing == mb.Smoothing || !report.HasSeveralSmoothings(a) && !report.HasSeveralSmoothings(b)
			if ma.Problem == mb.Problem && ma.K == mb.K && ma.Positive == mb.Positive && same {
				printf(w, "\n")
				printModelDifference(w, ma, mb, a, b)
				compared++
			}
		}
	}
	if compared == 0 {
		printf(w, "\nno model with the same classes and k in both runs: %s; %s\n", problems(a), problems(b))
	}
}

// problems lists the problems and ks of a run.
func problems(p modelio.Published) string {
	var list []string
	for _, m := range p.Models {
		list = append(list, fmt.Sprintf("%s, k = %d", m.Problem, m.K))
	}
	return p.Dir + " has " + cmp.Or(strings.Join(slices.Compact(list), " and "), "none")
}

func printModelDifference(w io.Writer, ma, mb modelio.ModelRow, runA, runB modelio.Published) {
	inB := map[string]modelio.FeatureRow{}
	a, b := byClass(runA.Of(ma), ma.Positive), byClass(runB.Of(mb), mb.Positive)
	namesA, namesB := report.BucketNames(runA), report.BucketNames(runB)
	for _, f := range b {
		inB[f.Feature] = f
	}
	noun := report.NewCorpus(runB.Manifest).Feature
	var removed, added []string
	changed := [][]string{{noun, "weight", "before"}}
	common := 0
	for _, f := range a {
		other, ok := inB[f.Feature]
		if !ok {
			removed = append(removed, report.QuoteWith(f.Feature, namesA))
			continue
		}
		common++
		delete(inB, f.Feature)
		if now, was := fmt.Sprintf("%+.2f", other.Weight), fmt.Sprintf("%+.2f", f.Weight); now != was {
			changed = append(changed, []string{report.QuoteWith(f.Feature, namesB), now, was})
		}
	}
	for _, f := range b {
		if _, ok := inB[f.Feature]; ok {
			added = append(added, report.QuoteWith(f.Feature, namesB))
		}
	}
	of := ma.Problem
	if ma.Strategy == modelio.Joint {
		of += ", " + ma.Positive
	}
	printf(w, "%s, k = %s: gain %s, before %s; %s, Jaccard index %s\n", of, humanize.Comma(ma.K), report.Gain(mb.Gain), report.Gain(ma.Gain),
		report.Plural(int64(common), noun)+" in both", strconv.FormatFloat(float64(common)/float64(max(len(a)+len(b)-common, 1)), 'f', 3, 64))
	printWords(w, "removed", removed)
	printWords(w, "added", added)
	if len(changed) > 1 {
		printTable(w, changed[:min(len(changed), report.MaxFeatures+1)], "lrr")
	}
}

// byClass returns the rows of one class of a joint model.
func byClass(features []modelio.FeatureRow, class string) []modelio.FeatureRow {
	return slices.DeleteFunc(slices.Clone(features), func(f modelio.FeatureRow) bool { return f.Class != class })
}

func printWords(w io.Writer, what string, words []string) {
	if len(words) == 0 {
		return
	}
	more := ""
	if n := len(words) - report.MaxFeatures; n > 0 {
		words, more = words[:report.MaxFeatures], fmt.Sprintf(" and %d more", n)
	}
	printf(w, "  %s: %s%s\n", what, strings.Join(words, ", "), more)
}
