package main

import (
	"context"
	"flag"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
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

// launch runs a job unless it has been published already, shows how far it is, and then what came of it.
func launch(ctx context.Context, runner pipeline.Runner, output string, run modelio.Run, inputBytes int64, build func(s beam.Scope, output string)) error {
	if runner.Beam == "dataflow" && !strings.HasPrefix(output, "gs://") {
		return pipeline.Usagef("--output=%s: the workers of Dataflow cannot write there; name a folder such as gs://bucket/out", output)
	}
	if !runner.Loopback() { // the workers have working folders of their own
		absolute, err := fileio.Absolute(output)
		if err != nil {
			return &pipeline.Error{Exit: pipeline.ExitUsage, Err: err}
		}
		output = absolute
	}
	published, err := pipeline.Check(ctx, output, run)
	if err != nil {
		return err
	}
	if published {
		printf(os.Stderr, "sparsenb: %s: this run is published already; nothing was done\n", output)
		return summarise(ctx, stdout, output)
	}
	in := func(s beam.Scope) { build(s, output) }
	if runner.Template != "" {
		if err := pipeline.Stage(ctx, runner, in); err != nil {
			return err
		}
		printf(os.Stderr, "sparsenb: wrote the template %s; it publishes to %s\n", runner.Template, output)
		return nil
	}
	if runner.OpensPort() && runtime.GOMAXPROCS(0) < 2 {
		// Prism waits for side inputs in a loop. On one processor it takes turns with the work, by slices of 10 ms: select
		// took 4.7 s, and takes .6 s where the operating system shares out the processor.
		runtime.GOMAXPROCS(2)
	}
	started := time.Now()
	progress := newReporter(os.Stderr, run, inputBytes)
	err = pipeline.Run(ctx, runner, output, run, in, progress.update)
	progress.finish()
	if err != nil {
		return err
	}
	printf(os.Stderr, "sparsenb: published %s in %s%s\n", output, time.Since(started).Round(10*time.Millisecond), progress.read())
	return summarise(ctx, stdout, output)
}
