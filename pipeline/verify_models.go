package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// analyzer compares what model.parquet says of its features with the manifest.
func (v *Verification) analyzer() error {
	text, err := tableio.Metadata(v.ctx, fileio.Join(v.dir, modelio.ModelFile), modelio.AnalyzerKey)
	if err != nil {
		return err
	}
	var a *modelio.Analyzer
	if text != "" {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return fmt.Errorf("%s: %s: %w", modelio.ModelFile, modelio.AnalyzerKey, err)
		}
	}
	if !reflect.DeepEqual(a, v.Run.Manifest.Analyzer) {
		return fmt.Errorf("%s and %s are of different analyzers", modelio.ModelFile, modelio.ManifestFile)
	}
	return nil
}

// models computes every model again from the counts of its features, and the bound at its α.
func (v *Verification) models() error {
	if len(v.Run.Models) > 0 {
		if err := v.analyzer(); err != nil {
			return err
		}
	}
	v.features = map[modelio.Key][]modelio.FeatureRow{}
	for _, f := range v.Run.Features {
		v.features[f.Key()] = append(v.features[f.Key()], f)
	}
	for rest := v.Run.Models; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key() == rest[0].Key() {
			n++
		}
		if err := v.model(rest[:n]); err != nil {
			return fmt.Errorf("%s: %w", rest[0].Key(), err)
		}
		rest = rest[n:]
	}
	return nil
}

// model verifies one model, which has a row for each class if it is joint.
func (v *Verification) model(rows []modelio.ModelRow) error {
	m := rows[0]
	if err := selection.CheckProblem(v.Run.Manifest.Classes, rows); err != nil {
		return err
	}
	if m.M != v.Run.Manifest.Features || !isCertificate(m.Certificate) {
		return fmt.Errorf("the model is of %d features, certificate %q; there are %d", m.M, m.Certificate, v.Run.Manifest.Features)
	}
	published := v.features[m.Key()]
	if int64(len(published)) != m.K*int64(len(rows)) {
		return fmt.Errorf("the model has %d rows of features", len(published))
	}
	var features []selection.Feature
	solution := selection.Solution{Models: rows}
	if m.Strategy == modelio.Joint {
		solution.Joint = &selection.JointSolution{}
	}
	names := map[string]bool{}
	for i, f := range published {
		if i%len(rows) == 0 {
			counted := v.counts[f.Feature]
			if !counted.found || names[f.Feature] {
				return fmt.Errorf("the feature %q is not in the counts, or twice in the model", f.Feature)
			}
			names[f.Feature] = true
			if !v.Run.Manifest.SameHash() {
				counted.id = f.FeatureID // of a hash that this program does not have
			}
			feature := selection.Feature{Name: f.Feature, ID: counted.id,
				Counts: solution.Counts(counted.labels, func(i int) float64 { return counted.counts[i] })}
			if counted.documents != nil {
				feature.Documents = solution.Counts(counted.labels, func(i int) float64 { return counted.documents[i] })
			}
			features = append(features, feature)
		}
	}
	e, err := v.again(&solution, features)
	if err != nil {
		return err
	}
	for i, f := range solution.Rows(features) {
		if err := sameFeature(published[i], f, solution.Resolution()); err != nil {
			return err
		}
	}
	v.found("%s: gain %s from the counts of its %s, bound %s at α = %s", v.name(m), shownGain(e.gain), plural(m.K, "feature"), shownGain(e.bound), shares(rows))
	return nil
}

func shownGain(x float64) string {
	if x >= 1e15 {
		return fmt.Sprintf("%.7g", x)
	}
	return humanize.FormatFloat("#,###.######", x)
}

// shares are the α of a model.
func shares(rows []modelio.ModelRow) string {
	var list []string
	for i, m := range rows {
		if i == 3 {
			list = append(list, "…")
			break
		}
		list = append(list, fmt.Sprintf("%.6f", m.Alpha))
	}
	return strings.Join(list, ", ")
}

// evaluated is what a support is worth, by its counts.
type evaluated struct {
	base, gain, bound float64
	intercepts        []float64 // by row of the model
	tied, left        int64     // features that tie at the end of the selection, and those left out that they tie with
}

