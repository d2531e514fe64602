package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
)

// printSummary prints what a run found, and its warnings to standard error.
func printSummary(ctx context.Context, w io.Writer, dir string) error {
	p, err := modelio.Read(ctx, dir)
	if err != nil {
		return err
	}
	if !hasModels(p) {
		return printPublished(ctx, w, p)
	}
	s := report.Summarize(p)
	for _, warning := range s.Warnings {
		warn("%s", warning)
	}
	printRun(w, s)
	return nil
}

func printRun(w io.Writer, s report.Summary) {
	printf(w, "%s\n", s.Corpus)
	for _, note := range s.Notes {
		printf(w, "%s\n", note)
	}
	if left := s.Corpus.LeftOut(); left != "" {
		printf(w, "%s\n", left)
	}
	if s.Weights != "" {
		printf(w, "%s\n", s.Weights)
	}
	if s.Classifier != "" {
		printf(w, "%s\n", s.Classifier)
	}
	for _, m := range s.Models {
		printf(w, "\n")
		printModel(w, m)
	}
	if s.MoreModels > 0 {
		printf(w, "\n… and %s, in %s and %s\n", report.Plural(s.MoreModels, "more model"), modelio.ModelFile, modelio.FeaturesFile)
	}
	files := slices.Clone(s.Files)
	if s.Parts > 0 {
		files = slices.Insert(files, len(files)-1, fmt.Sprintf("counts/ (%s)", report.Plural(s.Parts, "file")))
	}
	if s.IDF > 0 {
		files = slices.Insert(files, len(files)-1, fmt.Sprintf("idf/ (%s)", report.Plural(s.IDF, "file")))
	}
	printf(w, "\n%s: %s\n", s.Dir, strings.Join(files, ", "))
}

// printModel prints the features of a model as a table, and the remarks about it.
func printModel(w io.Writer, m report.Model) {
	printf(w, "%s:\n\n", m.Title())
	hasNames := slices.ContainsFunc(m.Features, func(f report.Feature) bool { return f.Names != nil })
	head, align := []string{"rank", m.Vocabulary.Feature, "weight", "class", m.Sides[0], m.Sides[1], "gain"}, "rlrlrrr"
	if hasNames {
		head, align = append(head, "names"), align+"l"
	}
	table := [][]string{head}
	for _, f := range m.Features {
		class := f.Class
		if f.Weight == 0 {
			class = "–"
		}
		row := []string{strconv.FormatInt(f.Rank, 10), report.Quote(f.Name), fmt.Sprintf("%+.2f", f.Weight), class,
			report.Count(f.Counts[0]), report.Count(f.Counts[1]), fmt.Sprintf("%.2f", f.Gain)}
		if hasNames {
			row = append(row, namesCell(f.Names))
		}
		table = append(table, row)
	}
	printTable(w, table, align)
	if more := m.Row.K - int64(len(m.Features)); more > 0 {
		printf(w, "  … and %s more in %s\n", humanize.Comma(more), modelio.FeaturesFile)
	}
	printf(w, "\n")
	for _, remark := range m.Remarks() {
		printf(w, "%s\n", remark)
	}
}

// namesCell lists the most frequent names in a bucket, as many as a table cell has room for.
func namesCell(rows []modelio.BucketRow) string {
	list := ""
	for i, row := range rows {
		next := report.Quote(printable(row.Name))
		if row.Names > 1 {
			next += " " + wholePercent(row.Share)
		}
		if i > 0 {
			next = list + ", " + next
		}
		if rest := row.Names - int64(i); i > 0 && utf8.RuneCountInString(next)+len(andMore(rest-1)) > report.MaxWidth {
			return list + andMore(rest)
		}
		list = next
	}
	if n := len(rows); n > 0 {
		list += andMore(rows[0].Names - int64(n))
	}
	return list
}

// andMore ends a list from which n items are missing.
func andMore(n int64) string {
	if n == 0 {
		return ""
	}
	return ", " + humanize.Comma(n) + " more"
}

// wholePercent formats a share that is neither 0 nor 1.
func wholePercent(share float64) string {
	if share < 0.01 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", min(100*share, 99))
}

// printTable prints columns that are aligned to the left (l) or to the right (r).
func printTable(w io.Writer, rows [][]string, align string) {
	width := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = report.Shorten(printable(cell))
			width[i] = max(width[i], displayWidth(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-displayWidth(cell))
			if align[i] == 'r' {
				line.WriteString("  " + pad + cell)
			} else {
				line.WriteString("  " + cell + pad)
			}
		}
		printf(w, "%s\n", strings.TrimRight(line.String(), " "))
	}
}
