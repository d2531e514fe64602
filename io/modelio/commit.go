package modelio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// The commit protocol of an output folder:
//
//	Claim    writes _STARTED.json, unless another run has claimed the folder or published in it
//	…        files appear under their final names; runs with the same fingerprint write the same bytes
//	Publish  writes manifest.json and then _SUCCESS, and removes the claim
//	Refuse   writes verdict.json, removes the claim, and then everything else
//	Cancel   leaves a mark that stops a running attempt from publishing
//
// A killed run leaves its claim, and the same command completes the run. Every step is idempotent: an attempt that does not
// know of an earlier one finds a file with the same bytes, and continues.
//
// A run may also be suspended for hours at any point. Meanwhile its folder may be removed (rm -rf), or freed by the verdict
// of another attempt, and claimed by another run. Therefore:
//
//   - No file of a run replaces another: it is created only if the name is free (fileio.Condition.Absent). An existing
//     file is compared: with the same bytes the run continues, with others it fails.
//   - Before each change, a Guard checks that the claim or the published run has the fingerprint of this run
//     (fileio.Condition.Held). Files of a refused run are removed only while no run has claimed or published.
//   - The run may be suspended between the check and the change. On a file system the change then fails, because it needs a
//     temporary file or folder, which rm -rf, Refuse and Claim remove before anything else. In an object store the file may
//     appear in the folder of another run: the Guard checks again, and removes the file by its generation. The other run
//     fails if it meets the file before that, by its name or because Publish finds it, so nothing is replaced. Files are
//     removed by the generation that existed when the Guard checked.

// State is the state of an output folder.
type State struct {
	Success *Success // a run was published
	Started *Run     // a run has started and not ended
	Verdict *Verdict // a run ended without a model
	Foreign string   // the name of a file that no run wrote, or ""
}

// ReadState reads the state of an output folder, which need not exist.
func ReadState(ctx context.Context, dir string) (s State, err error) {
	success, found, err := readJSON[Success](ctx, dir, SuccessFile)
	if err != nil {
		return s, err
	}
	if found {
		s.Success = &success
	}
	started, found, err := readJSON[Run](ctx, dir, StartedFile)
	if err != nil {
		return s, err
	}
	if found {
		s.Started = &started
	}
	verdict, found, err := readJSON[Verdict](ctx, dir, VerdictFile)
	if err != nil {
		return s, err
	}
	if found {
		s.Verdict = &verdict
	}
	store, err := fileio.For(dir)
	if err != nil {
		return s, err
	}
	names, err := list(ctx, store, dir)
	if err != nil {
		return s, err
	}
	// Next to a verdict there may be the last files of another attempt at the same run.
	begun := s.Success != nil || s.Started != nil || s.Verdict != nil
	for _, name := range names {
		if !isMark(name) && !(begun && isArtefact(name)) && !strings.HasPrefix(path.Base(name), ".") {
			s.Foreign = fileio.Join(dir, name)
			break
		}
	}
	return s, nil
}

// folders are the folders with the parts of a run.
var folders = func() []string {
	list := []string{countio.PartFolder, countio.IDFFolder}
	for _, table := range sharded {
		list = append(list, strings.TrimSuffix(table, path.Ext(table)))
	}
	return slices.Compact(list) // the layouts of a matrix share one
}()

