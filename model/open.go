package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Open reads the model in the output folder of train or select. It checks that the run is published, that its files have the
// checksums of its manifest, and that this program knows the analyzer. Errors have an exit code, see modelio.Error.
func Open(ctx context.Context, dir string) (*Model, error) {
	mark, manifest, err := published(ctx, dir)
	if err != nil {
		return nil, err
	}
	switch {
	case !slices.ContainsFunc(manifest.Files, named(modelio.ModelFile)):
		return nil, noModel(dir, manifest)
	case manifest.Analyzer == nil:
		return nil, modelio.Usagef("%s: no analyzer: the model was made from a custom table, and it is unknown how documents become its features", dir)
	case !manifest.SameHash() && manifest.Analyzer.HashBits > 0:
		return nil, modelio.Usagef("%s: its features are buckets of an older hash, and cannot be used with this version of sparsenb; count the documents again", dir)
	}
	p := Params{Analyzer: *manifest.Analyzer}
	if p.Models, err = readTable[modelio.ModelRow](ctx, dir, manifest, modelio.ModelFile); err != nil {
		return nil, err
	}
	if p.Features, err = readTable[modelio.FeatureRow](ctx, dir, manifest, modelio.FeaturesFile); err != nil {
		return nil, err
	}
	if w := manifest.Analyzer.Weights; w != nil && w.Name == string(kernel.TFIDF) {
		if p.IDF, err = readIDF(ctx, dir, manifest); err != nil {
			return nil, err
		}
	}
	m, err := New(p)
	var failed *modelio.Error
	if errors.As(err, &failed) {
		return nil, &modelio.Error{Exit: failed.Exit, Err: fmt.Errorf("%s: %w", dir, err)}
	}
	if err != nil {
		return nil, err
	}
	m.sha256, m.manifest = mark.ManifestSHA256, manifest
	m.text = !slices.ContainsFunc(manifest.Inputs, func(in modelio.Input) bool { return in.IsMatrix() })
	return m, nil
}

// noModel returns the error for a run without a model.
func noModel(dir string, m modelio.Manifest) error {
	switch {
	case m.AppliesModel():
		return modelio.Usagef("%s: a run of %q has no model; pass the folder of the model that it applied: %s", dir, m.Verb, m.Model.Name)
	case m.Tunes():
		return modelio.Usagef("%s: a run of %q has no model; train the model that it has chosen, which is shown by: sparsenb inspect %s", dir, m.Verb, dir)
	case len(m.Parts()) > 0:
		return modelio.Usagef("%s: a run of %q has no model; make one by: sparsenb select --counts=%s --output=DIR", dir, m.Verb, dir)
	}
	return modelio.Usagef("%s: a run of %q has no model; %s", dir, m.Verb, wayOut)
}

const wayOut = "pass the output folder of sparsenb train or select"

// published returns the mark and the manifest of a published run.
func published(ctx context.Context, dir string) (success modelio.Success, m modelio.Manifest, err error) {
	state, err := modelio.ReadState(ctx, dir)
	if err != nil {
		return success, m, exitError(err)
	}
	switch {
	case state.Success != nil:
	case state.Verdict != nil:
		return success, m, modelio.Usagef("%s: no published run: run %s failed: %s", dir, state.Verdict.Run, state.Verdict.Message)
	case state.Started != nil:
		return success, m, modelio.Usagef("%s: run %s is not published; it is still running or was interrupted", dir, state.Started.ID)
	default:
		return success, m, modelio.Usagef("%w; %s", modelio.NotPublished(dir, modelio.SuccessFile), wayOut)
	}
	m, err = modelio.ReadManifest(ctx, dir)
	return *state.Success, m, exitError(err)
}

// exitError adds the exit code to an error of reading a run.
func exitError(err error) error {
	var malformed *modelio.UnreadableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &malformed):
		return &modelio.Error{Exit: modelio.ExitData, Err: err}
	}
	return modelio.InputError(err)
}

func named(name string) func(tableio.FileSum) bool {
	return func(f tableio.FileSum) bool { return f.Name == name }
}

// check compares a file with its checksum.
func check(ctx context.Context, dir string, file tableio.FileSum) error {
	name := fileio.Join(dir, file.Name)
	sum, err := tableio.Checksum(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s is missing; restore it, or train again", name)}
	}
	if err != nil {
		return modelio.InputError(err)
	}
	if sum.SHA256 != file.SHA256 || sum.Size != file.Size {
		return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s differs from the published file; restore it, or train again", name)}
	}
	return nil
}

func readTable[T any](ctx context.Context, dir string, m modelio.Manifest, name string) (rows []T, err error) {
	i := slices.IndexFunc(m.Files, named(name))
	if i < 0 {
		return nil, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: %s does not list %s", dir, modelio.ManifestFile, name)}
	}
	if err := check(ctx, dir, m.Files[i]); err != nil {
		return nil, err
	}
	err = tableio.Read(ctx, fileio.Join(dir, name), func(row *T) error {
		rows = append(rows, *row)
		return nil
	})
	return rows, dataError(fileio.Join(dir, name), err)
}

// dataError adds the exit code to an error of reading a file whose checksum is right.
func dataError(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileio.ErrUnavailable):
		return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	}
	return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: %w", name, err)}
}

// readIDF reads the inverse document frequencies of all features. The run that counted the documents has them: for select,
// another run.
func readIDF(ctx context.Context, dir string, m modelio.Manifest) (*kernel.IDF, error) {
	model := dir
	if m.Counts != nil {
		from := *m.Counts
		mark, counted, err := published(ctx, from.Name)
		if err != nil {
			return nil, modelio.Usagef("%s: its features are weighted by tf-idf, and the inverse document frequencies are in the run that it was selected from: %w", model, err)
		}
		dir, m = from.Name, counted
		if from.SHA256 != mark.ManifestSHA256 {
			return nil, modelio.Usagef("%s: was selected from %s, where another run has been published since; its inverse document frequencies are lost", model, dir)
		}
	}
	idf, parts := kernel.NewIDF(), 0
	for _, f := range m.Files {
		if !countio.IsIDF(f.Name) {
			continue
		}
		parts++
		if err := check(ctx, dir, f); err != nil {
			return nil, err
		}
		name := fileio.Join(dir, f.Name)
		err := tableio.Read(ctx, name, func(row *countio.IDFRow) error {
			if !(row.IDF > 0) {
				return fmt.Errorf("the idf of %.40q is %v", row.Feature, row.IDF)
			}
			return idf.Add([]byte(row.Feature), row.IDF)
		})
		if err := dataError(name, err); err != nil {
			return nil, err
		}
	}
	if parts == 0 {
		return nil, modelio.Usagef("%s: its features are weighted by tf-idf, but %s has no folder %s", model, dir, countio.IDFFolder)
	}
	return idf, nil
}
