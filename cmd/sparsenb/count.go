package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

var count = command{
	name: "count",
	manual: `Usage: sparsenb count --input=GLOB --output=DIR [flags]

Counts how often each word or n-gram occurs in each class, and in how many
documents of the class. Input files are those of "sparsenb train". The counts are
written to DIR/counts; "sparsenb select --counts=DIR" selects features from them.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents := addDocumentFlags(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			if *documents.weights.weights == modelio.BinaryWeights {
				return modelio.Usagef("--weights=binary: counts have the numbers of documents already; count without it, and use sparsenb select --weights=binary")
			}
			d, runner, err := documents.parse(ctx)
			run := pipeline.NewRun("count", versionString(), &d, nil, nil)
			if err != nil {
				return pipeline.Refuse(ctx, *documents.output, run, err)
			}
			if err := checkRejects(ctx, d.Rejects, runner, run); err != nil {
				return err
			}
			return launch(ctx, runner, *documents.output, run, size(d.Files), func(s beam.Scope, output string) {
				pipeline.Count(s, run, output, d)
			})
		}
	},
}

func size(files []corpusio.File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}