// list returns the names in an output folder and in its folders of parts.
func list(ctx context.Context, store fileio.Store, dir string) (names []string, err error) {
	all := []string{dir}
	for _, folder := range folders {
		all = append(all, fileio.Join(dir, folder))
	}
	for _, folder := range all {
		infos, err := store.List(ctx, folder)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if name := strings.TrimPrefix(info.Name, fileio.Join(dir, "")); !slices.Contains(folders, strings.TrimSuffix(name, "/")) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// Claim claims an output folder for a run. It returns a *TakenError if the folder belongs to a run with another
// fingerprint. If the same run is published already, Claim does nothing.
func Claim(ctx context.Context, dir string, run Run) error {
	for range 10 { // another attempt or run may change the folder at the same time
		if claimed, err := tryClaim(ctx, dir, run); err != nil || claimed {
			return err
		}
	}
	return fmt.Errorf("%s: the file exists but cannot be read (probably a broken symlink); remove it", fileio.Join(dir, StartedFile))
}

// tryClaim returns false if the folder changed during the attempt.
func tryClaim(ctx context.Context, dir string, run Run) (claimed bool, err error) {
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return published, err
	}
	if err := checkCancelled(ctx, dir, run.ID); err != nil {
		return false, err
	}
	content, err := json.Marshal(run)
	if err != nil {
		return false, err
	}
	store, err := fileio.For(dir)
	if err != nil {
		return false, err
	}
	verdict, refused, err := readJSON[Verdict](ctx, dir, VerdictFile)
	if err != nil {
		return false, err
	}
	if refused {
		if err := clearRefused(ctx, store, dir); err != nil {
			return false, err
		}
	}
	guard := NewGuard(dir, run)
	name := fileio.Join(dir, StartedFile)
	err = fileio.WriteAll(ctx, name, content, fileio.Condition{Absent: true})
	switch {
	case errors.Is(err, fs.ErrExist):
		if held, err := holds(ctx, dir, run); err != nil || !held {
			return false, err
		}
	case errors.Is(err, fileio.ErrSwept):
		return false, nil
	case err != nil:
		return false, err
	case refused: // a suspended attempt that was clearing the folder fails after this
		if err := sweep(ctx, store, dir, guard.Check); err != nil {
			return false, err
		}
	}
	// Another run may have published and removed its claim since the first check.
	published, err := checkPublished(ctx, dir, run)
	if err != nil || published {
		if e := store.Remove(ctx, name, func(ctx context.Context) error { return checkClaim(ctx, dir, run) }); err == nil {
			err = e
		}
		return true, err
	}
	// A verdict on the same run stays until the run is published or refused again: another attempt may not have read it.
	if refused && verdict.Fingerprint != run.Fingerprint {
		return true, store.Remove(ctx, fileio.Join(dir, VerdictFile), guard.Check)
	}
	return true, nil
}

// clearRefused removes the files of a refused run, unless the folder was claimed since. Temporary files go first, so that
// no unfinished file can appear afterwards.
func clearRefused(ctx context.Context, store fileio.Store, dir string) error {
	free := func(ctx context.Context) error { return checkFree(ctx, dir) }
	err := sweep(ctx, store, dir, free)
	if err == nil {
		err = removeAll(ctx, store, dir, isArtefact, free)
	}
	if errors.Is(err, fileio.ErrNotHeld) {
		return nil
	}
	return err
}

// removeAll removes the files whose names such accepts.
func removeAll(ctx context.Context, store fileio.Store, dir string, such func(name string) bool, held fileio.Held) error {
	names, err := list(ctx, store, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if such(name) {
			if err := store.Remove(ctx, fileio.Join(dir, name), held); err != nil {
				return err
			}
		}
	}
	return nil
}

func sweep(ctx context.Context, store fileio.Store, dir string, held fileio.Held) error {
	for _, folder := range folders {
		if err := store.Sweep(ctx, fileio.Join(dir, folder), held); err != nil {
			return err
		}
	}
	return store.Sweep(ctx, dir, held)
}

// Publish makes a run visible, whose files are written. A manifest or _SUCCESS by another attempt at the same run is kept.
func Publish(ctx context.Context, dir string, m Manifest) error {
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	if err := checkFiles(ctx, store, dir, m); err != nil {
		return err
	}
	m.FormatVersion, m.Tables = ManifestVersion, tableio.FormatVersion
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	content = append(content, '\n')
	guard := NewGuard(dir, m.Run)
	err = fileio.WriteAll(ctx, fileio.Join(dir, ManifestFile), content, guard.once())
	id := m.ID
	if errors.Is(err, fs.ErrExist) {
		id, content, err = adopt(ctx, dir, m)
	}
	if err != nil {
		return err
	}
	if err := checkCancelled(ctx, dir, m.ID); err != nil {
		return err
	}
	success, err := json.Marshal(Success{id, m.Fingerprint, hashOf(content)})
	if err != nil {
		return err
	}
	err = fileio.WriteAll(ctx, fileio.Join(dir, SuccessFile), append(success, '\n'), guard.once())
	if errors.Is(err, fs.ErrExist) {
		_, err = checkPublished(ctx, dir, m.Run)
	}
	if err != nil {
		return err
	}
	return Tidy(ctx, dir, m.Run)
}

func hashOf(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// checkFiles fails unless the folder has the files of this run and of no other: readers of counts/*.parquet read all files.
func checkFiles(ctx context.Context, store fileio.Store, dir string, m Manifest) error {
	expected := map[string]bool{ManifestFile: true}
	for _, f := range m.Files {
		info, err := store.Stat(ctx, fileio.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if info.Size != f.Size {
			return fmt.Errorf("%s: the file has %d bytes, but %d were written", info.Name, info.Size, f.Size)
		}
		expected[f.Name] = true
	}
	names, err := list(ctx, store, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isArtefact(name) && !expected[name] {
			return fmt.Errorf("%s: the file belongs to another run: %w", fileio.Join(dir, name), fileio.ErrTaken)
		}
	}
	return nil
}

// adopt returns the manifest of an earlier attempt at the same run, and its run ID, if it lists the same files.
func adopt(ctx context.Context, dir string, m Manifest) (id string, content []byte, err error) {
	name := fileio.Join(dir, ManifestFile)
	content, err = fileio.ReadAll(ctx, name, MaxManifest)
	if err != nil {
		return "", nil, err
	}
	var other Manifest
	if err := json.Unmarshal(content, &other); err != nil {
		return "", nil, &UnreadableError{name, err}
	}
	if other.Fingerprint != m.Fingerprint {
		return "", nil, fmt.Errorf("%s: belongs to run %s: %w", name, other.ID, fileio.ErrTaken)
	}
	if !slices.Equal(other.Files, m.Files) {
		return "", nil, fmt.Errorf("%s: lists files that differ from those of this attempt (sparsenb versions %s and %s); remove %s and run the command again", name, other.Version, m.Version, dir)
	}
	return other.ID, content, nil
}

// Tidy removes what a published run no longer needs: marks, temporary files and, last, the claim.
func Tidy(ctx context.Context, dir string, run Run) error {
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	guard := NewGuard(dir, run)
	past := func(name string) bool { return isMark(name) && name != StartedFile && name != SuccessFile }
	if err := removeAll(ctx, store, dir, past, guard.Check); err != nil {
		return err
	}
	if err := sweep(ctx, store, dir, guard.Check); err != nil {
		return err
	}
	return store.Remove(ctx, fileio.Join(dir, StartedFile), guard.Check)
}

// Cancel stops an attempt from publishing, because an engine may not have stopped its job. The mark names this attempt only:
// another attempt at the same run may still publish, and then removes the mark.
func Cancel(ctx context.Context, dir string, run Run, why string) error {
	var taken *TakenError
	if err := NewGuard(dir, run).Check(ctx); errors.As(err, &taken) { // it cannot publish
		return nil
	}
	if err := fileio.WriteAll(ctx, fileio.Join(dir, cancelledPrefix+run.ID), []byte(why+"\n"), fileio.Condition{}); err != nil {
		return err
	}
	// Publish writes the manifest and then checks for the mark; the order here is reversed, so one of them sees the other.
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	if _, err := store.Stat(ctx, fileio.Join(dir, ManifestFile)); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, errPublishing)
	}
	return nil
}

var errPublishing = errors.New("the run is already being published")

// Refuse ends a run without a model: it writes the verdict and removes the files of the run. It does nothing if the run was
// published by another attempt, or refused before.
func Refuse(ctx context.Context, dir string, run Run, v Verdict) error {
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return err
	}
	if held, err := holds(ctx, dir, run); err != nil || !held {
		return err
	}
	v.Fingerprint = run.Fingerprint
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	guard := NewGuard(dir, run)
	if err := fileio.WriteAll(ctx, fileio.Join(dir, VerdictFile), append(content, '\n'), fileio.Condition{Held: guard.Check}); err != nil {
		return err
	}
	if err := store.Remove(ctx, fileio.Join(dir, StartedFile), guard.Check); err != nil {
		return err
	}
	// Another attempt at the same run may have published since, if this one was refused for data corrupted in transit.
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return cmp.Or(err, Tidy(ctx, dir, run))
	}
	return clearRefused(ctx, store, dir)
}

