package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Model is a fitted classifier. Of two classes it has one row, for the log-odds or the margin of class 1 over class 0; of
// more, a row for each class.
type Model struct {
	Intercepts []float64
	Weights    [][]float64 // by row and column

	Objective   float64 // at these parameters; of several support vector machines, the sum
	Evaluations int     // of the objective
}

// ErrClasses is the error for rows of fewer than two classes: without a penalty on the intercept, there is no minimum.
var ErrClasses = errors.New("only one class has documents")

// ErrNotConverged is the error if the objective is not shown to be within Tolerance of its minimum.
var ErrNotConverged = errors.New("did not converge")

// Tolerance is the relative distance of the objective from its minimum that a model has at most.
const Tolerance = 1e-8

// roundedTolerance is the Tolerance if rounding ends every search before: with a large c, the gradient is a difference of large
// numbers. The distance is an upper bound; the objective itself is much nearer.
const roundedTolerance = 1e-4

// goal is the relative distance that a search tries to reach. Rounding often ends it before, near 1e-10.
const goal = 1e-12

// searches are done one after the other, each from where the last one ended, until the distance is within Tolerance. The
// parameters are scaled by a power of bounds of the second derivatives of the objective. With the power 1, columns of rare and
// of frequent features are alike, which is fast if there are more documents than columns. If there are fewer, the bounds are
// far too large.
var searches = []struct {
	power       float64
	evaluations int // of the objective, at most
}{{1, 1_000}, {0.5, 4_000}, {0, 15_000}}

// Logistic fits a logistic regression with the inverse penalty c, for all classes jointly.
func Logistic(ctx context.Context, r *Rows, c float64) (Model, error) {
	rows, err := r.Merge()
	if err != nil {
		return Model{}, err
	}
	if err := rows.validateClasses(); err != nil {
		return Model{}, err
	}
	if r.Classes == 2 {
		return fit(ctx, rows, 1, c/4, &binaryLogistic{rows: rows, c: c})
	}
	m, err := fit(ctx, rows, r.Classes, c/4, &softmax{rows: rows, c: c, scores: make([]float64, r.Classes)})
	if err != nil {
		return m, err
	}
	mean := floats.Sum(m.Intercepts) / float64(len(m.Intercepts))
	floats.AddConst(-mean, m.Intercepts)
	return m, nil
}

// SVM fits linear support vector machines with the inverse penalty c: one for two classes, otherwise one for each class against
// the rest.
func SVM(ctx context.Context, r *Rows, c float64) (Model, error) {
	rows, err := r.Merge()
	if err != nil {
		return Model{}, err
	}
	if err := rows.validateClasses(); err != nil {
		return Model{}, err
	}
	if r.Classes == 2 {
		return fit(ctx, rows, 1, 2*c, &squaredHinge{rows: rows, c: c, positive: 1})
	}
	var all Model
	for class := range r.Classes {
		m, err := fit(ctx, rows, 1, 2*c, &squaredHinge{rows: rows, c: c, positive: int32(class)})
		if err != nil {
			return Model{}, fmt.Errorf("class %d: %w", class, err)
		}
		all.Intercepts, all.Weights = append(all.Intercepts, m.Intercepts...), append(all.Weights, m.Weights...)
		all.Objective, all.Evaluations = all.Objective+m.Objective, all.Evaluations+m.Evaluations
	}
	return all, nil
}

