package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/selection"
)

var selectCommand = command{
	name: "select",
	manual: `Usage: sparsenb select --counts=DIR|FILE --output=DIR --k=K [flags]

Selects features from counts, without reading the text. The counts are the
output of "sparsenb count" or "sparsenb train", or a custom table in a CSV, TSV
or Parquet file. The table has one of two layouts:
  wide  a column feature, and for each class a column of counts named by its
        label
  long  the columns feature, class and count, and optionally documents, with a
        row for each feature and class in any order
A feature whose counts are all zero is part of the vocabulary.

A custom table does not contain the number of documents of each class. Give it
with --class_documents=LABEL=N,… for a model with an intercept, and for
--model=bernoulli. The Bernoulli model uses the column documents, or if there is
none, the counts as numbers of documents.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		output, selected, chooseRunner := addOutputFlag(fs), addSelectionFlags(fs), addRunnerFlags(fs)
		from := fs.String("counts", "", "=DIR|FILE output folder of a run, or a custom table")
		weights := fs.String("weights", "", "=NAME what a document adds to the count of a feature: count, binary, log or tfidf. binary uses the numbers of documents in the counts; the others must be those of the counts (default: those of the counts; train --weights=binary writes counts of occurrences)")
		var classDocuments list
		fs.Var(&classDocuments, "class_documents", "=LABEL=N,… number of documents of each class of a custom table; may be repeated")
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			sel, err := selected.parse(ctx, *weights)
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
			counts, err := selection.FindCounts(ctx, *from, documents, sel)
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