// WriteTable writes a table of the run. A table with the same bytes may exist.
func WriteTable[T any](ctx context.Context, guard *Guard, name string, rows []T) (tableio.FileSum, error) {
	return writeTable(ctx, guard, name, rows, nil)
}

// WriteModels writes model.parquet, with the analyzer if it is known.
func WriteModels(ctx context.Context, guard *Guard, rows []ModelRow, a *Analyzer) (tableio.FileSum, error) {
	if a == nil {
		return writeTable(ctx, guard, ModelFile, rows, nil)
	}
	content, err := json.Marshal(a)
	if err != nil {
		return tableio.FileSum{}, err
	}
	return writeTable(ctx, guard, ModelFile, rows, map[string]string{AnalyzerKey: string(content)})
}

func writeTable[T any](ctx context.Context, guard *Guard, name string, rows []T, metadata map[string]string) (tableio.FileSum, error) {
	if !isArtefact(name) {
		return tableio.FileSum{}, fmt.Errorf("%s: not in the list of files that a run writes", name)
	}
	w, err := tableio.Create[T](ctx, guard.dir, name, guard.Check)
	if err != nil {
		return tableio.FileSum{}, err
	}
	defer w.Abort()
	for key, value := range metadata {
		w.SetMetadata(key, value)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return tableio.FileSum{}, err
		}
	}
	return w.Commit()
}
