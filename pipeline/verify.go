package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/histogram"
)

// Verify computes again, from the counts of a run, what its other files say: sums, scores, parameters, gains, bounds and
// the order of the features. That a model is optimal it does not prove again; the gap is. It returns what it has found to
// be true, a sentence each. It fails with ExitData on the first thing that is not. It needs the memory of the distinct counts.
func Verify(ctx context.Context, dir string) (checks []string, err error) {
	v := verifier{ctx: ctx, dir: dir}
	for _, step := range []func() error{v.checksums, v.conservation, v.models, v.path} {
		err := step()
		if errors.Is(err, fileio.ErrUnavailable) {
			return v.checks, &Error{ExitFailed, err}
		}
		if err != nil {
			return v.checks, &Error{ExitData, fmt.Errorf("%s: %w", dir, err)}
		}
	}
	return v.checks, nil
}

type verifier struct {
	ctx      context.Context
	dir      string
	run      modelio.Published
	features map[modelio.Key][]modelio.FeatureRow // of the run
	vectors  *solver.Vectors                      // the counts, read again
	groups   func(m modelio.ModelRow) []solver.Group
	last     modelio.ModelRow // whose groups were made last
	grouped  []solver.Group
	counts   map[string]labelled // of the selected features
	checks   []string
}

// labelled are the counts of a feature in the classes in which it has any.
type labelled struct {
	found  bool
	id     int64
	labels []string
	counts []float64
}

func (v *verifier) found(format string, args ...any) {
	v.checks = append(v.checks, fmt.Sprintf(format, args...))
}

// checksums compares every file with the manifest, and the manifest with _SUCCESS.
func (v *verifier) checksums() error {
	state, err := modelio.ReadState(v.ctx, v.dir)
	if err != nil {
		return err
	}
	if state.Success == nil {
		return fmt.Errorf("there is no %s: the run is not complete", modelio.SuccessFile)
	}
	content, err := fileio.ReadAll(v.ctx, fileio.Join(v.dir, modelio.ManifestFile))
	if err != nil {
		return err
	}
	if hash := sha256.Sum256(content); hex.EncodeToString(hash[:]) != state.Success.ManifestSHA256 {
		return fmt.Errorf("%s is not the one that was published", modelio.ManifestFile)
	}
	manifest, err := modelio.ReadManifest(v.ctx, v.dir)
	if err != nil {
		return err
	}
	var size int64
	for _, f := range manifest.Files {
		c, err := identify(v.ctx, fileio.Join(v.dir, f.Name))
		if err != nil {
			return err
		}
		if c.SHA256 != f.SHA256 || c.Size != f.Size {
			return fmt.Errorf("%s is not the file that was published", f.Name)
		}
		size += f.Size
	}
	v.found("the checksums of %d files, %s", len(manifest.Files), humanize.Bytes(uint64(size)))
	v.run, err = modelio.Read(v.ctx, v.dir)
	return err
}

// conservation reads the counts and compares their sums with the totals that were taken while the documents were read.
func (v *verifier) conservation() error {
	source, files, err := v.source()
	if err != nil {
		return err
	}
	v.counts = map[string]labelled{}
	for _, f := range v.run.Features {
		v.counts[f.Feature] = labelled{}
	}
	sums, features, err := v.read(source, files)
	if err != nil {
		return err
	}
	var tokens float64
	for _, c := range v.run.Manifest.Classes {
		if gotTokens, postings := sums.Of(c.Label); gotTokens != c.Tokens || postings != c.Postings {
			return fmt.Errorf("the counts of %s have %v tokens and %v postings, the manifest %v and %v", c.Label, gotTokens, postings, c.Tokens, c.Postings)
		}
		tokens += c.Tokens
	}
	if features != v.run.Manifest.Features {
		return fmt.Errorf("the counts have %d features, the manifest %d", features, v.run.Manifest.Features)
	}
	v.found("%s tokens of %s features, as many as were counted", humanize.Commaf(tokens), humanize.Comma(features))
	return nil
}

