package verify

import (
	"cmp"
	"context"
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
)

// Models recomputes every model and the rows of its features from the counts of these features, and the upper bound at the α
// of the model.
func Models(ctx context.Context, run modelio.Published, counts *Counts) (findings []string, err error) {
	if len(run.Models) > 0 {
		if err := compareAnalyzers(ctx, run); err != nil {
			return nil, err
		}
	}
	features := map[modelio.Key][]modelio.FeatureRow{}
	for _, f := range run.Features {
		features[f.Key()] = append(features[f.Key()], f)
	}
	for rest := run.Models; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key() == rest[0].Key() {
			n++
		}
		finding, err := checkModel(run, counts, rest[:n], features[rest[0].Key()])
		if err != nil {
			return findings, fmt.Errorf("%s: %w", rest[0].Key(), err)
		}
		findings, rest = append(findings, finding), rest[n:]
	}
	return findings, nil
}

// compareAnalyzers compares the analyzer in model.parquet with the one in the manifest.
func compareAnalyzers(ctx context.Context, run modelio.Published) error {
	text, err := tableio.Metadata(ctx, fileio.Join(run.Dir, modelio.ModelFile), modelio.AnalyzerKey)
	if err != nil {
		return err
	}
	var a *modelio.Analyzer
	if text != "" {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return fmt.Errorf("%s: %s: %w", modelio.ModelFile, modelio.AnalyzerKey, err)
		}
	}
	if !reflect.DeepEqual(a, run.Manifest.Analyzer) {
		return fmt.Errorf("%s and %s have different analyzers", modelio.ModelFile, modelio.ManifestFile)
	}
	return nil
}

// checkModel verifies one model and its features. A joint model has a row for each class.
func checkModel(run modelio.Published, counts *Counts, rows []modelio.ModelRow, published []modelio.FeatureRow) (finding string, err error) {
	m := rows[0]
	if err := selection.ValidateProblem(run.Manifest.Classes, rows); err != nil {
		return "", err
	}
	if err := checkClassifier(run.Manifest.Options, rows); err != nil {
		return "", err
	}
	if m.M != run.Manifest.M() || !isCertificate(m.Certificate) {
		return "", fmt.Errorf("the model was selected from %d features and has the certificate %q; the manifest has %d features", m.M, m.Certificate, run.Manifest.M())
	}
	if int64(len(published)) != m.K*int64(len(rows)) {
		return "", fmt.Errorf("the model has %d rows in %s", len(published), modelio.FeaturesFile)
	}
	problem, err := counts.problemOf(m)
	if err != nil {
		return "", err
	}
	var features []selection.Feature
	names := map[string]bool{}
	for i := 0; i < len(published); i += len(rows) {
		f := published[i]
		c := counts.named[f.Feature]
		if !c.found || names[f.Feature] {
			return "", fmt.Errorf("the feature %q is not in the counts, or twice in the model", f.Feature)
		}
		names[f.Feature] = true
		if !run.Manifest.SameHash() {
			c.id = f.FeatureID // from an older hash, which this program does not have
		}
		feature := selection.Feature{Name: f.Feature, ID: c.id, Counts: problem.Counts(c.labels, func(i int) float64 { return c.counts[i] })}
		if c.documents != nil {
			feature.Documents = problem.Counts(c.labels, func(i int) float64 { return c.documents[i] })
		}
		if counts.needsOccurrences {
			feature.Occurrences = problem.Counts(c.labels, func(i int) float64 { return c.byClass[i] })
		}
		features = append(features, feature)
	}
	solution, err := problem.Evaluate(rows, features)
	if err != nil {
		return "", err
	}
	models, recomputedRows := solution.Rows(features)
	for i, row := range rows {
		want := models[i]
		if selection.Fitted(m.Classifier) && !math.IsNaN(row.Intercept) { // to documents, which are not read
			want.Intercept = row.Intercept
		}
		if err := compareModel(row, want, solution.Resolution()); err != nil {
			return "", err
		}
	}
	for i, want := range recomputedRows {
		if selection.Fitted(m.Classifier) && !math.IsNaN(published[i].Weight) {
			want.Weight = published[i].Weight
		}
		if err := compareFeature(published[i], want, solution.Resolution()); err != nil {
			return "", err
		}
	}
	recomputed, fitted := solution.Models[0], ""
	if selection.Fitted(m.Classifier) {
		fitted = "; weights of " + m.Classifier + " not recomputed, they need the documents"
	}
	return fmt.Sprintf("%s: recomputed gain %s of %s, upper bound %s at α = %s%s", modelName(run, m), formatGain(recomputed.Gain),
		plural(m.K, "feature"), formatGain(recomputed.UpperBoundGain), formatAlphas(rows), fitted), nil
}

// checkClassifier compares the classifier of a model with the options.
func checkClassifier(options map[string]string, rows []modelio.ModelRow) error {
	want := cmp.Or(options["classifier"], modelio.DefaultClassifier(rows[0].Model))
	for _, m := range rows {
		if m.Classifier != want {
			return fmt.Errorf("the classifier is %q, but the options of the run say %q", m.Classifier, want)
		}
	}
	return nil
}

// modelName names a model, as briefly as the run allows.
func modelName(run modelio.Published, m modelio.ModelRow) string {
	first := run.Models[0]
	if slices.ContainsFunc(run.Models, func(o modelio.ModelRow) bool { return o.Problem != first.Problem || o.Smoothing != first.Smoothing }) {
		return m.Key().String()
	}
	return fmt.Sprintf("k = %d", m.K)
}

func formatGain(x float64) string {
	if x >= 1e15 {
		return fmt.Sprintf("%.7g", x)
	}
	return humanize.FormatFloat("#,###.######", x)
}

func formatAlphas(rows []modelio.ModelRow) string {
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
