package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/pipeline"
)

var selectCommand = command{
	name: "select",
	manual: `Usage: sparsenb select --counts=DIR|FILE --output=DIR --k=K [flags]

Selects features from counts, without reading the text. The counts are the output of
"sparsenb count" or "sparsenb train", or a custom table: a CSV, TSV or Parquet file
with either
  a column named feature, and for each class a column of counts, named by its label; or
  the columns feature, class and count, with a row for each feature and class, in any
  order.
A feature whose counts are all zero is still one of the vocabulary.

A custom table does not have the number of documents. --class_documents=LABEL=N,…
states it; the model then has an intercept. --model=bernoulli requires it, and counts
documents: the column documents beside count if there is one, otherwise the counts.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		output, selected, chooseRunner := addOutputFlag(fs), addSelectionFlags(fs), addRunnerFlags(fs)
		from := fs.String("counts", "", "=DIR|FILE output folder of a run, or a custom table")
		var classDocuments list
		fs.Var(&classDocuments, "class_documents", "=LABEL=N,… number of documents of each class of a custom table; may be repeated")
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			sel, err := selected.parse()
			if err != nil {
				return err
			}
			if err := required("counts", *from, "the output folder of a run, or a table with a column feature and one for each class, or with columns feature, class and count"); err != nil {
				return err
			}
			if err := required("output", *output, "the folder to write to"); err != nil {
				return err
			}
			documents, err := parseClassDocuments(classDocuments)
			if err != nil {
				return err
			}
			counts, err := pipeline.FindCounts(ctx, *from, documents, sel)
			run := pipeline.NewRun("select", versionString(), nil, &counts, &sel)
			if err != nil {
				return pipeline.Refuse(ctx, *output, run, err)
			}
			runner, err := chooseRunner()
			if err != nil {
				return err
			}
			if !runner.InProcess() {
				counts.Threads = 1 // an engine runs one bundle per slot
			}
			return launch(ctx, runner, *output, run, 0, func(s beam.Scope, output string) {
				pipeline.Select(s, run, output, counts, sel)
			})
		}
	},
}
