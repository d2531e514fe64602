package main

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
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
