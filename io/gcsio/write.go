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
	done   bool
}

// Create starts an upload. To give it up its context is cancelled: to close it would publish what there is.
func (s *store) Create(ctx context.Context, name string) (fileio.Writer, error) {
	o, err := s.object(ctx, name)
	if err != nil {
		return nil, err
	}
	return newWriter(ctx, name, o), nil
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
	err = w.do(func() (err error) {
		n, err = w.upload.Write(p)
		return err
	})
	return n, err
}

// Commit finishes the upload. An error may be of the reply alone: then the object is there, with the token of this writer.
func (w *writer) Commit() error {
	err := w.do(w.upload.Close)
	if err != nil && !w.arrived() {
		return err
	}
	w.done = true
	w.end(nil)
	return nil
}

// arrived reports whether the object is the one that this writer has written.
func (w *writer) arrived() bool {
	attrs, err := attributes(w.ctx, w.object)
	return err == nil && attrs.Metadata[tokenKey] == w.token
}

func (w *writer) Abort() {
	if !w.done {
		w.done = true
		w.end(context.Canceled)
	}
}

// CreateExclusive writes on the condition that there is no such object. That there is one may be the writer's own doing:
// the reply to its first attempt was lost, and the next one found what that had written. Commit knows.
func (s *store) CreateExclusive(ctx context.Context, name string, content []byte) error {
	o, err := s.object(ctx, name)
	if err != nil {
		return err
	}
	w := newWriter(ctx, name, o, storage.Conditions{DoesNotExist: true})
	defer w.Abort()
	if _, err = w.Write(content); err == nil {
		err = w.Commit()
	}
	if hasStatus(err, http.StatusPreconditionFailed) {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	return err
}

// Remove deletes the generation that is there now. A second attempt, after a lost reply, does not touch what another
// writer has put in its place.
func (s *store) Remove(ctx context.Context, name string) error {
	o, err := s.object(ctx, name)
	if err != nil {
		return err
	}
	attrs, err := attributes(ctx, o)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err = o.If(storage.Conditions{GenerationMatch: attrs.Generation}).Delete(ctx)
	}
	if errors.Is(err, storage.ErrObjectNotExist) || hasStatus(err, http.StatusPreconditionFailed) {
		return nil
	}
	return named(name, err)
}

// Sweep has nothing to do: of an upload that was interrupted nothing can be seen, and the service forgets it.
func (s *store) Sweep(context.Context, string) error { return nil }

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
	if err := w.Commit(); !hasStatus(err, http.StatusPreconditionFailed) {
		return err
	}
	return nil
}
