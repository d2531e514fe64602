package selection

import (
	"fmt"
	"sync"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Problem is one problem of a selection: which features distinguish its sides. A problem has two sides, or, if it is solved
// for all classes jointly, one for each class.
type Problem interface {
	// Counts returns the counts of a feature by side. The feature has count(i) in the class labels[i], and none in other
	// classes. The labels are sorted: real counts must be added in the same order everywhere.
	Counts(labels []string, count func(i int) float64) []float64

	// Smoothed returns the problem with another smoothing.
	Smoothed(smoothing float64) Problem

	// Evaluate returns the solution with the given features, without solving. models are the rows of a published model.
	// Those of the solution have what follows from the features: the base, the gain, the intercepts and the ties, and the
	// upper bound at the α of the published rows.
	Evaluate(models []modelio.ModelRow, features []Feature) (Solution, error)

	// PathBounds returns rows of the path with their upper bounds at the published α, the marginal gains and the elbows,
	// all recomputed. It returns none for a problem whose path does not hold α.
	PathBounds(published []modelio.PathRow) ([]modelio.PathRow, error)

	rules() rules
	// path returns the ks of the path, in order, with those that are requested.
	path(requested map[int64]request) []int64
	bounds(ks []int64) ([]float64, error)
	// solve solves the problem for every k of the path, completes the rows, and returns the solutions that are requested.
	solve(path []modelio.PathRow, requested map[int64]request) ([]Solution, error)
	// choices are those of Params.Supports, and group and size those of Choices.
	choices(requested map[int64]request) ([]Choice, error)
	group(counts []float64) int
	size(group int) int64
}

// Problems makes the problems of a run from its counts.
type Problems struct {
	vectors *solver.Vectors
	classes []modelio.Class

	// Each needs memory for all counts, and a run needs only one of them.
	rest func() func(class int32) []solver.Group
	one  func() func(positive, negative int32) []solver.Group
}

// NewProblems takes the distinct counts by class. classes are sorted by label and number the classes of the vectors.
func NewProblems(v *solver.Vectors, classes []modelio.Class) *Problems {
	return &Problems{v, classes, sync.OnceValue(v.OneVersusRest), sync.OnceValue(v.OneVersusOne)}
}

// Of returns the problem of a model. It uses only the strategy, the sides, the model, the method and the smoothing of m.
// It may be called from several goroutines.
func (p *Problems) Of(m modelio.ModelRow) (Problem, error) {
	model, err := solver.ParseModel(m.Model)
	if err != nil {
		return nil, err
	}
	if m.Strategy == modelio.Joint {
		return p.allClasses(m, model), nil
	}
	return p.twoSides(m, model), nil
}

// countByGroup counts the features in each of n groups; find returns the group of counts, or -1.
func countByGroup(features []Feature, n int, find func(counts []float64) int) ([]int64, error) {
	take := make([]int64, n)
	for _, f := range features {
		group := find(f.Counts)
		if group < 0 {
			return nil, fmt.Errorf("the feature %q has no counts", f.Name)
		}
		take[group]++
	}
	return take, nil
}
