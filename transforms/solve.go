package transforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/histogram"
)

func init() {
	register.DoFn4x1[int, func(*[]byte) bool, func(*[]byte) bool, func([]byte), error](&solveFn{})
}

// K is how many features are asked for: a number, or a share of all.
type K struct {
	Text    string // as it was given
	Number  int64
	Percent float64 // if Number is 0
}

// ParseK reads a number such as 9, or a percentage such as 5%.
func ParseK(text string) (K, error) {
	k := K{Text: text}
	var err error
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		k.Percent, err = strconv.ParseFloat(percent, 64)
		if err != nil || !(k.Percent > 0 && k.Percent <= 100) {
			return k, fmt.Errorf("%q is no percentage above 0%% and up to 100%%", text)
		}
		return k, nil
	}
	k.Number, err = strconv.ParseInt(text, 10, 64)
	if err != nil || k.Number < 1 {
		return k, fmt.Errorf("%q is neither a number from 1 nor a percentage such as 5%%", text)
	}
	return k, nil
}

// of is k for m features: a percentage is rounded to the nearest number, and is 1 at least.
func (k K) of(m int64) int64 {
	if k.Number > 0 {
		return min(k.Number, m)
	}
	return min(max(int64(math.Round(k.Percent/100*float64(m))), 1), m)
}

// SolveParams parameterise Solve.
type SolveParams struct {
	Model     solver.Model
	Smoothing float64
	Positive  string // empty: the last label in byte order
	K         []K
}

// Solve solves the problem for every k that is asked for, and for those of the path. It takes a PCollection<[]byte> of
// one Audited and one of the pieces of the histogram, and returns a PCollection<[]byte> of Solved. It needs the memory
// of the histogram: the pairs of counts that differ.
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
	positive, negative := sides(a.Classes, f.Params.Positive)
	groups, err := collectGroups(pieces, positive.Label)
	if err != nil {
		return err
	}
	problem := solver.Problem{Groups: groups, Model: f.Params.Model, Smoothing: f.Params.Smoothing}
	if positive.Documents != nil && negative.Documents != nil {
		problem.DocumentsPositive, problem.DocumentsNegative = float64(*positive.Documents), float64(*negative.Documents)
	}
	if m := size(groups); m != a.Features {
		return fmt.Errorf("the histogram has %d features, but %d were counted", m, a.Features)
	}
	return f.solve(problem, a.Features, positive, negative, emit)
}

// sides returns the two classes, the positive one first. Audit has seen to it that there are two.
func sides(classes []modelio.Class, positive string) (p, n modelio.Class) {
	if classes[0].Label == positive {
		return classes[0], classes[1]
	}
	return classes[1], classes[0]
}

// collectGroups adds up the pieces of the histogram, in the order of solver.CompareGroups.
func collectGroups(next func(*[]byte) bool, positive string) ([]solver.Group, error) {
	var groups []solver.Group
	var b []byte
	for next(&b) {
		err := histogram.Unpack(b, func(labels []string, counts [2]float64, size int64) {
			if labels[0] != positive {
				counts[0], counts[1] = counts[1], counts[0]
			}
			groups = append(groups, solver.Group{Positive: counts[0], Negative: counts[1], Size: size})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(groups, solver.CompareGroups)
	merged := groups[:0]
	for _, g := range groups {
		if n := len(merged); n > 0 && merged[n-1].Positive == g.Positive && merged[n-1].Negative == g.Negative {
			merged[n-1].Size += g.Size
			continue
		}
		merged = append(merged, g)
	}
	return merged, nil
}

func size(groups []solver.Group) (m int64) {
	for _, g := range groups {
		m += g.Size
	}
	return m
}

func (f *solveFn) solve(problem solver.Problem, m int64, positive, negative modelio.Class, emit func([]byte)) error {
	requested, warnings := f.requested(m)
	name := positive.Label + " vs " + negative.Label
	var path []modelio.PathRow
	for _, k := range pathOf(m, requested) {
		problem.K = k
		r, err := solver.Solve(problem, solver.Settings{})
		if err != nil {
			return err
		}
		path = append(path, modelio.PathRow{
			Problem: name, K: k, UpperBoundGain: r.UpperBound, Gain: r.Gain, Gap: r.Gap,
			Certificate: r.Certificate.String(), Alpha: r.Alpha, Odds: r.Odds,
		})
		text, ok := requested[k]
		if !ok {
			continue
		}
		if k == 1 && f.Params.Model == solver.Multinomial {
			warnings = append(warnings, "k = 1 gains nothing, whichever feature it is: the two classes share all their probability outside it")
		}
		if math.IsNaN(r.Parameters.Intercept) {
			warnings = append(warnings, fmt.Sprintf("k = %d: the weights are infinite, and contradict each other where two such words are missing: "+
				"the intercept is NaN; a --smoothing above 0 avoids that", k))
		}
		err = emitRecord(emit, Solved{Solution: &Solution{
			Model: modelio.ModelRow{
				Problem: name, Positive: positive.Label, Negative: negative.Label, Model: f.Params.Model.String(),
				KRequested: text, K: k, M: m,
				DocsPositive: positive.Documents, DocsNegative: negative.Documents,
				Smoothing: f.Params.Smoothing, Intercept: r.Parameters.Intercept, Base: r.Base,
				UpperBoundGain: r.UpperBound, Gain: r.Gain, Gap: r.Gap, Certificate: r.Certificate.String(),
				Alpha: r.Alpha, Odds: r.Odds, Evaluations: int64(r.Evaluations),
			},
			Parameters: r.Parameters,
			Selector:   r.Selector(problem),
		}})
		if err != nil {
			return err
		}
	}
	return emitRecord(emit, Solved{Path: path, Warnings: warnings})
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
