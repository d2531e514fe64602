package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
)

// terminalColumns is the width for which lists and sentences are wrapped.
const terminalColumns = 80

// printStrongest prints the strongest features of each class.
func printStrongest(w io.Writer, p modelio.Published, s report.Summary) {
	lists := report.StrongestFeatures(p)
	if len(lists) == 0 {
		return
	}
	sameK := !slices.ContainsFunc(lists, func(l report.Strongest) bool { return l.Model.K != lists[0].Model.K })
	title := fmt.Sprintf("Strongest %ss of each class", s.Corpus.Feature)
	if sameK {
		title += fmt.Sprintf(", k = %s", humanize.Comma(lists[0].Model.K))
	}
	if report.HasSeveralSmoothings(p) {
		title += fmt.Sprintf(", smoothing %v", lists[0].Model.Smoothing)
	}
	shown := lists[:min(len(lists), report.MaxLists)]
	names, width := make([]string, len(shown)), 0
	for i, l := range shown {
		names[i] = report.Shorten(printable(l.Class))
		if l.Against != "" {
			names[i] += ", not " + report.Shorten(printable(l.Against))
		}
		if !sameK {
			names[i] += fmt.Sprintf(" (k = %s)", humanize.Comma(l.Model.K))
		}
		width = max(width, displayWidth(names[i]))
	}
	printf(w, "\n%s:\n\n", title)
	const widest = 30 // of names beside their lists; others are above them
	start := 2 + width + 2
	if width > widest {
		start = 4
	}
	for i, l := range shown {
		lines := fill(listed(l), terminalColumns-start)
		if width > widest {
			printf(w, "  %s:\n", names[i])
		} else {
			printf(w, "  %s%s  %s\n", names[i], strings.Repeat(" ", width-displayWidth(names[i])), lines[0])
			lines = lines[1:]
		}
		for _, line := range lines {
			printf(w, "%s%s\n", strings.Repeat(" ", start), line)
		}
	}
	if more := int64(len(lists) - len(shown)); more > 0 {
		printf(w, "  … and %s, in %s\n", report.Plural(more, "more list"), modelio.FeaturesFile)
	}
	printf(w, "\n")
	printParagraph(w, "", "In the order of their gain. "+report.IndicationMeans(p))
}

// listed returns the features of a list with their factors, and commas between them.
func listed(l report.Strongest) (parts []string) {
	for _, f := range l.Features {
		name := report.Shorten(printable(f.Name))
		if strings.Contains(name, ",") {
			name = `"` + name + `"`
		}
		parts = append(parts, name+" "+indication(l.Model, f)+",")
	}
	switch n := len(parts); {
	case n == 0:
		return []string{"–"}
	case l.More > 0:
		return append(parts, fmt.Sprintf("… %s more", humanize.Comma(int64(l.More))))
	default:
		parts[n-1] = strings.TrimSuffix(parts[n-1], ",")
	}
	return parts
}

// indication is by what a feature multiplies the odds of its class, or what it adds to the decision of a classifier without
// probabilities.
func indication(m modelio.ModelRow, f report.Indication) string {
	factor := math.Exp(f.Weight)
	switch {
	case m.Classifier == modelio.SVM:
		return fmt.Sprintf("%+.2f", f.Weight)
	case math.IsInf(factor, 0):
		return "×∞"
	case factor < 1.995:
		return fmt.Sprintf("×%.2f", factor)
	case factor < 9.95:
		return fmt.Sprintf("×%.1f", factor)
	case factor < 1e6:
		return "×" + humanize.Comma(int64(math.Round(factor)))
	}
	return fmt.Sprintf("×%.0e", factor)
}

// printProof prints what is proven about the models, in sentences.
func printProof(w io.Writer, paragraphs []string) {
	if len(paragraphs) == 0 {
		return
	}
	printf(w, "\nWhat is proven:\n\n")
	for _, text := range paragraphs {
		printParagraph(w, "- ", text)
	}
}

// printParagraph prints a text in indented lines, and a sign before the first.
func printParagraph(w io.Writer, sign, text string) {
	for _, line := range fill(strings.Fields(printable(text)), terminalColumns-2-len(sign)) {
		printf(w, "  %s%s\n", sign, line)
		sign = strings.Repeat(" ", len(sign))
	}
}

// printChart prints the path of a problem as a chart.
func printChart(w io.Writer, path report.Path) {
	lines := path.Chart()
	for _, line := range lines {
		printf(w, "%s\n", line)
	}
	if len(lines) > 0 {
		printf(w, "\n")
	}
}
