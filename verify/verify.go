// Package verify checks that a published run is intact and consistent: it compares the files with their checksums, and
// recomputes their contents from the counts.
//
// [Run] does all of it. The other functions do a part each, in this order: [Files], [ReadCounts], [Models], [Path], [Buckets].
// Each returns a sentence for everything that it has found to be right, and an error for the first thing that is not.
package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Run verifies the run that was published in the folder dir: first its files (see [Files]), then their contents (see
// [Contents]). Findings are returned with an error, too: they hold up to there.
func Run(ctx context.Context, dir string) (findings []string, err error) {
	run, finding, err := Files(ctx, dir)
	if err != nil {
		return nil, err
	}
	findings, err = Contents(ctx, run)
	return append([]string{finding}, findings...), err
}

// Files compares the size and the SHA-256 of every file of a run with what was published, before it reads any of them, and
// returns what they hold. The error is a [modelio.Error]: modelio.ExitData if a file is missing, damaged or does not belong
// to the run, and modelio.ExitFailed if the storage cannot be reached.
func Files(ctx context.Context, dir string) (run modelio.Published, finding string, err error) {
	manifest, err := readManifest(ctx, dir)
	if err == nil {
		finding, err = checkFiles(ctx, dir, manifest.Files)
	}
	if err == nil {
		err = checkNoForeignParts(ctx, dir, manifest.Files)
	}
	if err == nil {
		run, err = modelio.Read(ctx, dir)
	}
	return run, finding, exitError(dir, err)
}

// Contents recomputes the contents of a run whose files are intact from its counts: totals, scores, parameters, gains, upper
// bounds, the order of the features, and the names of buckets. It recomputes the gap of a model, but does not prove again
// that a model is optimal. It needs memory for the distinct counts. Errors are those of [Files].
func Contents(ctx context.Context, run modelio.Published) (findings []string, err error) {
	if run.Manifest.AppliesModel() || run.Manifest.Tunes() { // there is nothing to recompute without the documents
		return nil, nil
	}
	counts, finding, err := ReadCounts(ctx, run)
	if err != nil {
		return nil, exitError(run.Dir, err)
	}
	findings = append(findings, finding)
	for _, check := range []func(context.Context, modelio.Published, *Counts) ([]string, error){Models, Path, Buckets} {
		found, err := check(ctx, run, counts)
		findings = append(findings, found...)
		if err != nil {
			return findings, exitError(run.Dir, err)
		}
	}
	return findings, nil
}

func exitError(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileio.ErrUnavailable):
		return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	}
	return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: %w", dir, err)}
}

// readManifest reads the manifest after comparing it with _SUCCESS.
func readManifest(ctx context.Context, dir string) (m modelio.Manifest, err error) {
	state, err := modelio.ReadState(ctx, dir)
	if err != nil {
		return m, err
	}
	if state.Success == nil {
		return m, fmt.Errorf("there is no %s: the run is not complete", modelio.SuccessFile)
	}
	content, err := fileio.ReadAll(ctx, fileio.Join(dir, modelio.ManifestFile), modelio.MaxManifest)
	if err != nil {
		return m, err
	}
	if hash := sha256.Sum256(content); hex.EncodeToString(hash[:]) != state.Success.ManifestSHA256 {
		return m, fmt.Errorf("%s differs from the published file", modelio.ManifestFile)
	}
	if m, err = modelio.ReadManifest(ctx, dir); err != nil {
		return m, err
	}
	if state.Success.Run != m.ID || state.Success.Fingerprint != m.Fingerprint {
		return m, fmt.Errorf("%s names run %s with fingerprint %s, but %s names run %s with %s", modelio.SuccessFile,
			state.Success.Run, state.Success.Fingerprint, modelio.ManifestFile, m.ID, m.Fingerprint)
	}
	if m.Verb != "count" && !m.AppliesModel() && !m.Tunes() {
		for _, name := range []string{modelio.FeaturesFile, modelio.ModelFile, modelio.PathFile} {
			if !slices.ContainsFunc(m.Files, func(f tableio.FileSum) bool { return f.Name == name }) {
				return m, fmt.Errorf("%s does not list %s", modelio.ManifestFile, name)
			}
		}
	}
	return m, nil
}

func checkFiles(ctx context.Context, dir string, files []tableio.FileSum) (finding string, err error) {
	var size int64
	for _, f := range files {
		got, err := tableio.Checksum(ctx, fileio.Join(dir, f.Name))
		if err != nil {
			return "", err
		}
		if got.SHA256 != f.SHA256 || got.Size != f.Size {
			return "", fmt.Errorf("%s differs from the published file", f.Name)
		}
		size += f.Size
	}
	return fmt.Sprintf("%s (%s) match their checksums", plural(int64(len(files)), "file"), humanize.Bytes(uint64(size))), nil
}

// checkNoForeignParts fails if the folder of counts has files of another run: readers such as DuckDB and Spark read all files
// of a folder but those whose names begin with a dot or an underscore.
func checkNoForeignParts(ctx context.Context, dir string, files []tableio.FileSum) error {
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	infos, err := store.List(ctx, fileio.Join(dir, countio.PartFolder))
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := fileio.Join(countio.PartFolder, path.Base(info.Name))
		published := slices.ContainsFunc(files, func(f tableio.FileSum) bool { return f.Name == name })
		if !published && !strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(path.Base(name), "_") {
			return fmt.Errorf("%s does not belong to this run, but readers of the folder would count it; remove it", name)
		}
	}
	return nil
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}
