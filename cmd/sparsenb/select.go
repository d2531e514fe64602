package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/selection"
)

var selectVerb = verb{
	name:     "select",
	synopsis: "counts → features and model",
	manual: `Usage: sparsenb select --counts=DIR|FILE --output=DIR --k=K [flags]

Selects features from counts, without reading any text: from the output of "sparsenb count" or "sparsenb train", or from
a table of your own. Such a table is CSV, TSV or Parquet. It has a column named feature, and a column of counts for each
class, whose name is the label; or it has a row for each feature and class, in any order, in columns named
feature, class and count. A row of zeros is a feature like any other.

A table of your own does not say how many documents there are; with --class_documents=label=n,label=n the model gets an
intercept, and the Bernoulli model becomes possible. That one counts documents: the column documents that may stand
beside count, or else the counts themselves.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		output, chosen, runner := addOutputFlag(fs), addSelectionFlags(fs), addRunnerFlags(fs)
		from := fs.String("counts", "", "=DIR|FILE\n        the output of a run, or a table of your own")
		var classDocuments list
		fs.Var(&classDocuments, "class_documents", "=LABEL=N,LABEL=N\n        how many documents the classes of a table of your own have")
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			sel, err := chosen.parse()
			if err != nil {
				return err
			}
			if err := required("counts", *from, "the output of a run, or a table with a column named feature and one for each class, or with columns named feature, class and count"); err != nil {
				return err
			}
			if err := required("output", *output, "the folder to write to"); err != nil {
				return err
			}
			documents, err := parseClassDocuments(classDocuments)
			if err != nil {
				return err
			}
			counts, err := selection.FindCounts(ctx, *from, documents, sel)
			if err != nil {
				return pipeline.Refuse(ctx, *output, pipeline.NewRun("select", versionString(), nil, &counts, &sel), err)
			}
			runner, err := runner()
			if err != nil {
				return err
			}
			if !runner.InProcess() {
				counts.Threads = 1 // an engine makes a bundle for every slot it has
			}
			run := pipeline.NewRun("select", versionString(), nil, &counts, &sel)
			return launch(ctx, runner, *output, run, 0, func(s beam.Scope, output string) {
				pipeline.Select(s, run, output, counts, sel)
			})
		}
	},
}
