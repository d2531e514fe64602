package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/pipeline"
)

var train = verb{
	name:     "train",
	synopsis: "documents → counts → features and model",
	manual: `Usage: sparsenb [train] --input=GLOB --output=DIR --k=K [flags]

Reads documents, lines of the form label<TAB>text, counts how often each word occurs in each class, and selects the k
words that a sparse naive Bayes model of maximum likelihood uses, with a proof of how near to the optimum the choice is.
Of more than two classes each is told from all others, by --strategy=ovo from each other, or by --strategy=joint one set of words
tells all classes apart. Instead of words there may be n-grams of words or characters (--analyzer, --ngrams), by name or in
buckets (--hash_bits). Files may be plain or compressed by gzip, zstd or bzip2, on a disk or in Google Cloud Storage (gs://bucket/file).

DIR gets counts/, features.parquet, model.parquet, path.parquet and manifest.json, and last _SUCCESS. A run that is
killed is finished by the same command. A run that is complete is not repeated.

By default it runs locally, in this process and on all cores, and opens no port. With --runner=flink|spark --endpoint=HOST:PORT
a cluster does the work, with --runner=dataflow Google's service; docs/engines.md says more. Other flags of Beam work, too.

Other verbs (sparsenb help VERB):
  count     documents → counts
  select    counts → features and model, without reading the text
  inspect   shows a run, checks it, or compares two
  version   prints the version

Exit codes: 0 published, or published before by the same run; 1 the pipeline or its storage failed, a retry may help;
2 the command does not fit, a retry cannot help; 3 the data failed a gate; 4 another run won the output.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents, chosen := addDocumentFlags(fs), addSelectionFlags(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			if err := documents.check(); err != nil {
				return err
			}
			sel, err := chosen.parse()
			if err != nil {
				return err
			}
			d, runner, err := documents.parse(ctx)
			if err != nil {
				return pipeline.Refuse(ctx, *documents.output, pipeline.NewRun("train", versionString(), &d, nil, &sel), err)
			}
			run := pipeline.NewRun("train", versionString(), &d, nil, &sel)
			return launch(ctx, runner, *documents.output, run, size(d.Files), func(s beam.Scope, output string) {
				pipeline.Train(s, run, output, d, sel)
			})
		}
	},
}
