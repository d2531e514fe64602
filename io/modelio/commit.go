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

// A run goes through its output folder like this:
//
//	Claim    writes _STARTED.json, if no other run has, and none has published
//	…        files appear under their final names; a run with the same fingerprint would write the same bytes
//	Publish  writes manifest.json and then _SUCCESS, and takes the claim away
//	Refuse   writes verdict.json, takes the claim away, and then all the rest
//	Cancel   leaves a mark by which an attempt that goes on does not publish
//
// A run that is killed leaves its claim, under which the same command finishes what it began. Every step may be done
// again, by an attempt that does not know of the one before: it finds a file of the same bytes, and that is as good as
// its own.
//
// A run may also sleep, at any place and for hours: a machine is suspended, a process stopped. Meanwhile its folder may
// be freed, by rm -rf or by the verdict of another attempt at it, and go to another run. So
//
//   - no file of a run replaces another: each is created only if nothing has its name (fileio.Condition.Absent). If
//     something has, it is compared: the same bytes are fine, others end the run.
//   - each change asks a Guard first, whether the claim, or what is published, is the run's own (fileio.Condition.Held).
//     What a refused run has left is removed only while nobody has a claim, and nothing is published.
//   - between that answer and the change a run may sleep, too. On a file system the change fails then, since it goes
//     through a temporary file or folder, which whoever frees the folder takes away: rm -rf does, Refuse does before it
//     removes anything else, and so does whoever claims a folder with a verdict.
//     In an object store a file may appear in what is another run's folder now; the Guard is asked once more, and the
//     file removed, by its generation. A run that meets it before that fails: by its name, or because Publish finds it in
//     the folder. It replaces nothing. Removals are of the generation that was there when the Guard was asked.

// State is what stands in an output folder.
type State struct {
	Success *Success // a run was published
	Started *Run     // a run has begun and not ended
	Verdict *Verdict // a run ended without a model
	Foreign string   // a file that no run has written, if there is one
}

// ReadState looks into an output folder, which need not exist.
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
	// Beside a verdict, what another attempt at the same run wrote last may stand.
	begun := s.Success != nil || s.Started != nil || s.Verdict != nil
	for _, name := range names {
		if !isMark(name) && !(begun && isArtefact(name)) && !strings.HasPrefix(path.Base(name), ".") {
			s.Foreign = fileio.Join(dir, name)
			break
		}
	}
	return s, nil
}

// list returns the names of what stands in an output folder, and in its folder of counts.
func list(ctx context.Context, store fileio.Store, dir string) (names []string, err error) {
	for _, folder := range []string{dir, fileio.Join(dir, countio.PartFolder)} {
		infos, err := store.List(ctx, folder)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if name := strings.TrimPrefix(info.Name, fileio.Join(dir, "")); name != countio.PartFolder+"/" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// Claim begins to write. It fails with a *TakenError if the folder belongs to a run with another fingerprint. Where the
// same run has been published already, there is nothing to claim.
func Claim(ctx context.Context, dir string, run Run) error { return claim(ctx, dir, run, 10) }

// claimAgain is for a folder that changed while it was claimed. One that does so time after time holds something that no run
// has written, such as a symlink to nothing under the name of a claim.
func claimAgain(ctx context.Context, dir string, run Run, tries int) error {
	if tries == 0 {
		return fmt.Errorf("%s: is there, and cannot be read; remove it", fileio.Join(dir, StartedFile))
	}
	return claim(ctx, dir, run, tries-1)
}

func claim(ctx context.Context, dir string, run Run, tries int) error {
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return err
	}
	if err := checkCancelled(ctx, dir, run.ID); err != nil {
		return err
	}
	content, err := json.Marshal(run)
	if err != nil {
		return err
	}
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	verdict, refused, err := readJSON[Verdict](ctx, dir, VerdictFile)
	if err != nil {
		return err
	}
	if refused {
		if err := clearRefused(ctx, store, dir); err != nil {
			return err
		}
	}
	guard := NewGuard(dir, run)
	name := fileio.Join(dir, StartedFile)
	err = fileio.WriteAll(ctx, name, content, fileio.Condition{Absent: true})
	switch {
	case errors.Is(err, fs.ErrExist):
		held, err := holds(ctx, dir, run)
		if err != nil {
			return err
		}
		if !held { // it is gone since
			return claimAgain(ctx, dir, run, tries)
		}
	case errors.Is(err, fileio.ErrSwept): // by who has tidied the folder since
		return claimAgain(ctx, dir, run, tries)
	case err != nil:
		return err
	case refused: // who goes on clearing the folder, after a sleep, fails after this
		if err := sweep(ctx, store, dir, guard.Check); err != nil {
			return err
		}
	}
	// Another run may have published, and taken its claim away, since we looked.
	published, err := checkPublished(ctx, dir, run)
	if err != nil || published {
		if e := store.Remove(ctx, name, func(ctx context.Context) error { return checkClaim(ctx, dir, run) }); err == nil {
			err = e
		}
		return err
	}
	// A verdict on this run stays, for an attempt that has not read it yet, until it is replaced or the run published.
	if refused && verdict.Fingerprint != run.Fingerprint {
		return store.Remove(ctx, fileio.Join(dir, VerdictFile), guard.Check)
	}
	return nil
}

// clearRefused takes away what is left of a run that was refused: its files and, before them, those that are not
// finished, so that none of them can appear any more. It leaves a folder alone that has been claimed since.
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

// removeAll removes the files that have such a name.
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
	if err := store.Sweep(ctx, fileio.Join(dir, countio.PartFolder), held); err != nil {
		return err
	}
	return store.Sweep(ctx, dir, held)
}