// again solves nothing, but evaluates what was found, and completes the solution by it.
func (v *Verification) again(s *selection.Solution, features []selection.Feature) (e evaluated, err error) {
	if s.Joint != nil {
		e, err = v.jointAgain(s, features)
	} else {
		e, err = v.sidesAgain(s, features)
	}
	for i, m := range s.Models {
		if err == nil && (m.TiedSelected != e.tied || m.TiedLeftOut != e.left) {
			err = fmt.Errorf("%d features tie with %d left out; found %d and %d", m.TiedSelected, m.TiedLeftOut, e.tied, e.left)
		}
		if err == nil {
			err = cmp.Or(
				sameNumbers([]number{{"base", m.Base, e.base}, {"intercept", m.Intercept, e.intercepts[i]}}),
				sameGains([]number{
					{"gain", m.Gain, e.gain}, {"upper_bound_gain", m.UpperBoundGain, e.bound}, {"gap", m.Gap, m.UpperBoundGain - m.Gain},
				}, s.Resolution()),
			)
		}
	}
	return e, err
}

func (v *Verification) sidesAgain(s *selection.Solution, features []selection.Feature) (e evaluated, err error) {
	m := s.Models[0]
	p, err := v.problem(m)
	if err != nil {
		return e, err
	}
	take, err := takeOf(features, len(p.Groups), func(counts []float64) int { return solver.GroupOf(p.Groups, counts[0], counts[1]) })
	if err != nil {
		return e, err
	}
	if e.base, e.gain, s.Parameters, err = solver.Evaluate(p, take); err != nil {
		return e, err
	}
	e.tied, e.left = p.Ties(take)
	e.intercepts = []float64{s.Parameters.Intercept}
	s.Selector.Statistic = p.Statistic()
	e.bound, err = solver.Bound(p, m.Odds)
	return e, err
}

func (v *Verification) jointAgain(s *selection.Solution, features []selection.Feature) (e evaluated, err error) {
	model, err := solver.ParseModel(s.Models[0].Model)
	if err != nil {
		return e, err
	}
	p := selection.JointProblem(v.vectors, v.Run.Manifest.Classes, model, s.Models[0].Smoothing)
	p.K = s.Models[0].K
	take, err := takeOf(features, p.Len(), p.Find)
	if err != nil {
		return e, err
	}
	if e.base, e.gain, s.Joint.Parameters, err = solver.JointEvaluate(p, take); err != nil {
		return e, err
	}
	e.tied, e.left = p.Ties(take)
	e.intercepts = s.Joint.Parameters.Intercepts
	var alpha []float64
	for _, m := range s.Models {
		alpha = append(alpha, m.Alpha)
	}
	e.bound, err = solver.JointBound(p, alpha)
	return e, err
}

// takeOf counts the features in each of n groups; find tells the group of counts, or -1.
func takeOf(features []selection.Feature, n int, find func(counts []float64) int) (take []int64, err error) {
	take = make([]int64, n)
	for _, f := range features {
		at := find(f.Counts)
		if at < 0 {
			return nil, fmt.Errorf("the feature %q has no counts", f.Name)
		}
		take[at]++
	}
	return take, nil
}

// sameFeature compares a row as it was published with what it should be.
func sameFeature(got, want modelio.FeatureRow, resolution float64) error {
	if got.Rank != want.Rank || got.Feature != want.Feature || got.FeatureID != want.FeatureID || got.Class != want.Class {
		return fmt.Errorf("%q of %s stands at rank %d, where %q of %s should", got.Feature, got.Class, got.Rank, want.Feature, want.Class)
	}
	if got.CountPositive != want.CountPositive || got.CountNegative != want.CountNegative {
		return fmt.Errorf("feature %q has counts %v and %v; found %v and %v", got.Feature, got.CountPositive, got.CountNegative, want.CountPositive, want.CountNegative)
	}
	if !sameOrNull(got.DocumentsPositive, want.DocumentsPositive) || !sameOrNull(got.DocumentsNegative, want.DocumentsNegative) {
		return fmt.Errorf("feature %q stands in other numbers of documents than were counted", got.Feature)
	}
	err := cmp.Or(
		sameGains([]number{{"score", got.Score, want.Score}, {"statistic", got.Statistic, want.Statistic}}, resolution),
		sameNumbers([]number{
			{"theta_positive", got.ThetaPositive, want.ThetaPositive}, {"theta_negative", got.ThetaNegative, want.ThetaNegative},
			{"weight", got.Weight, want.Weight},
		}),
	)
	if err != nil {
		return fmt.Errorf("feature %q: %w", got.Feature, err)
	}
	return nil
}

