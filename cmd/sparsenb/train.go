package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

var train = command{
	name: "train",
	manual: `Usage: sparsenb [train] --input=GLOB --output=DIR --k=K [flags]

Selects the k words that best distinguish the classes of labeled documents:
those of the maximum-likelihood sparse naive Bayes model. The result includes a
bound on its distance from the optimum; usually it is proven optimal.

Input files are Parquet, CSV or JSON Lines with columns for label and text, TSV
(label<TAB>text), fastText, web archives, or plain text whose label is the name
of its folder or file (--label_from) or is given (--class=LABEL=GLOB). Matrices
are read, too (--format=matrix or svmlight). The format is detected. Files may be
compressed, and may be on disk or in Google Cloud Storage (gs://bucket/object).
"sparsenb check" with the same flags shows how they are read.

Features are words, or n-grams of words or characters (--analyzer, --ngrams),
counted by name or in hash buckets (--hash_bits), and weighted (--weights).

With two classes there is one model. With more, each class is compared with the
rest (--strategy=ovr), each pair of classes is compared (ovo), or one set of
features distinguishes all classes (joint). The weights of the selected features
are those of naive Bayes, or of logistic regression or a linear SVM, for which the
text is read again (--classifier).

The run writes counts/, features.parquet, model.parquet, path.parquet and
manifest.json to DIR, and _SUCCESS last. To finish an interrupted run, repeat
the command. Repeating the command of a published run does nothing.

By default the job runs in this process on all cores and opens no port. To run
it on a cluster, add --runner=flink or --runner=spark and --endpoint=HOST:PORT,
or --runner=dataflow; see docs/engines.md. Beam's other flags are accepted, too.

Other commands (sparsenb help COMMAND):
  count     count the features of documents
  select    select features from counts, without reading the text
  tune      choose k, smoothing and other settings by cross-validation
  predict   predict the classes of documents with a model
  evaluate  measure how well a model predicts labels
  transform turn documents into rows of the selected features
  check     show how documents are read, and find mistakes, without a run
  inspect   show, verify or compare published runs
  version   print the version

Exit codes:
  0         published, or already published by the same run
  1         pipeline or storage failure; a retry may help
  2         invalid command or configuration, or the output folder is not empty;
            a retry cannot help
  3         the data failed a check; nothing was published
  4         another run took the output folder at the same time
  130, 143  interrupted (SIGINT, SIGTERM)
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents, selected := addDocumentFlags(fs), addSelectionFlags(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			if err := documents.check(); err != nil {
				return err
			}
			sel, err := selected.parse(ctx, *documents.weights.weights)
			if err != nil {
				return err
			}
			d, runner, err := documents.parse(ctx)
			run := pipeline.NewRun("train", versionString(), &d, nil, &sel)
			if err != nil {
				return pipeline.Refuse(ctx, *documents.output, run, err)
			}
			if sel.Pruning.Any() && d.Weights.Scheme == kernel.TFIDF {
				return modelio.Usagef("--weights=tfidf cannot be used with --min_df and the like, because the norm of a document would have to be that of the words that are left; \"sparsenb select\" prunes after the weighting")
			}
			if err := sel.Pruning.ValidateFor(d.HashBits); err != nil {
				return err
			}
			if err := checkRejects(ctx, d.Rejects, runner, run); err != nil {
				return err
			}
			return launch(ctx, runner, *documents.output, run, size(d.Files), func(s beam.Scope, output string) {
				pipeline.Train(s, run, output, d, sel)
			})
		}
	},
}
