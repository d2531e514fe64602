package tuning

import (
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// Grid is the models that are compared: those of all settings, smoothings and ks.
type Grid struct {
	// Settings have a model, weights and a pruning each. All have the same K, Smoothing, Method and Strategy.
	Settings []selection.Params
}

// Point is a model of the grid.
type Point struct{ Setting, Smoothing, K int } // indexes

// Points lists the grid, in the order in which ties are broken last: by setting, smoothing and k, as they are listed.
func (g Grid) Points() (points []Point) {
	for i, s := range g.Settings {
		for j := range s.Smoothing {
			for k := range s.K {
				points = append(points, Point{i, j, k})
			}
		}
	}
	return points
}

// index is the place of a point in Points.
func (g Grid) index(p Point) int {
	s := g.Settings[0]
	return (p.Setting*len(s.Smoothing)+p.Smoothing)*len(s.K) + p.K
}

// Size is the number of points.
func (g Grid) Size() int {
	return len(g.Settings) * len(g.Settings[0].Smoothing) * len(g.Settings[0].K)
}

// maxKs is the largest number of ks: a set of them is a word.
const maxKs = 64

// MaxModels limits the points times the folds of a tuning.
const MaxModels = 200_000

// Validate returns an error that names the flag, with modelio.ExitUsage.
func (g Grid) Validate(folds int) error {
	if len(g.Settings) == 0 {
		return modelio.Usagef("--model: at least one is required")
	}
	for _, s := range g.Settings {
		if err := s.Validate(); err != nil {
			return err
		}
		for _, a := range s.Smoothing {
			if a == 0 {
				return modelio.Usagef("--smoothing=0: cannot be tuned, because the log loss of a document with a word that a class lacks is infinite; the smallest smoothing is %g", solver.Least)
			}
		}
		if s.Positive != "" {
			return modelio.Usagef("--positive=%s: cannot be used with tune, which compares decisions between all classes", s.Positive)
		}
		if p := s.Pruning; p.MaxFeatures > 0 || p.Vocabulary.String() != "" || p.Exclude.String() != "" {
			return modelio.Usagef("--max_features, --vocabulary and --exclude cannot be used with tune; --min_df, --max_df and --min_count can")
		}
	}
	switch {
	case folds < 2 || folds > MaxFolds:
		return modelio.Usagef("--folds=%d: must be 2 to %d", folds, MaxFolds)
	case len(g.Settings[0].K) > maxKs:
		return modelio.Usagef("--k: has %d values; the maximum is %d", len(g.Settings[0].K), maxKs)
	case g.Size()*folds > MaxModels:
		return modelio.Usagef("the grid has %d points and %d folds, which are %d models; the maximum is %d; choose fewer values of --k, --smoothing or --min_df",
			g.Size(), folds, g.Size()*folds, MaxModels)
	}
	return nil
}

// WeightsOf returns the name of the weights of a setting: those of the counts, or binary.
func WeightsOf(s selection.Params, counted string) string {
	if s.CountsDocuments() {
		return modelio.BinaryWeights
	}
	return counted
}

// Options returns the grid as the options of a run: lists of the values of the flags.
func (g Grid) Options() map[string]string {
	lists := map[string][]string{}
	for _, s := range g.Settings {
		options := s.Options()
		if _, ok := options["weights"]; !ok {
			options["weights"] = "count"
		}
		if s.Weights != "" {
			options["weights"] = s.Weights
		}
		for name, value := range options {
			if !slices.Contains(lists[name], value) {
				lists[name] = append(lists[name], value)
			}
		}
	}
	options := map[string]string{}
	for name, values := range lists {
		options[name] = strings.Join(values, ",")
	}
	return options
}