// Publish makes the run visible. The files it lists are in their place. Where the same run was published already, or
// almost, by another attempt, that stands.
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

// hashOf is the SHA-256 of a manifest.
func hashOf(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// checkFiles holds that the files of the run are there, and none of another: a reader of counts/*.parquet would take
// that for one of this run.
func checkFiles(ctx context.Context, store fileio.Store, dir string, m Manifest) error {
	expected := map[string]bool{ManifestFile: true}
	for _, f := range m.Files {
		info, err := store.Stat(ctx, fileio.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if info.Size != f.Size {
			return fmt.Errorf("%s: has %d bytes, but %d were written", info.Name, info.Size, f.Size)
		}
		expected[f.Name] = true
	}
	names, err := list(ctx, store, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isArtefact(name) && !expected[name] {
			return fmt.Errorf("%s: is no file of this run: %w", fileio.Join(dir, name), fileio.ErrTaken)
		}
	}
	return nil
}

// adopt returns the manifest that an earlier attempt at the same run has left, with its id, after it has compared its
// files with ours.
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
		return "", nil, fmt.Errorf("%s: is of the run %s: %w", name, other.ID, fileio.ErrTaken)
	}
	if !slices.Equal(other.Files, m.Files) {
		return "", nil, fmt.Errorf("%s: an attempt of version %s has listed other files than this one, of version %s, wrote; remove %s and start again", name, other.Version, m.Version, dir)
	}
	return other.ID, content, nil
}

// Tidy takes away what a published run needs no longer, its claim last: while that is there, some of the rest may be.
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

// Cancel keeps an attempt at a run from being published, by a job that an engine may not have stopped. The mark is of that
// attempt alone, and stays until some attempt publishes: another one may be under way, and publish the same.
func Cancel(ctx context.Context, dir string, run Run, why string) error {
	var taken *TakenError
	if err := NewGuard(dir, run).Check(ctx); errors.As(err, &taken) { // by which it cannot publish, either
		return nil
	}
	if err := fileio.WriteAll(ctx, fileio.Join(dir, cancelledPrefix+run.ID), []byte(why+"\n"), fileio.Condition{}); err != nil {
		return err
	}
	// Publish writes the manifest and then looks for the mark, and this is the other way round: one of them sees the other.
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	if _, err := store.Stat(ctx, fileio.Join(dir, ManifestFile)); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, errPublishing)
	}
	return nil
}

var errPublishing = errors.New("it had come to its last step")

// Refuse ends a run without a model: it removes what was written and says why. It does nothing in a folder that the run
// does not hold: it has been published, by another attempt, or was refused before.
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
	// Bytes that changed on the way may have condemned this attempt, while another at the same run was publishing.
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return cmp.Or(err, Tidy(ctx, dir, run))
	}
	return clearRefused(ctx, store, dir)
}

// WriteTable writes a table of the run. One of the same bytes may be there already.
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
		return tableio.FileSum{}, fmt.Errorf("%s: is not in the list of files that a run writes", name)
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
