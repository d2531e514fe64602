package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/report"
)

// printApplied prints what a run made that applied a model to documents.
func printApplied(ctx context.Context, w io.Writer, p modelio.Published) error {
	m := p.Manifest
	for _, warning := range m.Warnings {
		warn("%s", warning)
	}
	printf(w, "%s, model %s\n", report.Plural(m.Read, "document"), m.Model.Name)
	if m.Verb == "predict" {
		if err := printPredictions(ctx, w, p); err != nil {
			return err
		}
	}
	var files []string
	for _, f := range m.Files {
		files = append(files, f.Name)
	}
	if n := len(files); n > 1 {
		files = []string{fmt.Sprintf("%s/ (%s)", path.Dir(files[0]), report.Plural(int64(n), "file"))}
	}
	printf(w, "\n%s: %s, %s\n", p.Dir, strings.Join(files, ", "), modelio.ManifestFile)
	return nil
}

// maxTallied is the largest number of predictions that are read again to be counted, which takes a second.
const maxTallied = 5_000_000

// decided is a prediction without the document.
type decided struct {
	Problem   string  `parquet:"problem,dict"`
	K         int64   `parquet:"k,dict"`
	Smoothing float64 `parquet:"smoothing,dict"`
	Predicted string  `parquet:"predicted,dict"`
}

// printPredictions prints how many documents have each predicted label, by decision, if there are not too many.
func printPredictions(ctx context.Context, w io.Writer, p modelio.Published) error {
	rows := int64(0)
	for _, f := range p.Manifest.Files {
		rows += f.Rows
	}
	if rows > maxTallied {
		return nil
	}
	tally := map[decided]int64{}
	var order []decided
	for _, f := range p.Manifest.Files {
		err := tableio.Read(ctx, fileio.Join(p.Dir, f.Name), func(d *decided) error {
			if tally[*d]++; tally[*d] == 1 {
				order = append(order, *d)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	sortDecided(order)
	table := [][]string{{"problem", "k", "smoothing", "predicted", "documents", "share"}}
	for _, d := range order[:min(len(order), report.MaxFeatures)] {
		share := float64(tally[d]) / float64(p.Manifest.Read)
		table = append(table, []string{d.Problem, humanize.Comma(d.K), strconv.FormatFloat(d.Smoothing, 'g', -1, 64), d.Predicted,
			humanize.Comma(tally[d]), fmt.Sprintf("%.1f %%", 100*share)})
	}
	printf(w, "\n")
	printTable(w, table, "lrrlrr")
	if more := len(order) - report.MaxFeatures; more > 0 {
		printf(w, "… and %d more rows\n", more)
	}
	return nil
}

// sortDecided sorts predictions as the decisions of a model, then by label.
func sortDecided(list []decided) {
	slices.SortFunc(list, func(a, b decided) int {
		return cmp.Or(strings.Compare(a.Problem, b.Problem), cmp.Compare(a.Smoothing, b.Smoothing), cmp.Compare(a.K, b.K), strings.Compare(a.Predicted, b.Predicted))
	})
}
