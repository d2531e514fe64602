package main

import (
	"flag"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
)

// selectionFlags say which features to select; train and select have them.
type selectionFlags struct {
	k, smoothing              list
	model, strategy, positive *string
}

func addSelectionFlags(fs *flag.FlagSet) *selectionFlags {
	f := &selectionFlags{
		model:    fs.String("model", "multinomial", "=multinomial\n        multinomial (how often a word occurs) or bernoulli (in how many documents) (default multinomial)"),
		strategy: fs.String("strategy", modelio.OneVersusRest, "=ovr\n        of more than two classes: ovr (each against all others) or ovo (each pair) (default ovr)"),
		positive: fs.String("positive", "", "=LABEL\n        the class whose features get positive weights (default the last label in byte order; of more than two classes: each in turn)"),
	}
	fs.Var(&f.smoothing, "smoothing", "=1\n        added to every count, scikit-learn's alpha; a list 0.1,1 makes a model for each (default 1)")
	fs.Var(&f.k, "k", "=K\n        how many features to select: 10, or 5% of all, or a list 10,100,1% for several models. A share is of all different words, rounded, and at least one")
	return f
}

func (f *selectionFlags) parse() (s pipeline.Selection, err error) {
	if len(f.k) == 0 {
		return s, pipeline.Usagef("--k is missing: how many features to select, such as --k=10 or --k=1%%")
	}
	for _, text := range f.k.commas() {
		k, err := transforms.ParseK(text)
		if err != nil {
			return s, pipeline.Usagef("--k: %w", err)
		}
		s.K = append(s.K, k)
	}
	if s.Model, err = solver.ParseModel(*f.model); err != nil {
		return s, pipeline.Usagef("--model: %w", err)
	}
	if s.Strategy, err = transforms.ParseStrategy(*f.strategy); err != nil {
		return s, pipeline.Usagef("--strategy: %w", err)
	}
	if s.Smoothing, err = parseSmoothing(f.smoothing.commas()); err != nil {
		return s, err
	}
	s.Positive = *f.positive
	return s, nil
}