// source is where the counts are that the run was made from.
func (v *verifier) source() (countio.Source, []countio.FileSum, error) {
	from := v.run.Manifest.Counts
	switch {
	case from == nil:
		var parts []countio.FileSum
		for _, f := range v.run.Manifest.Files {
			if strings.HasPrefix(f.Name, "counts/") {
				parts = append(parts, f)
			}
		}
		return countio.Source{Dir: v.dir}, parts, nil
	case from.Size > 0:
		now, err := identify(v.ctx, from.Name)
		if err == nil && now != *from {
			err = fmt.Errorf("%s is not the table that the run was made from", from.Name)
		}
		return countio.Source{Own: from.Name}, []countio.FileSum{{Name: from.Name}}, err
	}
	counts, err := runCounts(v.ctx, from.Name)
	if err == nil && counts.From != *from {
		err = fmt.Errorf("%s is not the run that the counts were taken from", from.Name)
	}
	return counts.Source, counts.Files, err
}

// read reads the counts once, for their sums, their groups, and those of the selected features.
func (v *verifier) read(source countio.Source, files []countio.FileSum) (sums countio.ClassSums, features int64, err error) {
	sums = countio.ClassSums{}
	labels := make([]string, len(v.run.Manifest.Classes))
	for i, c := range v.run.Manifest.Classes {
		labels[i] = c.Label
	}
	hist := histogram.New(labels)
	model := solver.Multinomial
	if len(v.run.Models) > 0 {
		if model, err = solver.ParseModel(v.run.Models[0].Model); err != nil {
			return nil, 0, err
		}
	}
	var lastID int64
	var lastName string
	for _, file := range files {
		err := source.Each(v.ctx, file.Name, func(f *countio.Feature) error {
			// The parts of a run are one sorted list, in which nothing stands twice.
			if source.Own == "" && features > 0 && cmp.Or(cmp.Compare(f.ID, lastID), cmp.Compare(f.Name, lastName)) <= 0 {
				return fmt.Errorf("%s: the feature %q is not in its place", file.Name, f.Name)
			}
			lastID, lastName = f.ID, f.Name
			features++
			sums.Add(f)
			var classes []int32
			var counts []float64
			for i, label := range f.Labels {
				if n := model.Count(f.Occurrences[i], f.Documents[i]); n > 0 {
					classes, counts = append(classes, hist.Slot(label)), append(counts, n)
				}
			}
			hist.Add(classes, counts)
			if _, ok := v.counts[f.Name]; ok {
				l := labelled{found: true, id: f.ID, counts: counts}
				for _, c := range classes {
					l.labels = append(l.labels, hist.Label(c))
				}
				v.counts[f.Name] = l
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return sums, features, v.group(hist)
}

func (v *verifier) group(hist *histogram.Histogram) (err error) {
	vectors := solver.NewVectors(len(v.run.Manifest.Classes))
	hist.Pack(math.MaxInt, func(b []byte) { // one piece
		err = histogram.Unpack(b, func(_ []string, e histogram.Entry) error { return vectors.Add(e.Classes, e.Counts, e.Size) })
	})
	v.vectors = vectors.Group()
	v.groups = transforms.Groups(v.vectors, v.run.Manifest.Classes)
	return err
}

func (v *verifier) problem(m modelio.ModelRow) (p solver.Problem, err error) {
	if v.grouped == nil || v.last.Problem != m.Problem {
		v.last, v.grouped = m, v.groups(m)
	}
	p = solver.Problem{Groups: v.grouped, K: m.K, Smoothing: m.Smoothing, Method: solver.Method(m.Method)}
	if m.DocsPositive != nil && m.DocsNegative != nil {
		p.DocumentsPositive, p.DocumentsNegative = float64(*m.DocsPositive), float64(*m.DocsNegative)
	}
	p.Model, err = solver.ParseModel(m.Model)
	return p, err
}

// models computes every model again from the counts of its features, and the bound at its α.
func (v *verifier) models() error {
	v.features = map[modelio.Key][]modelio.FeatureRow{}
	for _, f := range v.run.Features {
		v.features[f.Key()] = append(v.features[f.Key()], f)
	}
	for rest := v.run.Models; len(rest) > 0; {
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
func (v *verifier) model(rows []modelio.ModelRow) error {
	m := rows[0]
	if err := transforms.CheckProblem(v.run.Manifest.Classes, rows); err != nil {
		return err
	}
	if m.M != v.run.Manifest.Features || !isCertificate(m.Certificate) {
		return fmt.Errorf("the model is of %d features, certificate %q; there are %d", m.M, m.Certificate, v.run.Manifest.Features)
	}
	published := v.features[m.Key()]
	if int64(len(published)) != m.K*int64(len(rows)) {
		return fmt.Errorf("the model has %d rows of features", len(published))
	}
	var features []transforms.Feature
	solution := transforms.Solution{Models: rows}
	if m.Strategy == modelio.Joint {
		solution.Joint = &transforms.JointSolution{}
	}
	names := map[string]bool{}
	for i, f := range published {
		if i%len(rows) == 0 {
			counted := v.counts[f.Feature]
			if !counted.found || names[f.Feature] {
				return fmt.Errorf("the feature %q is not in the counts, or twice in the model", f.Feature)
			}
			names[f.Feature] = true
			features = append(features, transforms.Feature{Name: f.Feature, ID: counted.id,
				Counts: solution.Counts(counted.labels, func(i int) float64 { return counted.counts[i] })})
		}
	}
	gain, bound, err := v.again(&solution, features)
	if err != nil {
		return err
	}
	for i, f := range solution.Rows(features) {
		if err := sameFeature(published[i], f); err != nil {
			return err
		}
	}
	v.found("%s: gain %s from the counts of its %s, bound %s at α = %s", v.name(m), humanize.FormatFloat("#,###.######", gain),
		plural(m.K, "feature"), humanize.FormatFloat("#,###.######", bound), shares(rows))
	return nil
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

// again solves nothing, but evaluates what was found, and completes the solution by it.
func (v *verifier) again(s *transforms.Solution, features []transforms.Feature) (gain, bound float64, err error) {
	if s.Joint != nil {
		return v.jointAgain(s, features)
	}
	m := s.Models[0]
	p, err := v.problem(m)
	if err != nil {
		return 0, 0, err
	}
	take := make([]int64, len(p.Groups))
	for _, f := range features {
		at := solver.GroupOf(p.Groups, f.Counts[0], f.Counts[1])
		if at < 0 {
			return 0, 0, fmt.Errorf("the feature %q has no counts", f.Name)
		}
		take[at]++
	}
	base, gain, params, err := solver.Evaluate(p, take)
	if err != nil {
		return 0, 0, err
	}
	if bound, err = solver.Bound(p, m.Odds); err != nil {
		return 0, 0, err
	}
	s.Parameters, s.Selector.Statistic = params, p.Statistic()
	return gain, bound, sameNumbers([]number{
		{"base", m.Base, base}, {"gain", m.Gain, gain}, {"intercept", m.Intercept, params.Intercept},
		{"upper_bound_gain", m.UpperBoundGain, bound}, {"gap", m.Gap, m.UpperBoundGain - m.Gain},
	})
}

func (v *verifier) jointAgain(s *transforms.Solution, features []transforms.Feature) (gain, bound float64, err error) {
	model, err := solver.ParseModel(s.Models[0].Model)
	if err != nil {
		return 0, 0, err
	}
	p := transforms.JointProblem(v.vectors, v.run.Manifest.Classes, model, s.Models[0].Smoothing)
	p.K = s.Models[0].K
	take := make([]int64, p.Len())
	for _, f := range features {
		at := p.Find(f.Counts)
		if at < 0 {
			return 0, 0, fmt.Errorf("the feature %q has no counts", f.Name)
		}
		take[at]++
	}
	base, gain, params, err := solver.JointEvaluate(p, take)
	if err != nil {
		return 0, 0, err
	}
	var alpha []float64
	for _, m := range s.Models {
		alpha = append(alpha, m.Alpha)
	}
	if bound, err = solver.JointBound(p, alpha); err != nil {
		return 0, 0, err
	}
	s.Joint.Parameters = params
	for c, m := range s.Models {
		err := sameNumbers([]number{
			{"base", m.Base, base}, {"gain", m.Gain, gain}, {"intercept", m.Intercept, params.Intercepts[c]},
			{"upper_bound_gain", m.UpperBoundGain, bound}, {"gap", m.Gap, m.UpperBoundGain - m.Gain},
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return gain, bound, nil
}

// sameFeature compares a row as it was published with what it should be.
func sameFeature(got, want modelio.FeatureRow) error {
	if got.Rank != want.Rank || got.Feature != want.Feature || got.FeatureID != want.FeatureID || got.Class != want.Class {
		return fmt.Errorf("%q of %s stands at rank %d, where %q of %s should", got.Feature, got.Class, got.Rank, want.Feature, want.Class)
	}
	if got.CountPositive != want.CountPositive || got.CountNegative != want.CountNegative {
		return fmt.Errorf("feature %q has counts %v and %v; found %v and %v", got.Feature, got.CountPositive, got.CountNegative, want.CountPositive, want.CountNegative)
	}
	err := sameNumbers([]number{
		{"score", got.Score, want.Score}, {"statistic", got.Statistic, want.Statistic},
		{"theta_positive", got.ThetaPositive, want.ThetaPositive}, {"theta_negative", got.ThetaNegative, want.ThetaNegative},
		{"weight", got.Weight, want.Weight},
	})
	if err != nil {
		return fmt.Errorf("feature %q: %w", got.Feature, err)
	}
	return nil
}

// name is the model's, as short as the run allows.
func (v *verifier) name(m modelio.ModelRow) string {
	name := fmt.Sprintf("k = %d", m.K)
	if first := v.run.Models[0]; slices.ContainsFunc(v.run.Models, func(o modelio.ModelRow) bool { return o.Problem != first.Problem || o.Smoothing != first.Smoothing }) {
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
func (v *verifier) path() error {
	models := map[modelio.Key]modelio.ModelRow{}
	for _, m := range v.run.Models {
		models[m.Key()] = m
		models[modelio.Key{Problem: m.Problem, Smoothing: m.Smoothing}] = m // any k tells the problem
	}
	rows, bounds := map[modelio.Key]bool{}, 0
	for rest := v.run.Path; len(rest) > 0; {
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
	for _, m := range v.run.Models {
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
func (v *verifier) pathOf(m modelio.ModelRow, rows []modelio.PathRow) error {
	p, err := v.problem(m)
	if err != nil {
		return err
	}
	var ks []int64
	for _, row := range rows {
		ks = append(ks, row.K, row.K-1, row.K-4)
	}
	least, err := solver.Bounds(p, ks, solver.Settings{})
	if err != nil {
		return err
	}
	for i, row := range rows {
		p.K = row.K
		bound, err := solver.Bound(p, row.Odds)
		if err != nil {
			return err
		}
		err = sameNumbers([]number{{"upper_bound_gain", row.UpperBoundGain, bound}})
		// A difference of bounds is as precise as they are.
		b := least[3*i : 3*i+3]
		for _, d := range []number{{"marginal_gain", row.MarginalGain, b[0] - b[1]}, {"elbow", row.Elbow, b[0] - b[2]}} {
			if !(math.Abs(d.got-d.want) <= 1e-9*b[0]+1e-12) {
				err = errors.Join(err, fmt.Errorf("%s is %v, but computed again it is %v", d.name, d.got, d.want))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", row.Key(), err)
		}
	}
	return nil
}

func isCertificate(text string) bool {
	return text == solver.Optimal.String() || text == solver.Bounded.String() || text == solver.Heuristic.String()
}

type number struct {
	name      string
	got, want float64
}

// sameNumbers compares what a file says with what was computed, to nine digits: other processors round otherwise.
func sameNumbers(numbers []number) error {
	for _, n := range numbers {
		if n.got == n.want || n.name == "intercept" && math.IsNaN(n.got) && math.IsNaN(n.want) {
			continue
		}
		if !(math.Abs(n.got-n.want) <= 1e-9*math.Abs(n.want)+1e-12) {
			return fmt.Errorf("%s is %v, but computed again it is %v", n.name, n.got, n.want)
		}
	}
	return nil
}
