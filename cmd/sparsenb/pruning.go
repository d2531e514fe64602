package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

// pruningFlags define which features are left out before a selection; train and select have them.
type pruningFlags struct {
	minDF, maxDF, minCount, maxFeatures, vocabulary, exclude *string
}

func addPruningFlags(fs *flag.FlagSet) pruningFlags {
	return pruningFlags{
		minDF:       fs.String("min_df", "", "=N|P% leave out features in fewer documents than this: a number, or a share of all documents, such as 1% or 0.01"),
		maxDF:       fs.String("max_df", "", "=N|P% leave out features in more documents than this; 1 is one document, 1.0 and 100% are all"),
		minCount:    fs.String("min_count", "", "=N leave out features with fewer occurrences in all classes together"),
		maxFeatures: fs.String("max_features", "", "=N leave only the N features with the most occurrences, after the other rules"),
		vocabulary:  fs.String("vocabulary", "", "=FILE leave only the features in this file, one on each line; those that do not occur count as features with counts of 0"),
		exclude:     fs.String("exclude", "", "=FILE leave out the features in this file, one on each line"),
	}
}

// options are the flags that need no file, as the options of a run.
func (f pruningFlags) options() map[string]string {
	return map[string]string{"min_df": *f.minDF, "max_df": *f.maxDF, "min_count": *f.minCount, "max_features": *f.maxFeatures}
}

// read reads the files of names.
func (f pruningFlags) read(ctx context.Context, p *selection.Pruning) error {
	for _, file := range []struct {
		flag, name string
		names      *selection.Names
	}{{"vocabulary", *f.vocabulary, &p.Vocabulary}, {"exclude", *f.exclude, &p.Exclude}} {
		if file.name == "" {
			continue
		}
		var err error
		if *file.names, err = selection.ReadNames(ctx, file.name); err != nil {
			return modelio.InputError(fmt.Errorf("--%s: %w", file.flag, err))
		}
	}
	return nil
}
