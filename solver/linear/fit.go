package linear

import (
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
const Tolerance = 1e-7

// goal is what is tried for. It is not always reached, because of rounding.
const goal = 1e-12

// maxEvaluations bounds the evaluations of the objective of one classifier.
const maxEvaluations = 20_000

// Logistic fits a logistic regression with the inverse penalty c, for all classes jointly.
func Logistic(r *Rows, c float64) (Model, error) {
	rows, err := r.Merge()
	if err != nil {
		return Model{}, err
	}
	if err := rows.validateClasses(); err != nil {
		return Model{}, err
	}
	if r.Classes == 2 {
		return fit(rows, 1, c/4, &binaryLogistic{rows: rows, c: c})
	}
	m, err := fit(rows, r.Classes, c/4, &softmax{rows: rows, c: c, scores: make([]float64, r.Classes)})
	if err != nil {
		return m, err
	}
	mean := floats.Sum(m.Intercepts) / float64(len(m.Intercepts))
	floats.AddConst(-mean, m.Intercepts)
	return m, nil
}

// SVM fits linear support vector machines with the inverse penalty c: one for two classes, otherwise one for each class against
// the rest.
func SVM(r *Rows, c float64) (Model, error) {
	rows, err := r.Merge()
	if err != nil {
		return Model{}, err
	}
	if err := rows.validateClasses(); err != nil {
		return Model{}, err
	}
	if r.Classes == 2 {
		return fit(rows, 1, 2*c, &squaredHinge{rows: rows, c: c, positive: 1})
	}
	var all Model
	for class := range r.Classes {
		m, err := fit(rows, 1, 2*c, &squaredHinge{rows: rows, c: c, positive: int32(class)})
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

// fit minimizes an objective. curvature bounds the second derivative of the loss of a document by its score.
//
// The parameters are scaled by bounds of their second derivatives, which makes columns of rare and of frequent features alike.
func fit(rows *Rows, models int, curvature float64, f objective) (Model, error) {
	scales := rows.scales(curvature, f.penalized())
	width := rows.Columns + 1
	s := &scaled{f: f, scales: make([]float64, 0, models*width), parameters: make([]float64, models*width), gradient: make([]float64, models*width)}
	for range models {
		s.scales = append(s.scales, scales...)
	}
	s.slack = make([]float64, len(s.scales))
	for i, scale := range s.scales {
		s.slack[i] = 1 // the penalty alone has the second derivative 1
		if i%width == rows.Columns && !f.penalized() {
			s.slack[i] = max(1, scale*scale)
		}
	}
	start := make([]float64, len(s.scales))
	settings := &optimize.Settings{Converger: s, FuncEvaluations: maxEvaluations}
	problem := optimize.Problem{Func: s.value, Grad: s.copyGradient}
	result, err := optimize.Minimize(problem, start, settings, &optimize.LBFGS{
		Store: 20, Linesearcher: &optimize.MoreThuente{}, GradStopThreshold: math.NaN(), // Converged decides
	})
	if result == nil {
		return Model{}, err
	}
	value := s.value(result.X)
	if !(s.distance() <= Tolerance*value) {
		return Model{}, fmt.Errorf("%w in %d evaluations (%v)", ErrNotConverged, result.FuncEvaluations, result.Status)
	}
	m := Model{Objective: value, Evaluations: result.FuncEvaluations}
	for at := 0; at < len(s.parameters); at += width {
		m.Weights = append(m.Weights, s.parameters[at:at+rows.Columns:at+rows.Columns])
		m.Intercepts = append(m.Intercepts, s.parameters[at+rows.Columns])
	}
	return m, nil
}

// scales returns the inverse square roots of bounds of the second derivatives of the objective, by column, and last of the
// intercept.
func (r *Rows) scales(curvature float64, penalized bool) []float64 {
	s := make([]float64, r.Columns+1)
	for i, n := range r.count {
		columns, values := r.row(i)
		for j, column := range columns {
			s[column] += n * values[j] * values[j]
		}
		s[r.Columns] += n
	}
	for j := range s {
		s[j] = curvature * s[j]
		if j < r.Columns || penalized {
			s[j]++
		}
		s[j] = 1 / math.Sqrt(s[j])
	}
	return s
}

// scaled is an objective of parameters that are divided by scales.
type scaled struct {
	f      objective
	scales []float64
	slack  []float64 // the inverse of the second derivative that each parameter has at least; of free intercepts, an estimate

	last                 []float64
	lastValue            float64
	parameters, gradient []float64 // of the last evaluation; the gradient by these parameters
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

// Converged ends the search when the goal is reached.
func (s *scaled) Converged(at *optimize.Location) optimize.Status {
	if s.value(at.X); s.distance() <= goal*s.lastValue {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}
