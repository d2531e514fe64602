package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
)

var evaluate = command{
	name: "evaluate",
	manual: `Usage: sparsenb evaluate --model_dir=DIR --input=GLOB --output=DIR [flags]

Applies a model to labeled documents that it was not trained on, and measures how
well it predicts their labels: accuracy with its 95 % confidence interval,
balanced accuracy, F1, log loss, AUC, Brier score, calibration, the confusion
matrix, and precision and recall of each class. All k and smoothings of the model
are evaluated in one pass. It writes evaluation.parquet, a row for each figure,
and prints a summary. The figures are defined as in scikit-learn.

With --against=DIR it compares the model with a second one on the same documents,
with McNemar's test.

The words are found as the model says; they need no flags. Documents with a label
that the model does not know are counted and named, but not evaluated.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		apply := addApplyFlags(fs)
		apply.reading.addWeightFlag(fs)
		against := fs.String("against", "", "=DIR output folder of the run of a second model to compare with: each model with the one of the same k and smoothing, or with the only one")
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			m, chosen, err := apply.open(ctx)
			if err != nil {
				return err
			}
			a := application{verb: "evaluate", model: m, chosen: chosen, shards: 1, options: map[string]string{}}
			var other *transforms.ModelParams
			if *against != "" {
				p, err := openAgainst(ctx, *against, m, chosen)
				if err != nil {
					return err
				}
				other = &p
				a.options["against"], a.against = p.Dir, []transforms.ModelParams{p}
			}
			return apply.run(ctx, a, func(s beam.Scope, run modelio.Run, output string, d pipeline.Documents) {
				pipeline.Evaluate(s, run, output, d, chosen, other)
			})
		}
	},
}

// openAgainst opens the model to compare with.
func openAgainst(ctx context.Context, dir string, m *model.Model, chosen transforms.ModelParams) (p transforms.ModelParams, err error) {
	if p.Dir, err = fileio.Absolute(dir); err != nil {
		return p, modelio.Usagef("--against: %w", err)
	}
	other, err := model.Open(ctx, p.Dir)
	if err != nil {
		return p, fmt.Errorf("--against: %w", err)
	}
	p.SHA256 = other.SHA256()
	classes, known := selection.Labels(m.Manifest().Classes), selection.Labels(other.Manifest().Classes)
	if !slices.ContainsFunc(classes, func(label string) bool { return slices.Contains(known, label) }) {
		return p, modelio.Usagef("--against=%s: the models have no class in common: %s and %s", dir, selection.ListLabels(classes), selection.ListLabels(known))
	}
	used := map[int]bool{}
	for _, d := range m.Decisions() {
		if chosen.Keeps(d) {
			used[evaluation.Pair(d, other.Decisions())] = true
		}
	}
	for i, d := range other.Decisions() {
		if used[i] {
			p.Decisions = append(p.Decisions, transforms.KeyOf(d))
		}
	}
	if len(p.Decisions) == 0 {
		return p, modelio.Usagef("--against=%s: the models have no k and smoothing in common; train one of them with a k and smoothing of the other", dir)
	}
	return p, nil
}
