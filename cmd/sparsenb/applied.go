package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/parquetio"
	"github.com/sparsenb/sparsenb/report"
)

// printApplied prints what a run made that applied a model to documents.
func printApplied(ctx context.Context, w io.Writer, p modelio.Published) error {
	m := p.Manifest
	for _, warning := range m.Warnings {
		warn("%s", warning)
	}
	if rejected := report.Rejected(m); rejected != "" {
		warn("%s", rejected)
	}
	printf(w, "%s, model %s\n", report.Plural(m.Read, "document"), fromHere(m.Model.Name))
	switch m.Verb {
	case "predict":
		if err := printPredictions(ctx, w, p); err != nil {
			return err
		}
	case "evaluate":
		if err := printEvaluation(ctx, w, p); err != nil {
			return err
		}
	}
	var files []string
	folder, parts := "", int64(0)
	for _, f := range m.Files {
		if dir := path.Dir(f.Name); dir != "." {
			folder, parts = dir, parts+1
		} else {
			files = append(files, f.Name)
		}
	}
	if parts > 0 {
		files = slices.Insert(files, 0, fmt.Sprintf("%s/ (%s)", folder, report.Plural(parts, "file")))
	}
	printf(w, "\n%s: %s, %s\n", p.Dir, strings.Join(files, ", "), modelio.ManifestFile)
	return nil
}

// fromHere shortens the name of a file or folder that is below the working folder.
func fromHere(name string) string {
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if below, ok := strings.CutPrefix(name, strings.TrimSuffix(here, "/")+"/"); ok {
		return below
	}
	return name
}

// maxTallied is the largest number of predictions that are read again to be counted, which takes a second.
const maxTallied = 5_000_000

// decided is a prediction without the document.
type decided struct {
	Problem    string
	K          int64
	KRequested string
	Smoothing  float64
	Predicted  string
}

// eachDecided reads five columns of a table of predictions, which may have nested columns beside them.
func eachDecided(ctx context.Context, name string, visit func(decided)) error {
	return fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error {
		table, err := parquetio.OpenTable(f, info.Size)
		if err != nil {
			return err
		}
		for group := range table.Groups {
			var columns [5]*parquetio.Values
			for i, name := range []string{"problem", "k", "k_requested", "smoothing", "predicted"} {
				at := slices.IndexFunc(table.Columns, func(c parquetio.Column) bool { return c.Name == name })
				if at < 0 {
					return fmt.Errorf("column %q is missing", name)
				}
				columns[i] = table.Values(group, at)
			}
			for range table.Groups[group].Rows {
				var values [5]string
				for i, column := range columns {
					value, err := column.Next()
					if err != nil {
						return err
					}
					values[i] = string(value)
				}
				visit(decided{values[0], int64(number(values[1])), values[2], math.Float64frombits(number(values[3])), values[4]})
			}
		}
		return nil
	})
}

// number returns the eight bytes of a value in little-endian order.
func number(value string) uint64 {
	var b [8]byte
	copy(b[:], value)
	return binary.LittleEndian.Uint64(b[:])
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
		err := eachDecided(ctx, fileio.Join(p.Dir, f.Name), func(d decided) {
			if tally[d]++; tally[d] == 1 {
				order = append(order, d)
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	sortDecided(order)
	head, align, requested := []string{"problem", "k", "smoothing", "predicted", "documents", "share"}, "lrrlrr", hasSameK(order)
	if requested {
		head, align = slices.Insert(head, 2, "requested"), "lrlrlrr"
	}
	table := [][]string{head}
	for _, d := range order[:min(len(order), report.MaxFeatures)] {
		share := float64(tally[d]) / float64(p.Manifest.Read)
		row := []string{d.Problem, humanize.Comma(d.K), strconv.FormatFloat(d.Smoothing, 'g', -1, 64), d.Predicted,
			humanize.Comma(tally[d]), fmt.Sprintf("%.1f %%", 100*share)}
		if requested {
			row = slices.Insert(row, 2, d.KRequested)
		}
		table = append(table, row)
	}
	printf(w, "\n")
	printTable(w, table, align)
	if more := len(order) - report.MaxFeatures; more > 0 {
		printf(w, "… and %d more rows\n", more)
	}
	return nil
}

// hasSameK reports whether decisions differ in nothing but the k that was requested. The list is sorted.
func hasSameK(list []decided) bool {
	for i, d := range list {
		if i > 0 && d.Problem == list[i-1].Problem && d.Smoothing == list[i-1].Smoothing && d.K == list[i-1].K && d.KRequested != list[i-1].KRequested {
			return true
		}
	}
	return false
}

// sortDecided sorts predictions as the decisions of a model, then by label.
func sortDecided(list []decided) {
	slices.SortFunc(list, func(a, b decided) int {
		return cmp.Or(strings.Compare(a.Problem, b.Problem), cmp.Compare(a.Smoothing, b.Smoothing), cmp.Compare(a.K, b.K), strings.Compare(a.KRequested, b.KRequested), strings.Compare(a.Predicted, b.Predicted))
	})
}
