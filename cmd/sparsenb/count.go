package main

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/pipeline"
)

var count = verb{
	name:     "count",
	synopsis: "documents → counts",
	manual: `Usage: sparsenb count --input=GLOB --output=DIR [flags]

Reads documents, lines of the form label<TAB>text, and writes how often each word or n-gram occurs in each class, and in how
many of its documents, to DIR/counts. There may be any number of classes. "sparsenb select --counts=DIR" goes on from there.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents := addDocumentFlags(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			d, runner, err := documents.parse(ctx)
			if err != nil {
				return pipeline.Refuse(ctx, *documents.output, pipeline.NewRun("count", versionString(), &d, nil, nil), err)
			}
			run := pipeline.NewRun("count", versionString(), &d, nil, nil)
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