// validateClasses checks that every class has documents.
func (r *Rows) validateClasses() error {
	seen := make([]bool, r.Classes)
	n := 0
	for _, c := range r.class {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	if n < 2 {
		return ErrClasses
	}
	return nil
}

// objective is a convex function of parameters: for each row of the model the weights of all columns, and then the intercept.
type objective interface {
	// evaluate returns the value, and sets the gradient.
	evaluate(parameters, gradient []float64) float64
	// penalized reports whether the intercepts are.
	penalized() bool
}

// fit minimizes an objective, unless ctx ends. curvature bounds the second derivative of the loss of a document by its score.
func fit(ctx context.Context, rows *Rows, models int, curvature float64, f objective) (Model, error) {
	width := rows.Columns + 1
	bounds := rows.bounds(curvature, f.penalized())
	x, m, nearest := make([]float64, models*width), Model{}, point{distance: math.Inf(1)}
	for _, search := range searches {
		s := newScaled(ctx, f, bounds, search.power, models)
		s.nearest.distance = math.Inf(1)
		floats.DivTo(x, x, s.scales)
		settings := &optimize.Settings{Converger: s, FuncEvaluations: search.evaluations}
		problem := optimize.Problem{Func: s.value, Grad: s.copyGradient}
		result, err := optimize.Minimize(problem, x, settings, &optimize.LBFGS{
			Store: 20, Linesearcher: &optimize.MoreThuente{}, GradStopThreshold: math.NaN(), // Converged decides
		})
		if result == nil {
			return Model{}, err
		}
		if ctx.Err() != nil {
			return Model{}, context.Cause(ctx)
		}
		m.Evaluations += result.FuncEvaluations
		if s.nearest.distance < nearest.distance {
			nearest = s.nearest
		}
		if nearest.distance <= Tolerance*nearest.value {
			break
		}
		copy(x, nearest.parameters)
	}
	if !(nearest.distance <= roundedTolerance*nearest.value) {
		return Model{}, fmt.Errorf("%w in %d evaluations of the objective", ErrNotConverged, m.Evaluations)
	}
	m.Objective = nearest.value
	for p := nearest.parameters; len(p) > 0; p = p[width:] {
		m.Weights, m.Intercepts = append(m.Weights, p[:width-1:width-1]), append(m.Intercepts, p[width-1])
	}
	return m, nil
}

// bounds returns bounds of the second derivatives of the objective, by column, and last by the intercept.
func (r *Rows) bounds(curvature float64, penalized bool) []float64 {
	bounds := make([]float64, r.Columns+1)
	for i, n := range r.count {
		columns, values := r.row(i)
		for j, column := range columns {
			bounds[column] += n * values[j] * values[j]
		}
		bounds[r.Columns] += n
	}
	for j := range bounds {
		bounds[j] *= curvature
		if j < r.Columns || penalized {
			bounds[j]++
		}
	}
	return bounds
}

// scaled is an objective of parameters that are divided by scales.
type scaled struct {
	ctx    context.Context
	f      objective
	scales []float64
	slack  []float64 // the inverse of the second derivative that each parameter has at least; of free intercepts, an estimate

	last                 []float64
	lastValue            float64
	parameters, gradient []float64 // of the last evaluation; the gradient by these parameters

	nearest point // so far
}

// point are parameters with the value of the objective, and its distance from the minimum, see scaled.distance.
type point struct {
	parameters      []float64
	value, distance float64
}

func newScaled(ctx context.Context, f objective, bounds []float64, power float64, models int) *scaled {
	n := models * len(bounds)
	s := &scaled{ctx: ctx, f: f, parameters: make([]float64, n), gradient: make([]float64, n)}
	for range models {
		for j, bound := range bounds {
			slack := 1.0 // the penalty alone has the second derivative 1
			if j == len(bounds)-1 && !f.penalized() {
				slack = max(1, 1/bound)
			}
			s.scales, s.slack = append(s.scales, math.Pow(bound, -power/2)), append(s.slack, slack)
		}
	}
	return s
}

// value evaluates the objective at x, unless that was done last.
func (s *scaled) value(x []float64) float64 {
	if s.last != nil && floats.Equal(x, s.last) {
		return s.lastValue
	}
	s.last = append(s.last[:0], x...)
	floats.MulTo(s.parameters, x, s.scales)
	s.lastValue = s.f.evaluate(s.parameters, s.gradient)
	return s.lastValue
}

func (s *scaled) copyGradient(gradient, x []float64) {
	s.value(x)
	floats.MulTo(gradient, s.gradient, s.scales)
}

// distance bounds how far the last value is above the minimum: of a function with the second derivatives 1 and more, by half of
// the squared gradient. Where intercepts are not penalized, it is an estimate.
func (s *scaled) distance() (d float64) {
	for i, g := range s.gradient {
		d += g * g * s.slack[i]
	}
	return d / 2
}

// Init is for the interface.
func (s *scaled) Init(int) {}

// Converged ends the search when the goal is reached, or the context ends.
func (s *scaled) Converged(at *optimize.Location) optimize.Status {
	if s.ctx.Err() != nil {
		return optimize.Failure
	}
	value := s.value(at.X)
	if d := s.distance(); d < s.nearest.distance {
		s.nearest = point{append(s.nearest.parameters[:0], s.parameters...), value, d}
	}
	if s.nearest.distance <= goal*s.nearest.value {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}
