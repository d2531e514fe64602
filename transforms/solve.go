package transforms

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/histogram"
)

func init() {
	register.DoFn5x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func([]byte), error](&solveFn{})
}

// SolveParams parameterise Solve.
type SolveParams struct {
	Model     solver.Model
	Method    solver.Method
	Strategy  Strategy
	Smoothing []float64
	Positive  string // empty: the last label in byte order, or all classes if there are more than two
	K         []K
}

// Solve solves every problem for every k that is asked for, and for those of the path. It takes a PCollection<[]byte> of
// one Audited and one of the pieces of the histogram, and returns a PCollection<[]byte> of Solved. It needs the memory
// of the histogram: the counts that differ.
func Solve(s beam.Scope, audited, pieces beam.PCollection, p SolveParams) beam.PCollection {
	s = s.Scope("transforms.Solve")
	return beam.ParDo(s, &solveFn{Params: p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, audited), beam.AddFixedKey(s, pieces)))
}

type solveFn struct {
	Params SolveParams

	problems beam.Counter
}

func (f *solveFn) Setup() { f.problems = beam.NewCounter(CounterNamespace, CounterProblems) }

func (f *solveFn) ProcessElement(ctx context.Context, _ int, audits, pieces func(*[]byte) bool, emit func([]byte)) error {
	a, err := joinAudited(audits)
	if err != nil {
		return err
	}
	if a.Verdict != nil {
		return emitRecord(emit, Solved{Verdict: a.Verdict})
	}
	vectors, err := CollectVectors(pieces, len(a.Classes))
	if err != nil {
		return err
	}
	if m := vectors.Features(); m != a.Features {
		return fmt.Errorf("the histogram has %d features, but %d were counted", m, a.Features)
	}
	f.problems.Inc(ctx, f.Params.Strategy.Problems(len(a.Classes), f.Params.Positive))
	var jobs []func() ([]Solved, error)
	if f.Params.Strategy == modelio.Joint && len(a.Classes) > 2 {
		// One job: it takes all processors itself, and memory for each.
		jobs = append(jobs, func() (records []Solved, err error) {
			for _, smoothing := range f.Params.Smoothing {
				more, err := f.solveJoint(vectors, a, smoothing)
				if err != nil {
					return nil, err
				}
				records = append(records, more...)
			}
			return records, nil
		})
	} else {
		groups := Groups(vectors, a.Classes)
		for _, model := range problems(a.Classes, f.Params.Strategy, f.Params.Positive) {
			model.M = a.Features
			jobs = append(jobs, func() ([]Solved, error) { return f.solve(model, groups(model)) })
		}
	}
	solved := make([][]Solved, len(jobs))
	err = parallel(len(jobs), func(i int) (err error) {
		solved[i], err = jobs[i]()
		return err
	})
	if err != nil {
		return err
	}
	for _, record := range append(slices.Concat(solved...), Solved{Warnings: f.warnings(a.Features)}) {
		if err := emitRecord(emit, record); err != nil {
			return err
		}
	}
	return nil
}

// warnings are those that no model of its own has.
func (f *solveFn) warnings(m int64) []string {
	list := beyond(f.Params.K, m)
	if f.Params.Model == solver.Multinomial && slices.ContainsFunc(f.Params.K, func(k K) bool { return k.Number == 1 }) {
		list = append(list, "k = 1 gains nothing, whichever feature it is: the classes share all their probability outside it")
	}
	return list
}

// CollectVectors adds up the pieces of the histogram, whose classes are numbered.
func CollectVectors(next func(*[]byte) bool, classes int) (*solver.Vectors, error) {
	vectors := solver.NewVectors(classes)
	var b []byte
	for next(&b) {
		err := histogram.Unpack(b, classes, func(e histogram.Entry) error { return vectors.Add(e.Classes, e.Counts, e.Size) })
		if err != nil {
			return nil, err
		}
	}
	return vectors.Group(), nil
}

