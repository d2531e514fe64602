package gcsio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"cloud.google.com/go/storage"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// chunkBytes are kept of what is written, to send them again. An object that is smaller is sent in one request.
const chunkBytes = 4 << 20

// tokenKey is where an object's metadata tell who has written it.
const tokenKey = "sparsenb-writer"

// writer uploads an object, which appears when all of it has arrived.
type writer struct {
	ctx    context.Context // of the caller
	life   context.Context // of the upload
	end    context.CancelCauseFunc
	name   string
	object *storage.ObjectHandle
	upload *storage.Writer
	token  string
	held   fileio.Held
	exists bool // it is known before the end that the object is there, and may not be
	done   bool
}

// Create starts an upload. To give it up its context is cancelled: to close it would publish what there is.
func (s *store) Create(ctx context.Context, name string, c fileio.Condition) (fileio.Writer, error) {
	o, err := s.object(ctx, name)
	if err != nil {
		return nil, err
	}
	var conditions []storage.Conditions
	if c.Absent {
		conditions = append(conditions, storage.Conditions{DoesNotExist: true})
	}
	w := newWriter(ctx, name, o, conditions...)
	w.held = c.Held
	return w, nil
}

// newWriter starts an upload on a condition, if one is given.
func newWriter(ctx context.Context, name string, o *storage.ObjectHandle, conditions ...storage.Conditions) *writer {
	life, end := context.WithCancelCause(ctx)
	target := o
	for _, c := range conditions {
		target = o.If(c)
	}
	w := &writer{ctx: ctx, life: life, end: end, name: name, object: o, upload: target.NewWriter(life), token: rand.Text()}
	w.upload.Metadata = map[string]string{tokenKey: w.token}
	w.upload.ChunkSize = chunkBytes
	w.upload.ChunkRetryDeadline = patience
	return w
}

// do lets a step of the upload take as long as patience. After a step that has failed all others do.
func (w *writer) do(step func() error) error {
	alarm := time.AfterFunc(patience, func() { w.end(errSilent) })
	defer alarm.Stop()
	err := step()
	if cause := context.Cause(w.life); err != nil && cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return named(w.name, err)
}

func (w *writer) Write(p []byte) (n int, err error) {
	if w.exists {
		return len(p), nil
	}
	err = w.do(func() (err error) {
		n, err = w.upload.Write(p)
		return err
	})
	if hasStatus(err, http.StatusPreconditionFailed) { // whoever writes may want to compare all of it with what is there
		w.exists = true
		return len(p), nil
	}
	return n, err
}

// Commit finishes the upload. An error may be of the reply alone: then the object is there, with the token of this
// writer. That it was there already, too, may be the writer's own doing: the reply to its first attempt was lost, and the
// next one found what that had written.
func (w *writer) Commit() error {
	if err := w.check(); err != nil {
		return err
	}
	err := w.do(w.upload.Close)
	generation, arrived := w.generation(err)
	switch {
	case arrived:
	case w.exists, hasStatus(err, http.StatusPreconditionFailed):
		if err := w.check(); err != nil { // which says more
			return err
		}
		return fmt.Errorf("%s: %w", w.name, fs.ErrExist)
	default:
		return err
	}
	w.done = true
	w.end(nil)
	return w.checkAgain(generation)
}

// check asks whether the folder is the writer's.
func (w *writer) check() error {
	if w.held == nil {
		return nil
	}
	return w.held(w.ctx)
}

// checkAgain takes the object away if the folder has gone to another run since Commit has begun. The service knows
// conditions of the object that is written, not of another one.
func (w *writer) checkAgain(generation int64) error {
	err := w.check()
	if !errors.Is(err, fileio.ErrNotHeld) {
		return err
	}
	if e := remove(w.ctx, w.object, generation); e != nil {
		err = fmt.Errorf("%w; %s was written there and could not be removed: %w", err, w.name, e)
	}
	return err
}

// generation is that of the object which this writer has written, if it has arrived.
func (w *writer) generation(err error) (generation int64, arrived bool) {
	if err == nil {
		return w.upload.Attrs().Generation, true
	}
	attrs, err := attributes(w.ctx, w.object)
	if err != nil || attrs.Metadata[tokenKey] != w.token {
		return 0, false
	}
	return attrs.Generation, true
}

func (w *writer) Abort() {
	if !w.done {
		w.done = true
		w.end(context.Canceled)
	}
}

// Remove deletes the generation that was there before it was known that the folder is held. A second attempt, after a
// lost reply, does not touch what another writer has put in its place.
func (s *store) Remove(ctx context.Context, name string, held fileio.Held) error {
	o, err := s.object(ctx, name)
	if err != nil {
		return err
	}
	attrs, err := attributes(ctx, o)
	if errors.Is(err, storage.ErrObjectNotExist) {
		return nil
	}
	if err != nil {
		return named(name, err)
	}
	if held != nil {
		if err := held(ctx); err != nil {
			return err
		}
	}
	return named(name, remove(ctx, o, attrs.Generation))
}

// remove deletes a generation, unless it is gone.
func remove(ctx context.Context, o *storage.ObjectHandle, generation int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := o.If(storage.Conditions{GenerationMatch: generation}).Delete(ctx)
	if errors.Is(err, storage.ErrObjectNotExist) || hasStatus(err, http.StatusPreconditionFailed) {
		return nil
	}
	return err
}

// Sweep has nothing to do: of an upload that was interrupted nothing can be seen, and the service forgets it.
func (s *store) Sweep(context.Context, string, fileio.Held) error { return nil }

// CheckWritable lists the folder, and starts a write that cannot succeed: no object is of generation 1. An account that
// may not write is told so before the condition is looked at.
func (s *store) CheckWritable(ctx context.Context, dir string) error {
	if _, err := s.list(ctx, dir, query(folder(dir), "/"), 1); err != nil {
		return err
	}
	name := fileio.Join(dir, ".sparsenb-check")
	o, err := s.object(ctx, name)
	if err != nil {
		return err
	}
	w := newWriter(ctx, dir, o, storage.Conditions{GenerationMatch: 1})
	defer w.Abort()
	if err := w.Commit(); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
