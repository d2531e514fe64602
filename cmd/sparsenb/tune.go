package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/report"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/tuning"
)

var tuneCommand = command{
	name: "tune",
	manual: `Usage: sparsenb tune --input=GLOB --output=DIR [flags]

Chooses k, smoothing and other settings by cross-validation, and prints the
command that trains the chosen model. Input files are those of "sparsenb train".

Documents are divided into folds by a hash of their text, or by --group_column.
For each fold and each point of the grid, features are selected and a model is
made from the documents of all other folds, and applied to those of the fold.
The text is read twice, whatever the size of the grid.

The chosen model is the one with the fewest features whose mean is within one
standard error of the best. The run writes tuning.parquet, with the figures of
all models and folds, tuning.svg, a chart of them, and the counts by class and
fold to DIR.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents, grid := addDocumentFlags(fs), addGridFlags(fs)
		documents.reading.addGroupFlag(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			if err := documents.check(); err != nil {
				return err
			}
			p, err := grid.parse(documents)
			if err != nil {
				return err
			}
			d, runner, err := documents.parse(ctx)
			if e := p.Validate(d); err == nil && e != nil {
				return e
			}
			run := pipeline.NewTuneRun(versionString(), d, p)
			if err != nil {
				return pipeline.Refuse(ctx, *documents.output, run, err)
			}
			if err := checkRejects(ctx, d.Rejects, runner, run); err != nil {
				return err
			}
			err = launch(ctx, runner, *documents.output, run, size(d.Files), func(s beam.Scope, output string) {
				pipeline.Tune(s, run, output, d, p)
			})
			if err != nil || runner.Template != "" {
				return err
			}
			return printTrainCommand(ctx, stdout, fs, *documents.output)
		}
	},
}

// gridFlags define the models that are compared.
type gridFlags struct {
	k, smoothing, model, minDF                       list
	method, strategy, maxDF, minCount, folds, metric *string
}

// The default grid.
const (
	defaultKs         = "10,20,50,100,200,500,1000,2000,5000,10000,20000,50000"
	defaultSmoothings = "0.01,0.1,0.3,1,3,10"
)

func addGridFlags(fs *flag.FlagSet) *gridFlags {
	f := &gridFlags{
		method:   fs.String("method", string(solver.NFS), "=NAME selection method: nfs (naive feature selection), or a baseline that ranks features by a statistic: "+baselines()),
		strategy: fs.String("strategy", modelio.OneVersusRest, "=NAME with more than two classes: ovr (each class against the rest), ovo (each pair of classes) or joint (one set of features for all classes)"),
		maxDF:    fs.String("max_df", "", "=N|P% leave out features in more documents than this; 1 is one document, 1.0 and 100% are all"),
		minCount: fs.String("min_count", "", "=N leave out features with fewer occurrences in all classes together"),
		folds:    fs.String("folds", "10", "=N number of folds, 2 to 100"),
		metric:   fs.String("metric", string(tuning.Accuracy), "=NAME figure by which models are compared: accuracy, balanced_accuracy (the mean over the classes) or log_loss"),
	}
	fs.Var(&f.k, "k", "=K,… numbers of features to compare: numbers, percentages of all distinct features, or rules, as of sparsenb train (default "+defaultKs+")")
	fs.Var(&f.smoothing, "smoothing", "=A,… pseudo-counts to compare (default "+defaultSmoothings+")")
	fs.Var(&f.model, "model", "=NAME,… naive Bayes models to compare: multinomial, bernoulli (default multinomial)")
	fs.Var(&f.minDF, "min_df", "=N|P%,… limits to compare: features in fewer documents are left out (default: no limit)")
	fs.Lookup("weights").Usage = "=NAME,… what a document adds to the count of a feature that occurs in it tf times: count (tf), binary (1) or log (1 + ln tf). count,binary compares both"
	return f
}

// parse returns the grid. Weights that documents have as a list become those of the counts.
func (f *gridFlags) parse(documents *documentFlags) (p pipeline.TuneParams, err error) {
	or := func(l list, text string) []string {
		if len(l) == 0 {
			l = list{text}
		}
		return unique(l.commas())
	}
	weights := unique(list{*documents.weights.weights}.commas())
	for _, w := range weights {
		if !slices.Contains(modelio.WeightNames, w) {
			return p, modelio.Usagef("--weights=%s: must be count, binary, log, or count,binary", w)
		}
	}
	if len(weights) > 1 && (slices.Contains(weights, "log") || slices.Contains(weights, "tfidf")) {
		return p, modelio.Usagef("--weights=%s: log and tfidf need counts of their own, and cannot be compared with others in one run", *documents.weights.weights)
	}
	*documents.weights.weights = weights[0]
	if weights[0] == modelio.BinaryWeights {
		*documents.weights.weights = "count"
	}
	for _, model := range or(f.model, "multinomial") {
		for i, w := range weights {
			if model == solver.Bernoulli.String() && i > 0 { // documents count in any case
				continue
			}
			for _, minDF := range or(f.minDF, "") {
				s, err := selection.ParseParams(map[string]string{
					"k": strings.Join(or(f.k, defaultKs), ","), "smoothing": strings.Join(or(f.smoothing, defaultSmoothings), ","),
					"model": model, "weights": w, "min_df": minDF, "max_df": *f.maxDF, "min_count": *f.minCount,
					"method": *f.method, "strategy": *f.strategy,
				})
				if err != nil {
					return p, modelio.Usagef("%w", err)
				}
				p.Grid.Settings = append(p.Grid.Settings, s)
			}
		}
	}
	if p.Folds.Number, err = parseInt("folds", *f.folds); err != nil {
		return p, err
	}
	p.Folds.ByGroup = documents.reading.groupColumn != ""
	p.Metric, err = tuning.ParseMetric(*f.metric, p.Grid.Settings[0].Strategy)
	return p, cmp.Or(err, p.Grid.Validate(p.Folds.Number))
}

// unique returns the values, each once, in the order of the list.
func unique(values []string) (list []string) {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

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

// gridOnly are the flags of tune that the command of the chosen model does not have, or has with another value.
var gridOnly = []string{"folds", "metric", "group_column", "k", "smoothing", "model", "weights", "min_df", "output"}

// printTrainCommand prints the command that trains the chosen model.
func printTrainCommand(ctx context.Context, w io.Writer, fs *flag.FlagSet, dir string) error {
	rows, err := readTuning(ctx, dir)
	if err != nil {
		return err
	}
	chosen := rows[slices.IndexFunc(rows, func(r modelio.TuningRow) bool { return r.Chosen })]
	printf(w, "\nTo train the chosen model:\n  %s\n", trainCommand(fs, chosen, dir))
	return nil
}

func trainCommand(fs *flag.FlagSet, chosen modelio.TuningRow, dir string) string {
	words := []string{"sparsenb", "train"}
	add := func(name, value string) { words = append(words, quoteShell("--"+name+"="+value)) }
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(gridOnly, f.Name) {
			return
		}
		value := f.Value
		if s, ok := value.(*single); ok {
			value = s.Value
		}
		if l, ok := value.(*list); ok {
			for _, v := range *l {
				add(f.Name, v)
			}
			return
		}
		add(f.Name, value.String())
	})
	add("k", chosen.KRequested)
	add("smoothing", strconv.FormatFloat(chosen.Smoothing, 'g', -1, 64))
	if chosen.Model != "multinomial" {
		add("model", chosen.Model)
	} else if chosen.Weights != "count" {
		add("weights", chosen.Weights)
	}
	if chosen.MinDF != "" {
		add("min_df", chosen.MinDF)
	}
	add("output", strings.TrimSuffix(dir, "/")+"-model")
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteShell quotes a word for a shell.
func quoteShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
