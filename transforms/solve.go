package transforms

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/histogram"
)

func init() {
	register.DoFn4x1[int, func(*[]byte) bool, func(*[]byte) bool, func([]byte), error](&solveFn{})
}

// SolveParams parameterise Solve.
type SolveParams struct {
	Model     solver.Model
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
	return beam.ParDo(s, &solveFn{p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, audited), beam.AddFixedKey(s, pieces)))
}

type solveFn struct {
	Params SolveParams
}

func (f *solveFn) ProcessElement(_ int, audits, pieces func(*[]byte) bool, emit func([]byte)) error {
	a, err := only[Audited](audits)
	if err != nil {
		return err
	}
	if a.Verdict != nil {
		return emitRecord(emit, Solved{Verdict: a.Verdict})
	}
	vectors, err := collectVectors(pieces, a.Classes)
	if err != nil {
		return err
	}
	if m := vectors.Features(); m != a.Features {
		return fmt.Errorf("the histogram has %d features, but %d were counted", m, a.Features)
	}
	list := problems(a.Classes, f.Params.Strategy, f.Params.Positive)
	groups := Groups(vectors, a.Classes)
	solved := make([][]Solved, len(list))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, model := range list {
		workers.Go(func() (err error) {
			model.M = a.Features
			if solved[i], err = f.solve(model, groups(model)); err != nil {
				err = fmt.Errorf("%s: %w", model.Problem, err)
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	requested, warnings := f.requested(a.Features)
	if f.Params.Model == solver.Multinomial && requested[1] != "" {
		warnings = append(warnings, "k = 1 gains nothing, whichever feature it is: the classes share all their probability outside it")
	}
	if err := emitRecord(emit, Solved{Warnings: warnings}); err != nil {
		return err
	}
	for _, records := range solved {
		for _, record := range records {
			if err := emitRecord(emit, record); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectVectors adds up the pieces of the histogram, whose classes become those of the list.
func collectVectors(next func(*[]byte) bool, classes []modelio.Class) (*solver.Vectors, error) {
	place := map[string]int32{}
	for i, c := range classes {
		place[c.Label] = int32(i)
	}
	vectors := solver.NewVectors(len(classes))
	var b []byte
	for next(&b) {
		err := histogram.Unpack(b, func(labels []string, e histogram.Entry) error {
			for i, c := range e.Classes {
				at, ok := place[labels[c]]
				if !ok {
					return fmt.Errorf("the histogram has counts of %s, which no document had", labels[c])
				}
				e.Classes[i] = at
			}
			sortByClass(e.Classes, e.Counts)
			return vectors.Add(e.Classes, e.Counts, e.Size)
		})
		if err != nil {
			return nil, err
		}
	}
	return vectors.Group(), nil
}

// sortByClass sorts few classes, which mostly are in order.
func sortByClass(classes []int32, counts []float64) {
	for i := range classes {
		for j := i; j > 0 && classes[j] < classes[j-1]; j-- {
			classes[j], classes[j-1] = classes[j-1], classes[j]
			counts[j], counts[j-1] = counts[j-1], counts[j]
		}
	}
}

// solve solves one problem, for every smoothing and k. The model has what is known of it before.
func (f *solveFn) solve(model modelio.ModelRow, groups []solver.Group) (records []Solved, err error) {
	p := solver.Problem{Groups: groups, Model: f.Params.Model}
	if model.DocsPositive != nil && model.DocsNegative != nil {
		p.DocumentsPositive, p.DocumentsNegative = float64(*model.DocsPositive), float64(*model.DocsNegative)
	}
	model.Model = f.Params.Model.String()
	for _, smoothing := range f.Params.Smoothing {
		p.Smoothing, model.Smoothing = smoothing, smoothing
		more, err := f.path(p, model)
		if err != nil {
			return nil, err
		}
		records = append(records, more...)
	}
	return records, nil
}

// path solves a problem for every k.
func (f *solveFn) path(p solver.Problem, model modelio.ModelRow) (records []Solved, err error) {
	requested, _ := f.requested(model.M)
	ks := pathOf(model.M, requested)
	path, err := f.rows(p, model, ks)
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
		text, ok := requested[r.K]
		if !ok {
			continue
		}
		if math.IsNaN(r.Parameters.Intercept) {
			records = append(records, Solved{Warnings: []string{fmt.Sprintf("%s, k = %d: the weights are infinite, and contradict each other where two such words are missing: "+
				"the intercept is NaN; a --smoothing above 0 avoids that", model.Problem, r.K)}})
		}
		model.KRequested, model.K = text, r.K
		model.Intercept, model.Base = r.Parameters.Intercept, r.Base
		model.UpperBoundGain, model.Gain, model.Gap, model.Certificate = r.UpperBound, r.Gain, r.Gap, r.Certificate.String()
		model.Alpha, model.Odds, model.Evaluations = r.Alpha, r.Odds, int64(r.Evaluations)
		records = append(records, Solved{Solution: &Solution{Model: model, Parameters: r.Parameters, Selector: r.Selector(p)}})
	}
	return append(records, Solved{Path: path}), nil
}

// rows begins the path with what the bound gains from one k to another.
func (f *solveFn) rows(p solver.Problem, model modelio.ModelRow, ks []int64) ([]modelio.PathRow, error) {
	var all []int64
	for _, k := range ks {
		all = append(all, k, k-1, k-4)
	}
	bounds, err := solver.Bounds(p, all, solver.Settings{})
	if err != nil {
		return nil, err
	}
	rows := make([]modelio.PathRow, len(ks))
	for i, k := range ks {
		b := bounds[3*i : 3*i+3]
		rows[i] = modelio.PathRow{Problem: model.Problem, Smoothing: model.Smoothing, K: k, MarginalGain: max(0, b[0]-b[1]), Elbow: max(0, b[0]-b[2])}
	}
	return rows, nil
}

// requested returns the ks to make models for, each with the words that asked for it.
func (f *solveFn) requested(m int64) (ks map[int64]string, warnings []string) {
	ks = map[int64]string{}
	var beyond []string
	for _, k := range f.Params.K {
		n := k.of(m)
		if k.Number > m {
			beyond = append(beyond, k.Text)
		}
		if text, ok := ks[n]; !ok {
			ks[n] = k.Text
		} else if !slices.Contains(strings.Split(text, ","), k.Text) {
			ks[n] = text + "," + k.Text
		}
	}
	if n := len(beyond); n > 0 {
		warnings = append(warnings, fmt.Sprintf("k = %s is more than the %d features there are: all of them are selected",
			strings.Join(beyond[:min(n, 3)], ", ")+strings.Repeat(", …", min(n/4, 1)), m))
	}
	return ks, warnings
}

// pathOf returns 1, 2, 5, 10, 20, 50, … up to m, and the ks that are asked for, in order.
func pathOf(m int64, requested map[int64]string) []int64 {
	ks := []int64{m}
	for decade := int64(1); decade <= m; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if k := step * decade; k <= m {
				ks = append(ks, k)
			}
		}
		if decade > math.MaxInt64/100 {
			break
		}
	}
	for k := range requested {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}
