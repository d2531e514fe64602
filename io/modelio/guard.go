package modelio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Guard stops a run from changing an output folder that another run has claimed. It is safe for concurrent use.
type Guard struct {
	dir string
	run Run

	mu   sync.Mutex
	seen fileio.Info // the object of the claim that was checked last
}

// NewGuard returns the guard of the output folder of a run.
func NewGuard(dir string, run Run) *Guard { return &Guard{dir: dir, run: run} }

// Check is a [fileio.Held]. It returns nil if the claim, or the published run, has the fingerprint of this run.
func (g *Guard) Check(ctx context.Context) error {
	err := fileio.With(ctx, fileio.Join(g.dir, StartedFile), func(f fileio.File, info fileio.Info) error {
		if g.knows(info) {
			return nil
		}
		var claim Run
		content, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(content, &claim); err != nil {
			return &UnreadableError{info.Name, err}
		}
		// A suspended run may have claimed the folder after another run published in it.
		if _, err := checkPublished(ctx, g.dir, g.run); err != nil {
			return err
		}
		if claim.Fingerprint != g.run.Fingerprint {
			return g.checkWhole(ctx, &TakenError{g.dir, claim.ID, false})
		}
		g.remember(info)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return g.checkWhole(ctx, &LostError{g.dir})
	}
	return err
}

// checkWhole returns nil if the run is published, or else the given error. _SUCCESS alone proves nothing: this run may have
// written it after it was suspended, to a folder that now belongs to another run. So the manifest must match it.
func (g *Guard) checkWhole(ctx context.Context, otherwise error) error {
	success, found, err := readJSON[Success](ctx, g.dir, SuccessFile)
	if err != nil {
		return err
	}
	if !found {
		return otherwise
	}
	if success.Fingerprint != g.run.Fingerprint {
		return &TakenError{g.dir, success.Run, true}
	}
	content, err := fileio.ReadAll(ctx, fileio.Join(g.dir, ManifestFile), MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return otherwise
	}
	if err == nil && hashOf(content) != success.ManifestSHA256 {
		return otherwise
	}
	return err
}

// knows reports whether this object was checked before, which saves two requests. Local files have no checksum, and their
// modification times may be equal, so they are always checked.
func (g *Guard) knows(claim fileio.Info) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return claim.CRC32C != "" && claim == g.seen
}

func (g *Guard) remember(claim fileio.Info) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = claim
}

// once is the condition for a file that is never replaced.
func (g *Guard) once() fileio.Condition { return fileio.Condition{Absent: true, Held: g.Check} }

// TakenError means that the output folder is in use by another run.
type TakenError struct {
	Dir, Run  string
	Published bool
}

// Error names the other run.
func (e *TakenError) Error() string {
	if e.Published {
		return fmt.Sprintf("%s: another run (%s) has published there", e.Dir, e.Run)
	}
	return fmt.Sprintf("%s: another run (%s) is writing there or was interrupted; choose another --output, or remove the folder", e.Dir, e.Run)
}

// Is matches [fileio.ErrNotHeld].
func (e *TakenError) Is(target error) bool { return target == fileio.ErrNotHeld }

// LostError means that the claim of the run is gone and no other run has claimed the folder.
type LostError struct{ Dir string }

// Error names the probable cause.
func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the claim of this run, %s, is gone; the folder was probably removed during the run; run the command again", e.Dir, StartedFile)
}

// Is matches [fileio.ErrNotHeld].
func (e *LostError) Is(target error) bool { return target == fileio.ErrNotHeld }

// checkPublished reports whether the run is published in the folder, and fails if another run is.
func checkPublished(ctx context.Context, dir string, run Run) (bool, error) {
	success, found, err := readJSON[Success](ctx, dir, SuccessFile)
	if err == nil && found && success.Fingerprint != run.Fingerprint {
		err = &TakenError{dir, success.Run, true}
	}
	return found, err
}

// holds reports whether the run has claimed the folder, and fails if another run has.
func holds(ctx context.Context, dir string, run Run) (bool, error) {
	claim, found, err := readJSON[Run](ctx, dir, StartedFile)
	if err == nil && found && claim.Fingerprint != run.Fingerprint {
		err = &TakenError{dir, claim.ID, false}
	}
	return found, err
}

// checkClaim fails unless the run has claimed the folder, whatever is published there.
func checkClaim(ctx context.Context, dir string, run Run) error {
	held, err := holds(ctx, dir, run)
	if err == nil && !held {
		err = &LostError{dir}
	}
	return err
}

// checkFree fails if any run has claimed the folder or published in it.
func checkFree(ctx context.Context, dir string) error {
	claim, found, err := readJSON[Run](ctx, dir, StartedFile)
	if err != nil {
		return err
	}
	if found {
		return &TakenError{dir, claim.ID, false}
	}
	success, found, err := readJSON[Success](ctx, dir, SuccessFile)
	if err == nil && found {
		err = &TakenError{dir, success.Run, true}
	}
	return err
}

// checkCancelled fails if Cancel was called for this attempt.
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
