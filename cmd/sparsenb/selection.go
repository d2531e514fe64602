package main

import (
	"context"
	"flag"
	"maps"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// selectionFlags define which features to select; train and select have them.
type selectionFlags struct {
	k, smoothing                      list
	model, method, strategy, positive *string
	pruning                           pruningFlags
	classifier                        classifierFlags
}

func addSelectionFlags(fs *flag.FlagSet) *selectionFlags {
	f := &selectionFlags{
		pruning:    addPruningFlags(fs),
		classifier: addClassifierFlags(fs),
		model:      fs.String("model", "multinomial", "=NAME naive Bayes model: multinomial (occurrences of a feature) or bernoulli (documents that contain it)"),
		method:     fs.String("method", string(solver.NFS), "=NAME selection method: nfs (naive feature selection, with a bound on its distance from the optimum), or a baseline that ranks features by a statistic: "+baselines()),
		strategy:   fs.String("strategy", modelio.OneVersusRest, "=NAME with more than two classes: ovr (each class against the rest), ovo (each pair of classes) or joint (one set of features for all classes)"),
		positive:   fs.String("positive", "", "=LABEL class whose features get positive weights (default: the last label in byte order; with more than two classes, each class in turn)"),
	}
	fs.Var(&f.smoothing, "smoothing", "=A pseudo-count added to every count, scikit-learn's alpha; a list such as 0.1,1 makes one model for each (default 1)")
	fs.Var(&f.k, "k", "=K number of features to select: a number; a percentage of all distinct features, such as 1%; or a rule: auto:gain=99% (the fewest with 99% of the gain of all), auto:knee (the knee of the gain curve), auto:fdr=0.05 (those significant at this false discovery rate; for --model=bernoulli only). A list such as 10,100,1% makes one model for each")
	return f
}

// baselines lists the methods other than nfs.
func baselines() string {
	var names []string
	for _, m := range solver.Methods {
		if m != solver.NFS {
			names = append(names, m.String())
		}
	}
	return strings.Join(names, ", ")
}

func (f *selectionFlags) parse(ctx context.Context, weights string) (s selection.Params, err error) {
	if len(f.k) == 0 {
		return s, modelio.Usagef("--k is required: the number of features to select, such as --k=10 or --k=1%%")
	}
	if len(f.smoothing) == 0 {
		f.smoothing = list{"1"}
	}
	options := map[string]string{
		"k": strings.Join(f.k.commas(), ","), "smoothing": strings.Join(f.smoothing.commas(), ","),
		"model": *f.model, "method": *f.method, "strategy": *f.strategy, "positive": *f.positive, "weights": weights,
	}
	maps.Copy(options, f.pruning.options())
	maps.Copy(options, f.classifier.options())
	if s, err = selection.ParseParams(options); err != nil {
		return s, modelio.Usagef("%w", err)
	}
	if err := s.Validate(); err != nil {
		return s, err
	}
	return s, f.pruning.read(ctx, &s.Pruning)
}
