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
)

// A run goes through its output folder like this:
//
//	Claim    writes _STARTED.json, if no other run has, and none has published
//	…        files appear under their final names; a run with the same fingerprint would write the same bytes
//	Publish  writes manifest.json and then _SUCCESS, each only if it is not there, and takes the claim away
//	Refuse   takes all of it away, and leaves verdict.json
//	Cancel   leaves a mark by which an attempt that goes on does not publish
//
// A run that is killed leaves its claim, under which the same command finishes what it began. Every step may be done
// again, by an attempt that does not know of the one before.

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
	begun := s.Success != nil || s.Started != nil
	for _, name := range names {
		if !remains(name) && !(begun && ours(name)) && !strings.HasPrefix(path.Base(name), ".") {
			s.Foreign = fileio.Join(dir, name)
			break
		}
	}
	return s, nil
}

// list returns the names of what stands in an output folder, and in its folder of counts.
func list(ctx context.Context, store fileio.Store, dir string) (names []string, err error) {
	for _, folder := range []string{dir, fileio.Join(dir, countsFolder)} {
		infos, err := store.List(ctx, folder)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if name := strings.TrimPrefix(info.Name, fileio.Join(dir, "")); name != countsFolder+"/" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

const countsFolder = "counts"

// remains knows what stays of runs that have ended without a model.
func remains(name string) bool {
	return name == VerdictFile || strings.HasPrefix(name, cancelledPrefix)
}

// ours knows the files that a run writes while it holds the folder.
func ours(name string) bool {
	switch name {
	case FeaturesFile, ModelFile, PathFile, ManifestFile, SuccessFile, StartedFile:
		return true
	}
	ok, err := path.Match("counts/part-*-of-*.parquet", name)
	return ok && err == nil
}

// TakenError means that the output folder belongs to another run.
type TakenError struct {
	Dir, Run  string
	Published bool
}

// Error says whose it is.
func (e *TakenError) Error() string {
	if e.Published {
		return fmt.Sprintf("%s: another run (%s) has published there", e.Dir, e.Run)
	}
	return fmt.Sprintf("%s: another run (%s) is writing there, or was killed", e.Dir, e.Run)
}

// Claim begins to write. It fails with a *TakenError if the folder belongs to a run with another fingerprint. Where the
// same run has been published already, there is nothing to claim.
func Claim(ctx context.Context, dir string, run Run) error {
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
	err = store.CreateExclusive(ctx, fileio.Join(dir, StartedFile), content)
	if errors.Is(err, fs.ErrExist) {
		_, err := holds(ctx, dir, run)
		return err
	}
	if err != nil {
		return err
	}
	// Another run may have published, and taken its claim away, since we looked.
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return errors.Join(err, store.Remove(ctx, fileio.Join(dir, StartedFile)))
	}
	return store.Remove(ctx, fileio.Join(dir, VerdictFile))
}

// checkPublished reports whether the run stands in the folder, and fails if another does.
func checkPublished(ctx context.Context, dir string, run Run) (bool, error) {
	success, found, err := readJSON[Success](ctx, dir, SuccessFile)
	if err == nil && found && success.Fingerprint != run.Fingerprint {
		err = &TakenError{dir, success.Run, true}
	}
	return found, err
}

// holds reports whether the claim on the folder is the run's own, and fails if it is another's.
func holds(ctx context.Context, dir string, run Run) (bool, error) {
	claim, found, err := readJSON[Run](ctx, dir, StartedFile)
	if err == nil && found && claim.Fingerprint != run.Fingerprint {
		err = &TakenError{dir, claim.ID, false}
	}
	return found, err
}

// Publish makes the run visible. The files it lists are in their place. Where the same run was published already, or
// almost, by another attempt, that stands.
func Publish(ctx context.Context, dir string, m Manifest) error {
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	for _, f := range m.Files {
		info, err := store.Stat(ctx, fileio.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if info.Size != f.Size {
			return fmt.Errorf("%s: has %d bytes, but %d were written", info.Name, info.Size, f.Size)
		}
	}
	m.FormatVersion = ManifestVersion
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	content = append(content, '\n')
	err = store.CreateExclusive(ctx, fileio.Join(dir, ManifestFile), content)
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
	hash := sha256.Sum256(content)
	success, err := json.Marshal(Success{id, m.Fingerprint, hex.EncodeToString(hash[:])})
	if err != nil {
		return err
	}
	err = store.CreateExclusive(ctx, fileio.Join(dir, SuccessFile), append(success, '\n'))
	if errors.Is(err, fs.ErrExist) {
		_, err = checkPublished(ctx, dir, m.Run)
	}
	if err != nil {
		return err
	}
	if err := removeMarks(ctx, store, dir); err != nil {
		return err
	}
	return tidy(ctx, store, dir)
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
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	if other.Fingerprint != m.Fingerprint {
		return "", nil, &TakenError{dir, other.ID, true}
	}
	if !slices.Equal(other.Files, m.Files) {
		return "", nil, fmt.Errorf("%s: an attempt of version %s has listed other files than this one, of version %s, wrote; remove %s and start again", name, other.Version, m.Version, dir)
	}
	return other.ID, content, nil
}

// removeMarks takes away the marks of attempts that were cancelled. What they were to write is there now.
func removeMarks(ctx context.Context, store fileio.Store, dir string) error {
	names, err := list(ctx, store, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, cancelledPrefix) {
			if err := store.Remove(ctx, fileio.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidy takes away what a finished run needs no longer.
func tidy(ctx context.Context, store fileio.Store, dir string) error {
	if err := store.Remove(ctx, fileio.Join(dir, StartedFile)); err != nil {
		return err
	}
	if err := store.Sweep(ctx, fileio.Join(dir, countsFolder)); err != nil {
		return err
	}
	return store.Sweep(ctx, dir)
}

// Cancel keeps an attempt at a run from being published, by a job that an engine may not have stopped. The mark is of that
// attempt alone, and stays until some attempt publishes: another one may be under way, and publish the same.
func Cancel(ctx context.Context, dir string, run Run, why string) error {
	if err := fileio.WriteAll(ctx, fileio.Join(dir, cancelledPrefix+run.ID), []byte(why+"\n")); err != nil {
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

// cancelledPrefix is what the name of a mark begins with, before the id of the run.
const cancelledPrefix = "_CANCELLED-"

// checkCancelled fails if Cancel was called for this very attempt.
func checkCancelled(ctx context.Context, dir, run string) error {
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	_, err = store.Stat(ctx, fileio.Join(dir, cancelledPrefix+run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("%s: the run %s was cancelled", dir, run))
}

// Refuse ends a run without a model: it removes what was written and says why. It does nothing in a folder that the run
// does not hold: it has been published, by another attempt, or was refused before.
func Refuse(ctx context.Context, dir string, run Run, v Verdict) error {
	if published, err := checkPublished(ctx, dir, run); err != nil || published {
		return err
	}
	if held, err := holds(ctx, dir, run); err != nil || !held {
		return err
	}
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	store, err := fileio.For(dir)
	if err != nil {
		return err
	}
	if err := fileio.WriteAll(ctx, fileio.Join(dir, VerdictFile), append(content, '\n')); err != nil {
		return err
	}
	names, err := list(ctx, store, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == SuccessFile || name == StartedFile || !ours(name) {
			continue
		}
		if err := store.Remove(ctx, fileio.Join(dir, name)); err != nil {
			return err
		}
	}
	return tidy(ctx, store, dir)
}

// WriteTable writes a table of the run.
func WriteTable[T any](ctx context.Context, dir, name string, rows []T) (countio.FileSum, error) {
	w, err := countio.CreateTable[T](ctx, dir, name)
	if err != nil {
		return countio.FileSum{}, err
	}
	defer w.Abort()
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return countio.FileSum{}, err
		}
	}
	return w.Commit()
}
