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

// Guard keeps a run from changing an output folder that is no longer its own. Goroutines may share one.
type Guard struct {
	dir string
	run Run

	mu   sync.Mutex
	seen fileio.Info // the run's claim as an object, once nobody else was found to have published beside it
}

// NewGuard returns the guard of a run's output folder.
func NewGuard(dir string, run Run) *Guard { return &Guard{dir: dir, run: run} }

// Check is a fileio.Held. It returns nil if the claim on the folder, or what is published there, is of this run or of
// one that writes the same.
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
		// A run that slept may have claimed what another has published meanwhile.
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

// checkWhole returns nil if the run is published, and otherwise an error that is given. It compares the manifest with
// _SUCCESS: that file alone may be what this very run has just written, after a sleep, to what is not its folder any more.
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

// knows reports whether this very object was looked at before, which saves two requests. Two files can have the same
// time of modification.
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

// once is the condition of a file that is never replaced.
func (g *Guard) once() fileio.Condition { return fileio.Condition{Absent: true, Held: g.Check} }

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

// Is knows fileio.ErrNotHeld.
func (e *TakenError) Is(target error) bool { return target == fileio.ErrNotHeld }

// LostError means that the output folder was the run's, and is nobody's now.
type LostError struct{ Dir string }

// Error says what has probably happened.
func (e *LostError) Error() string {
	return fmt.Sprintf("%s: this run's claim, %s, is gone: the folder was probably removed while the run was going; run the command again", e.Dir, StartedFile)
}

// Is knows fileio.ErrNotHeld.
func (e *LostError) Is(target error) bool { return target == fileio.ErrNotHeld }

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

// checkClaim fails unless the claim on the folder is the run's own, whatever is published there.
func checkClaim(ctx context.Context, dir string, run Run) error {
	held, err := holds(ctx, dir, run)
	if err == nil && !held {
		err = &LostError{dir}
	}
	return err
}

// checkFree fails if a run holds the folder or is published there, whichever it is.
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
