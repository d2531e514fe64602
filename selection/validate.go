package selection

import (
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Validate returns an error for the first field that is missing, out of range or in conflict with another. The error has
// modelio.ExitUsage and names the flag.
func (p Params) Validate() error {
	hasRule := func(rule Rule) bool {
		return slices.ContainsFunc(p.K, func(k K) bool { return k.Rule == rule })
	}
	joint := p.Strategy == modelio.Joint
	switch {
	case len(p.K) == 0:
		return modelio.Usagef("--k is required: the number of features to select, such as --k=10 or --k=1%%")
	case len(p.Smoothing) == 0:
		return modelio.Usagef("--smoothing: at least one number is required")
	case joint && p.Method.String() != string(solver.NFS):
		return modelio.Usagef("--method=%s: ranks features of two classes; --strategy=joint requires --method=nfs", p.Method)
	case joint && p.Positive != "":
		return modelio.Usagef("--positive=%s: cannot be used with --strategy=joint, which has no positive class", p.Positive)
	case p.Method.String() != string(solver.NFS) && hasRule(ForGain):
		return modelio.Usagef("--k=auto:gain requires --method=nfs; with --method=%s use a number or a percentage", p.Method)
	case p.Model != solver.Bernoulli && hasRule(FDR):
		return modelio.Usagef("--k=auto:fdr requires --model=bernoulli: it tests in how many documents a word occurs")
	}
	if p.Weights != "" && !slices.Contains(modelio.WeightNames, p.Weights) {
		return modelio.Usagef("--weights=%s: must be one of %s", p.Weights, strings.Join(modelio.WeightNames, ", "))
	}
	if err := p.validateClassifier(); err != nil {
		return err
	}
	for _, a := range p.Smoothing {
		if !solver.InRange(a) {
			return modelio.Usagef("--smoothing=%v: must be 0 or a number from %g to %g", a, solver.Least, solver.Most)
		}
	}
	if _, err := ParseStrategy(string(p.Strategy)); err != nil {
		return modelio.Usagef("--strategy: %w", err)
	}
	return p.Pruning.Validate()
}

// Limits of Params.C.
const (
	LeastC = 1e-9
	MostC  = 1e9
)

func (p Params) validateClassifier() error {
	switch c := p.classifier(); {
	case !slices.Contains(modelio.Classifiers, c):
		return modelio.Usagef("--classifier=%s: must be one of %s", c, strings.Join(modelio.Classifiers, ", "))
	case Fitted(c) && !(p.C >= LeastC && p.C <= MostC):
		return modelio.Usagef("--c=%v: must be a number from %g to %g", p.C, LeastC, MostC)
	case p.Model == solver.Bernoulli && (c == modelio.MultinomialNB || c == modelio.ComplementNB) && slices.Contains(p.Smoothing, 0):
		return modelio.Usagef("--classifier=%s with --model=bernoulli needs a --smoothing above 0: without it a class may have no occurrences of the selected features", c)
	case !Fitted(c) && p.C != 0:
		return modelio.Usagef("--c=%v: is for --classifier=logistic and svm; naive Bayes has --smoothing", p.C)
	}
	return nil
}
