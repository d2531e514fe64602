package objectio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// writer uploads an object, which appears when all of it has arrived.
type writer struct {
	store          *Store
	ctx            context.Context // of the caller
	life           context.Context // of the upload
	end            context.CancelCauseFunc
	name           string
	bucket, object string
	upload         Upload
	token          string
	held           fileio.Held
	exists         bool // Write has found that the object exists, although it must not
	done           bool
}

// Create starts an upload.
func (s *Store) Create(ctx context.Context, name string, c fileio.Condition) (fileio.Writer, error) {
	condition := Always
	if c.Absent {
		condition = Absent
	}
	w, err := s.newWriter(ctx, name, condition, c.Held)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (s *Store) newWriter(ctx context.Context, name string, c Condition, held fileio.Held) (*writer, error) {
	bucket, object, err := s.splitObject(name)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancelCause(ctx)
	w := &writer{store: s, ctx: ctx, life: life, end: end, name: name, bucket: bucket, object: object, token: rand.Text(), held: held}
	err = w.do(func() (err error) {
		w.upload, err = s.Client.Upload(life, bucket, object, w.token, c)
		return err
	})
	if err != nil {
		end(nil)
		return nil, err
	}
	return w, nil
}

// do gives a step of the upload the store's patience. After a failed step all others fail.
func (w *writer) do(step func() error) error {
	alarm := time.AfterFunc(w.store.patience(), func() { w.end(errTimeout) })
	defer alarm.Stop()
	return w.store.explain(w.life, w.name, step())
}

func (w *writer) Write(p []byte) (n int, err error) {
	if w.exists {
		return len(p), nil
	}
	err = w.do(func() (err error) {
		n, err = w.upload.Write(p)
		return err
	})
	if errors.Is(err, fs.ErrExist) { // the caller may compare all of what it writes with the object; Commit fails
		w.exists = true
		return len(p), nil
	}
	return n, err
}

// Commit finishes the upload. After an error the object may still be there with the token of this writer: the reply was
// lost. So it may if it is said to exist: the reply to the first attempt was lost, and a retry found its object.
func (w *writer) Commit() error {
	if err := w.held.Check(w.ctx); err != nil {
		return err
	}
	var version string
	err := w.do(func() (err error) {
		version, err = w.upload.Commit()
		return err
	})
	if err != nil {
		var arrived bool
		if version, arrived = w.find(); !arrived {
			return w.explainFailure(err)
		}
	}
	w.done = true
	w.end(nil)
	return w.checkAgain(version)
}

// find returns the version of the object, if this writer has written it.
func (w *writer) find() (version string, ok bool) {
	_, o, err := w.store.stat(w.ctx, w.store.info(w.bucket, Object{Name: w.object}).Name)
	return o.Version, err == nil && o.Token == w.token
}

func (w *writer) explainFailure(err error) error {
	if !w.exists && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := w.held.Check(w.ctx); err != nil { // the better explanation
		return err
	}
	return fmt.Errorf("%s: %w", w.name, fs.ErrExist)
}

// checkAgain removes the object if another run has taken the folder since Commit began. The service knows no conditions
// on other objects than the one that is written.
func (w *writer) checkAgain(version string) error {
	err := w.held.Check(w.ctx)
	if !errors.Is(err, fileio.ErrNotHeld) {
		return err
	}
	if e := w.store.remove(w.ctx, w.name, w.bucket, w.object, version); e != nil {
		err = fmt.Errorf("%w; %s was written there and could not be removed: %w", err, w.name, e)
	}
	return err
}

func (w *writer) Abort() {
	if !w.done {
		w.done = true
		w.end(context.Canceled)
	}
}
