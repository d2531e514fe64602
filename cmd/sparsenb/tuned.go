package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/report"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/tuning"
)

// readTuning reads the means of a published run.
func readTuning(ctx context.Context, dir string) (means []modelio.TuningRow, err error) {
	err = tableio.Read(ctx, fileio.Join(dir, modelio.TuningFile), func(row *modelio.TuningRow) error {
		if row.Fold == nil {
			means = append(means, *row)
		}
		return nil
	})
	if err == nil && !slices.ContainsFunc(means, func(r modelio.TuningRow) bool { return r.Chosen }) {
		err = fmt.Errorf("%s: no row is chosen; the file was not written by sparsenb tune", fileio.Join(dir, modelio.TuningFile))
	}
	return means, err
}

// figure returns the mean of a metric and its standard error.
func figure(r modelio.TuningRow, metric tuning.Metric) (mean, standardError float64) {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	switch metric {
	case tuning.Balanced:
		return r.Balanced, value(r.BalancedError)
	case tuning.LogLoss:
		return value(r.LogLoss), value(r.LogLossError)
	}
	return r.Accuracy, value(r.AccuracyError)
}

// printTuning prints the comparison of a published run.
func printTuning(ctx context.Context, w io.Writer, p modelio.Published) error {
	rows, err := readTuning(ctx, p.Dir)
	if err != nil {
		return err
	}
	m, metric := p.Manifest, tuning.Metric(p.Manifest.Options["metric"])
	for _, warning := range m.Warnings {
		warn("%s", warning)
	}
	if rejected := report.Rejected(m); rejected != "" {
		warn("%s", rejected)
	}
	chosen := rows[slices.IndexFunc(rows, func(r modelio.TuningRow) bool { return r.Chosen })]
	best := rows[slices.IndexFunc(rows, func(r modelio.TuningRow) bool { return r.Best })]
	printf(w, "%s in %s, %s folds, %s\n", report.Plural(chosen.Documents, "document"), fmt.Sprintf("%d classes", len(m.Classes)), m.Options["folds"],
		report.Plural(int64(len(rows)), "point"))
	var names []string
	settings := map[string][]modelio.TuningRow{}
	for _, r := range rows {
		name := settingOf(r)
		if settings[name] == nil {
			names = append(names, name)
		}
		settings[name] = append(settings[name], r)
	}
	for _, name := range names {
		printf(w, "\n%s of %s, the mean of the folds; * is chosen, + is best:\n\n", upper(metric.String()), name)
		printGrid(w, settings[name], metric)
	}
	printf(w, "\nThe best smoothing at each k of %s, with one standard error:\n\n", settingOf(chosen))
	printCurve(w, settings[settingOf(chosen)], metric)
	mean, e := figure(best, metric)
	printf(w, "\nBest: %s, %s ± %s.\n", describe(best), metric.Format(mean), metric.Format(e))
	mean, e = figure(chosen, metric)
	printf(w, "Chosen: %s, %s ± %s: the fewest features within one standard error of the best.\n", describe(chosen), metric.Format(mean), metric.Format(e))
	printf(w, "\n%s: %s, %s, counts/, %s\n", p.Dir, modelio.TuningFile, modelio.TuningChart, modelio.ManifestFile)
	return nil
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// settingOf names the setting of a row.
func settingOf(r modelio.TuningRow) string {
	name := r.Model
	if r.Model != solver.Bernoulli.String() && r.Weights != "count" {
		name += ", weights " + r.Weights
	}
	if r.MinDF != "" {
		name += ", min_df " + r.MinDF
	}
	return name
}

func describe(r modelio.TuningRow) string {
	text := fmt.Sprintf("%s, k = %s", settingOf(r), r.KRequested)
	if k := formatK(r.K); k != r.KRequested {
		text += " (" + k + " features)"
	}
	return fmt.Sprintf("%s, smoothing %v", text, r.Smoothing)
}

func formatK(k float64) string {
	if k == math.Trunc(k) {
		return strconv.FormatFloat(k, 'f', -1, 64)
	}
	return fmt.Sprintf("about %.0f", k)
}

// printGrid prints a table with a row for each k and a column for each smoothing.
func printGrid(w io.Writer, rows []modelio.TuningRow, metric tuning.Metric) {
	head, lines := []string{"k"}, map[string][]string{}
	var ks []string
	for _, r := range rows {
		if a := strconv.FormatFloat(r.Smoothing, 'g', -1, 64); !slices.Contains(head, a) {
			head = append(head, a)
		}
		if lines[r.KRequested] == nil {
			ks = append(ks, r.KRequested)
			lines[r.KRequested] = []string{r.KRequested}
		}
		mean, _ := figure(r, metric)
		cell := metric.Format(mean)
		switch {
		case r.Chosen:
			cell = "* " + cell
		case r.Best:
			cell = "+ " + cell
		}
		lines[r.KRequested] = append(lines[r.KRequested], cell)
	}
	table := [][]string{head}
	for _, k := range ks {
		table = append(table, lines[k])
	}
	printTable(w, table, strings.Repeat("r", len(head)))
}

// printCurve prints a bar for each k.
func printCurve(w io.Writer, rows []modelio.TuningRow, metric tuning.Metric) {
	const width = 30
	better := func(a, b float64) bool { return a > b == (metric != tuning.LogLoss) }
	var ks []string
	best := map[string]modelio.TuningRow{}
	for _, r := range rows {
		old, ok := best[r.KRequested]
		a, _ := figure(r, metric)
		b, _ := figure(old, metric)
		if !ok {
			ks = append(ks, r.KRequested)
		}
		if !ok || a != b && better(a, b) {
			best[r.KRequested] = r
		}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range best {
		mean, _ := figure(r, metric)
		low, high = min(low, mean), max(high, mean)
	}
	table := [][]string{{"k", "smoothing", metric.String(), "±", ""}}
	for _, k := range ks {
		mean, e := figure(best[k], metric)
		share := 1.0
		if high > low {
			share = (mean - low) / (high - low)
		}
		table = append(table, []string{k, strconv.FormatFloat(best[k].Smoothing, 'g', -1, 64), metric.Format(mean), metric.Format(e),
			strings.Repeat("█", 1+int(math.Round(share*(width-1))))})
	}
	printTable(w, table, "rrrrl")
}
