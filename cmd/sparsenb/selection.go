package main

import (
	"flag"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// selectionFlags say which features to select; train and select have them.
type selectionFlags struct {
	k, smoothing                      list
	model, method, strategy, positive *string
}

func addSelectionFlags(fs *flag.FlagSet) *selectionFlags {
	f := &selectionFlags{
		model:    fs.String("model", "multinomial", "=multinomial\n        multinomial (how often a word occurs) or bernoulli (in how many documents) (default multinomial)"),
		method:   fs.String("method", string(solver.NFS), "=nfs\n        nfs, or what others rank by: "+otherMethods()+" (default nfs)"),
		strategy: fs.String("strategy", modelio.OneVersusRest, "=ovr\n        of more than two classes: ovr (each against all others), ovo (each pair), or joint (one set of features for all) (default ovr)"),
		positive: fs.String("positive", "", "=LABEL\n        the class whose features get positive weights (default the last label in byte order; of more than two classes: each in turn)"),
	}
	fs.Var(&f.smoothing, "smoothing", "=1\n        added to every count, scikit-learn's alpha; a list 0.1,1 makes a model for each (default 1)")
	fs.Var(&f.k, "k", "=K\n        how many features to select: 10, or 5% of all, or a list 10,100,1% for several models, or a rule: auto:gain=99%, auto:knee, auto:fdr=0.05. A share is of all different features, rounded, and at least one")
	return f
}

// otherMethods lists the methods that rank.
func otherMethods() string {
	var names []string
	for _, m := range solver.Methods {
		if m != solver.NFS {
			names = append(names, m.String())
		}
	}
	return strings.Join(names, ", ")
}

func (f *selectionFlags) parse() (s selection.Params, err error) {
	if len(f.k) == 0 {
		return s, modelio.Usagef("--k is missing: how many features to select, such as --k=10 or --k=1%%")
	}
	if len(f.smoothing) == 0 {
		f.smoothing = list{"1"}
	}
	s, err = selection.ParseParams(map[string]string{
		"k": strings.Join(f.k.commas(), ","), "smoothing": strings.Join(f.smoothing.commas(), ","),
		"model": *f.model, "method": *f.method, "strategy": *f.strategy, "positive": *f.positive,
	})
	if err != nil {
		return s, modelio.Usagef("%w", err)
	}
	switch {
	case s.Strategy == modelio.Joint && s.Method != solver.NFS:
		return s, modelio.Usagef("--method=%s: chooses for two sides; with --strategy=joint it is nfs", s.Method)
	case s.Strategy == modelio.Joint && s.Positive != "":
		return s, modelio.Usagef("--positive=%s: with --strategy=joint no class is the positive one", s.Positive)
	case s.Method != solver.NFS && slices.ContainsFunc(s.K, func(k selection.K) bool { return k.Rule == selection.ForGain }):
		return s, modelio.Usagef("--k=auto:gain: finds the k of the best support; with --method=%s give a number", s.Method)
	case s.Model != solver.Bernoulli && slices.ContainsFunc(s.K, func(k selection.K) bool { return k.Rule == selection.FDR }):
		return s, modelio.Usagef("--k=auto:fdr: tests the presence of words in documents, and needs --model=bernoulli")
	}
	return s, nil
}