// name is the model's, as short as the run allows.
func (v *Verification) name(m modelio.ModelRow) string {
	name := fmt.Sprintf("k = %d", m.K)
	if first := v.Run.Models[0]; slices.ContainsFunc(v.Run.Models, func(o modelio.ModelRow) bool { return o.Problem != first.Problem || o.Smoothing != first.Smoothing }) {
		name = m.Key().String()
	}
	return name
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}

// path computes the bound of every row of the path at its α, and what the bound gains from one k to another. The bound of a
// joint problem has an α for each class, which the path does not keep: it is taken on trust.
func (v *Verification) path() error {
	models := map[modelio.Key]modelio.ModelRow{}
	for _, m := range v.Run.Models {
		models[m.Key()] = m
		models[modelio.Key{Problem: m.Problem, Smoothing: m.Smoothing}] = m // any k tells the problem
	}
	rows, bounds := map[modelio.Key]bool{}, 0
	for rest := v.Run.Path; len(rest) > 0; {
		of := modelio.Key{Problem: rest[0].Problem, Smoothing: rest[0].Smoothing}
		n := 0
		for ; n < len(rest) && rest[n].Problem == of.Problem && rest[n].Smoothing == of.Smoothing; n++ {
			row := rest[n]
			rows[row.Key()] = true
			if !(row.Gap >= 0) || row.Gap != row.UpperBoundGain-row.Gain || !isCertificate(row.Certificate) {
				return fmt.Errorf("path, %s: the gap is %v and the certificate %q", row.Key(), row.Gap, row.Certificate)
			}
			if m, ok := models[row.Key()]; ok && (m.Gain != row.Gain || m.UpperBoundGain != row.UpperBoundGain || m.Certificate != row.Certificate) {
				return fmt.Errorf("path, %s: it says other than the model", row.Key())
			}
		}
		m, ok := models[of]
		if !ok {
			return fmt.Errorf("path, %s: the run has no model of it", rest[0].Key())
		}
		if m.Strategy != modelio.Joint {
			if err := v.pathOf(m, rest[:n]); err != nil {
				return fmt.Errorf("path, %w", err)
			}
			bounds += n
		}
		rest = rest[n:]
	}
	for _, m := range v.Run.Models {
		if !rows[m.Key()] {
			return fmt.Errorf("path: %s has no row", m.Key())
		}
	}
	if bounds > 0 {
		v.found("the bounds of %d ks on the path", bounds)
	}
	return nil
}

// pathOf verifies the rows of one problem of two sides.
func (v *Verification) pathOf(m modelio.ModelRow, rows []modelio.PathRow) error {
	p, err := v.problem(m)
	if err != nil {
		return err
	}
	var ks []int64
	for _, row := range rows {
		ks = append(ks, row.K)
	}
	want, err := selection.PathRows(m, ks, func(ks []int64) ([]float64, error) { return solver.Bounds(p, ks, solver.Settings{}) })
	if err != nil {
		return err
	}
	_, _, none, err := solver.Evaluate(p, make([]int64, len(p.Groups)))
	if err != nil {
		return err
	}
	for i, row := range rows {
		p.K = row.K
		bound, err := solver.Bound(p, row.Odds)
		if err != nil {
			return err
		}
		err = cmp.Or(
			sameGains([]number{{"upper_bound_gain", row.UpperBoundGain, bound}}, none.Resolution()),
			// A difference of bounds is as precise as they are.
			sameGains([]number{
				{"marginal_gain", row.MarginalGain, want[i].MarginalGain}, {"elbow", row.Elbow, want[i].Elbow},
			}, 1e-9*bound+none.Resolution()),
		)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Key(), err)
		}
	}
	return nil
}

func isCertificate(text string) bool {
	return text == solver.Optimal.String() || text == solver.Bounded.String() || text == solver.Heuristic.String()
}

func sameOrNull(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

type number struct {
	name      string
	got, want float64
}

// sameNumbers compares what a file says with what was computed, to nine digits: other processors round otherwise.
func sameNumbers(numbers []number) error { return sameGains(numbers, 0) }

// sameGains is sameNumbers for gains, below whose resolution rounding decides.
func sameGains(numbers []number, resolution float64) error {
	for _, n := range numbers {
		if n.got == n.want || n.name == "intercept" && math.IsNaN(n.got) && math.IsNaN(n.want) {
			continue
		}
		if !(math.Abs(n.got-n.want) <= 1e-9*math.Abs(n.want)+1e-12+resolution) {
			return fmt.Errorf("%s is %v, but computed again it is %v", n.name, n.got, n.want)
		}
	}
	return nil
}
