package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms"
)

var transform = command{
	name: "transform",
	manual: `Usage: sparsenb transform --model_dir=DIR --input=GLOB --output=DIR [flags]

Turns documents into rows of the selected features, for another learner. Input
files are those of "sparsenb train", except that documents need no label.
Columns are the features of the chosen models, sorted by name, and
columns.parquet lists them. Values are those that the model uses, such as
occurrences; they are not rounded to --value_unit.

--layout=lists writes rows.parquet with the columns source, offset, id, label,
indices (from 0) and values: the two lists are a sparse row. --layout=wide
writes a column for each feature in place of the lists; at most 1,000 features.
A feature named source, offset, id or label has the prefix "feature:" there.
--layout=svmlight writes rows.svmlight, whose indices start from 1 and whose
labels are the numbers in classes.parquet; -1 is a document without a label.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		apply := addApplyFlags(fs)
		apply.reading.addIDFlag(fs)
		layout := fs.String("layout", string(transforms.Lists), "=lists|wide|svmlight how the rows are written")
		shards := addRowShardsFlag(fs)
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			m, chosen, err := apply.open(ctx)
			if err != nil {
				return err
			}
			p := pipeline.Matrix{Model: chosen, Layout: transforms.Layout(*layout)}
			if err := checkLayout(m, p); err != nil {
				return err
			}
			if p.Layout == transforms.SVMlight && apply.reading.idColumn != "" {
				return modelio.Usagef("--id_column=%s: svmlight has no place for it; use --layout=lists or wide", apply.reading.idColumn)
			}
			n, err := parseInt("shards", *shards)
			if err != nil {
				return err
			}
			a := application{verb: "transform", model: m, chosen: chosen, shards: n, options: p.Options()}
			return apply.run(ctx, a, func(s beam.Scope, run modelio.Run, output string, d pipeline.Documents) {
				pipeline.Transform(s, run, output, d, p)
			})
		}
	},
}

func checkLayout(m *model.Model, p pipeline.Matrix) error {
	if !slices.Contains(transforms.Layouts, p.Layout) {
		return modelio.Usagef("--layout=%s: must be lists, wide or svmlight", p.Layout)
	}
	n := len(m.Columns(p.Model.Keeps).Names())
	if p.Layout != transforms.Wide || n <= transforms.MaxWide {
		return nil
	}
	smaller := "or train a model with a smaller k"
	for _, d := range m.Decisions() {
		if 0 < d.K && d.K <= transforms.MaxWide {
			smaller = fmt.Sprintf("or choose a smaller model, such as that of --k=%d", d.K)
		}
	}
	return modelio.Usagef("--layout=wide: the chosen models have %s features, but at most %s columns are possible; use --layout=lists, %s",
		humanize.Comma(int64(n)), humanize.Comma(transforms.MaxWide), smaller)
}
