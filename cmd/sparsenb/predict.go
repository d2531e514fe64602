package main

import (
	"context"
	"flag"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

var predict = command{
	name: "predict",
	manual: `Usage: sparsenb predict --model_dir=DIR --input=GLOB --output=DIR [flags]
       sparsenb predict --model_dir=DIR <FILE >FILE

Applies a model to documents. With --output, it writes predictions.parquet: a row
for each document and k, with the predicted label, its score and the logarithm
of its probability. Input files are those of "sparsenb train", except that
documents need no label.

Without --input and --output, it reads a document from each line of standard
input, as text, label<TAB>text, fastText or JSON, and writes a line for each to
standard output at once: predicted label, probability, label, text, and with
--explain the reasons, separated by tabs. The model must have one k, or --k
chooses one.

The words are found as the model says; they need no flags. Words that the model
does not have are ignored.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		apply := addApplyFlags(fs)
		apply.reading.addIDFlag(fs)
		reasons := fs.String("explain", "0", "=N also list the N features that weighed most in each decision")
		shards := addRowShardsFlag(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			m, chosen, err := apply.open(ctx)
			if err != nil {
				return err
			}
			p := pipeline.Predictions{Model: chosen}
			if p.Reasons, err = parseInt("explain", *reasons); err != nil {
				return err
			}
			if p.Reasons < 0 || p.Reasons > maxReasons {
				return modelio.Usagef("--explain=%d: must be 0 to %d", p.Reasons, maxReasons)
			}
			if len(apply.input) == 0 && *apply.output == "" {
				if err := checkStreamFlags(fs); err != nil {
					return err
				}
				return apply.predictStream(ctx, os.Stdin, os.Stdout, m, chosen, p.Reasons)
			}
			n, err := parseInt("shards", *shards)
			if err != nil {
				return err
			}
			a := application{verb: "predict", model: m, chosen: chosen, shards: n, options: p.Options()}
			return apply.run(ctx, a, func(s beam.Scope, run modelio.Run, output string, d pipeline.Documents) {
				pipeline.Predict(s, run, output, d, p)
			})
		}
	},
}

// maxReasons is the largest number of features that are listed for a decision.
const maxReasons = 1000