// solve solves one problem of two sides, for every smoothing and k. The model has what is known of it before.
func (f *solveFn) solve(model modelio.ModelRow, groups []solver.Group) (records []Solved, err error) {
	p := solver.Problem{Groups: groups, Model: f.Params.Model, Method: f.Params.Method}
	if model.DocsPositive != nil && model.DocsNegative != nil {
		p.DocumentsPositive, p.DocumentsNegative = float64(*model.DocsPositive), float64(*model.DocsNegative)
	}
	model.Model, model.Method = f.Params.Model.String(), f.Params.Method.String()
	for _, smoothing := range f.Params.Smoothing {
		p.Smoothing, model.Smoothing = smoothing, smoothing
		more, err := f.path(p, model)
		if errors.Is(err, solver.ErrNoMass) { // of two classes of several
			records = append(records, Solved{Warnings: []string{model.Problem + ": neither side has any tokens, and there is no model without smoothing"}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", model.Problem, err)
		}
		records = append(records, more...)
	}
	return records, nil
}

// path solves a problem for every k.
func (f *solveFn) path(p solver.Problem, model modelio.ModelRow) (records []Solved, err error) {
	requested, err := requests(f.Params.K, rules{model.M, p.Curve, func(rate float64) (int64, error) { return solver.SignificantFeatures(p, rate) }})
	if err != nil {
		return nil, err
	}
	ks := pathOf(model.M, requested)
	path, err := PathRows(model, ks, func(ks []int64) ([]float64, error) { return solver.Bounds(p, ks, solver.Settings{}) })
	if err != nil {
		return nil, err
	}
	i := 0
	for r, err := range solver.Path(p, ks, solver.Settings{}) {
		if err != nil {
			return nil, err
		}
		row := &path[i]
		i++
		row.UpperBoundGain, row.Gain, row.Gap, row.Certificate, row.Alpha, row.Odds = r.UpperBound, r.Gain, r.Gap, r.Certificate.String(), r.Alpha, r.Odds
		request, ok := requested[r.K]
		if !ok {
			continue
		}
		if math.IsNaN(r.Parameters.Intercept) {
			records = append(records, Solved{Warnings: []string{fmt.Sprintf("%s, k = %d: the weights are infinite, and contradict each other where two such features are missing: "+
				"the intercept is NaN; a --smoothing above 0 avoids that", model.Problem, r.K)}})
		}
		m := request.model(model, r.K)
		m.Intercept, m.Base = r.Parameters.Intercept, r.Base
		m.UpperBoundGain, m.Gain, m.Gap, m.Certificate = r.UpperBound, r.Gain, r.Gap, r.Certificate.String()
		m.Alpha, m.Odds, m.Evaluations = r.Alpha, r.Odds, int64(r.Evaluations)
		m.TiedSelected, m.TiedLeftOut = p.Ties(r.Take)
		records = append(records, Solved{Solution: &Solution{Models: []modelio.ModelRow{m}, Parameters: r.Parameters, Selector: r.Selector(p)}})
	}
	return append(records, Solved{Path: path}), nil
}

// PathRows begins the path with what the bound gains from one k to another.
func PathRows(model modelio.ModelRow, ks []int64, bounds func(ks []int64) ([]float64, error)) ([]modelio.PathRow, error) {
	var all []int64
	for _, k := range ks {
		all = append(all, k, k-1, k-4)
	}
	values, err := bounds(all)
	if err != nil {
		return nil, err
	}
	rows := make([]modelio.PathRow, len(ks))
	for i, k := range ks {
		b := values[3*i : 3*i+3]
		rows[i] = modelio.PathRow{Problem: model.Problem, Smoothing: model.Smoothing, K: k, MarginalGain: max(0, b[0]-b[1]), Elbow: max(0, b[0]-b[2])}
	}
	return rows, nil
}
