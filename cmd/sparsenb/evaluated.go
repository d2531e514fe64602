package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
)

// printEvaluation prints the figures of a run of evaluate.
func printEvaluation(ctx context.Context, w io.Writer, p modelio.Published) error {
	rows, err := modelio.ReadEvaluation(ctx, p.Dir)
	if err != nil {
		return err
	}
	e := report.NewEvaluation(rows)
	if len(e.Decisions) == 0 {
		return nil
	}
	printf(w, "\n")
	printDecisions(w, e)
	best := e.Decisions[e.Best]
	if len(e.Decisions) > 1 {
		printf(w, "\nThe model with the highest accuracy here: %s\n", best.Key)
	}
	printConfusions(w, best)
	printClasses(w, best)
	if text := best.Calibration(); text != "" {
		printf(w, "\n%s\n", text)
	}
	if text := best.Compared(p.Manifest.Options["against"]); text != "" {
		printf(w, "\n%s\n", text)
	}
	return nil
}

// printDecisions prints a line for each decision.
func printDecisions(w io.Writer, e report.Evaluation) {
	differ := func(property func(report.Evaluated) any) bool {
		return slices.ContainsFunc(e.Decisions, func(d report.Evaluated) bool { return property(d) != property(e.Decisions[0]) })
	}
	var head []string
	var cells []func(report.Evaluated) string
	align := ""
	add := func(show bool, name, alignment string, cell func(report.Evaluated) string) {
		if show {
			head, cells, align = append(head, name), append(cells, cell), align+alignment
		}
	}
	figure := func(show bool, name, metric, format string) {
		defined := slices.ContainsFunc(e.Decisions, func(d report.Evaluated) bool { _, ok := d.Figures[metric]; return ok })
		add(show && defined, name, "r", func(d report.Evaluated) string {
			value, ok := d.Figures[metric]
			if !ok {
				return "–"
			}
			return fmt.Sprintf(format, value)
		})
	}
	add(differ(func(d report.Evaluated) any { return d.Problem }), "problem", "l", func(d report.Evaluated) string { return d.Problem })
	add(differ(func(d report.Evaluated) any { return d.Classifier }), "classifier", "l", func(d report.Evaluated) string { return d.Classifier })
	add(true, "k", "r", func(d report.Evaluated) string { return humanize.Comma(d.K) })
	add(e.SameK(), "requested", "l", func(d report.Evaluated) string { return d.KRequested })
	add(differ(func(d report.Evaluated) any { return d.Smoothing }), "smoothing", "r", func(d report.Evaluated) string { return strconv.FormatFloat(d.Smoothing, 'g', -1, 64) })
	figure(true, "accuracy", evaluation.Accuracy, "%.4f")
	add(true, "95 % interval", "l", func(d report.Evaluated) string {
		return fmt.Sprintf("%.4f to %.4f", d.Figures[evaluation.AccuracyLow], d.Figures[evaluation.AccuracyHigh])
	})
	figure(true, "balanced", evaluation.BalancedAccuracy, "%.4f")
	figure(true, "macro F1", evaluation.MacroF1, "%.4f")
	figure(true, "log loss", evaluation.LogLoss, "%.4f")
	figure(true, "AUC", evaluation.AUC, "%.4f")
	figure(true, "Brier", evaluation.Brier, "%.4f")
	figure(true, "against", evaluation.AgainstAccuracy, "%.4f")
	figure(true, "McNemar p", evaluation.McNemarP, "%.2g")
	table := [][]string{head}
	for _, d := range e.Decisions {
		var row []string
		for _, cell := range cells {
			row = append(row, cell(d))
		}
		table = append(table, row)
	}
	printTable(w, table, align)
}

// Most classes and mistakes that are printed.
const (
	maxMatrix  = 10
	maxClasses = 20
)

// printConfusions prints the confusion matrix, or the most frequent mistakes if it is large.
func printConfusions(w io.Writer, d report.Evaluated) {
	classes := d.Classes()
	if len(classes) > maxMatrix {
		printMistakes(w, d)
		return
	}
	printf(w, "\nDocuments by true class (rows) and predicted class (columns):\n\n")
	align := "l"
	table := [][]string{append([]string{"true"}, classes...)}
	for _, class := range classes {
		row := []string{class}
		for _, predicted := range classes {
			row = append(row, humanize.Comma(int64(d.Documents(class, predicted))))
		}
		table, align = append(table, row), align+"r"
	}
	printTable(w, table, align)
}

func printMistakes(w io.Writer, d report.Evaluated) {
	mistakes := d.Mistakes()
	if len(mistakes) == 0 {
		return
	}
	printf(w, "\nThe most frequent mistakes:\n\n")
	table := [][]string{{"true", "predicted", "documents", "of class"}}
	for _, c := range mistakes[:min(len(mistakes), maxMatrix)] {
		table = append(table, []string{c.True, c.Predicted, humanize.Comma(int64(c.Documents)),
			fmt.Sprintf("%.1f %%", 100*c.Documents/d.ByClass[evaluation.Support][c.True])})
	}
	printTable(w, table, "llrr")
	if more := len(mistakes) - maxMatrix; more > 0 {
		printf(w, "  … and %d more kinds in %s\n", more, modelio.EvaluationFile)
	}
}

// printClasses prints precision and recall by class, of the classes with the most documents if there are many.
func printClasses(w io.Writer, d report.Evaluated) {
	printf(w, "\n")
	classes, support := d.Classes(), d.ByClass[evaluation.Support]
	more := len(classes) - maxClasses
	if more > 0 {
		slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(support[b], support[a]) })
		classes = classes[:maxClasses]
	}
	table := [][]string{{"class", "documents", "precision", "recall", "F1"}}
	for _, class := range classes {
		row := []string{class, humanize.Comma(int64(support[class]))}
		for _, metric := range []string{evaluation.Precision, evaluation.Recall, evaluation.F1} {
			row = append(row, fmt.Sprintf("%.4f", d.ByClass[metric][class]))
		}
		table = append(table, row)
	}
	printTable(w, table, "lrrrr")
	if more > 0 {
		printf(w, "  … and %d more classes in %s\n", more, modelio.EvaluationFile)
	}
}
