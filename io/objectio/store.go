package objectio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Patience is how long a request may take by default, with all its retries.
const Patience = 2 * time.Minute

// Store is a fileio.Store of objects with names such as scheme://bucket/object.
type Store struct {
	Scheme   string
	Client   Client
	Patience time.Duration // 0 means the default
}

var errTimeout = errors.New("timeout")

func (s *Store) patience() time.Duration { return cmp.Or(s.Patience, Patience) }

// call sends a request that ends after the store's patience.
func (s *Store) call(ctx context.Context, name string, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience(), errTimeout)
	defer cancel()
	return s.explain(ctx, name, request(ctx))
}

// explain names the object, and says whether the context has ended the request.
func (s *Store) explain(ctx context.Context, name string, err error) error {
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case cause == nil || isAnswer(err):
	case errors.Is(cause, errTimeout):
		err = &Error{fmt.Sprintf("no answer within %s (%v)", s.patience(), err), fileio.ErrUnavailable, err}
	default:
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func isAnswer(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid)
}

// split returns the parts of a name. The object is empty in the name of a bucket.
func (s *Store) split(name string) (bucket, object string, err error) {
	bucket, object, _ = strings.Cut(strings.TrimPrefix(name, s.Scheme+"://"), "/")
	if bucket == "" {
		err = fmt.Errorf("%s: has no bucket; a name is %s://bucket/object", name, s.Scheme)
	}
	return bucket, object, err
}

// splitObject returns the parts of the name of an object.
func (s *Store) splitObject(name string) (bucket, object string, err error) {
	bucket, object, err = s.split(name)
	if err == nil && object == "" {
		err = fmt.Errorf("%s: is a bucket, not an object", name)
	}
	return bucket, object, err
}

func (s *Store) info(bucket string, o Object) fileio.Info {
	return fileio.Info{Name: s.Scheme + "://" + bucket + "/" + o.Name, Size: o.Size, Version: o.Version, CRC32C: o.CRC32C}
}

func (s *Store) stat(ctx context.Context, name string) (bucket string, o Object, err error) {
	bucket, object, err := s.splitObject(name)
	if err != nil {
		return "", o, err
	}
	err = s.call(ctx, name, func(ctx context.Context) (err error) {
		o, err = s.Client.Stat(ctx, bucket, object)
		return err
	})
	return bucket, o, err
}

// Stat describes an object.
func (s *Store) Stat(ctx context.Context, name string) (fileio.Info, error) {
	bucket, o, err := s.stat(ctx, name)
	if err != nil {
		return fileio.Info{}, err
	}
	return s.info(bucket, o), nil
}

// List lists one level of a folder. An object named like the folder itself, as consoles create it, is no file.
func (s *Store) List(ctx context.Context, dir string) ([]fileio.Info, error) {
	found, err := s.list(ctx, dir, s.folder(dir), "/", 0)
	bucket, _, _ := s.split(dir)
	self := s.info(bucket, Object{Name: s.folder(dir)}).Name
	return slices.DeleteFunc(found, func(f fileio.Info) bool { return f.Name == self }), err
}

// folder is the prefix of the names of all objects in a folder.
func (s *Store) folder(dir string) string {
	_, object, _ := s.split(dir)
	if object = strings.TrimRight(object, "/"); object == "" {
		return ""
	}
	return object + "/"
}

// pageSize is how many objects are listed by a request.
const pageSize = 1000

// list returns the objects with a prefix in the bucket of a name, sorted; at most limit, unless that is 0.
func (s *Store) list(ctx context.Context, name, prefix, delimiter string, limit int) (found []fileio.Info, err error) {
	bucket, _, err := s.split(name)
	if err != nil {
		return nil, err
	}
	for page := ""; ; {
		var objects []Object
		err := s.call(ctx, name, func(ctx context.Context) (err error) {
			objects, page, err = s.Client.List(ctx, bucket, prefix, delimiter, page, cmp.Or(limit, pageSize))
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			found = append(found, s.info(bucket, o))
		}
		if page == "" || limit > 0 && len(found) >= limit {
			break
		}
	}
	slices.SortFunc(found, func(a, b fileio.Info) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// Remove deletes the version that existed before Held was asked. A retry after a lost reply does not touch what another
// writer has written since.
func (s *Store) Remove(ctx context.Context, name string, held fileio.Held) error {
	bucket, o, err := s.stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := held.Check(ctx); err != nil {
		return err
	}
	return s.remove(ctx, name, bucket, o.Name, o.Version)
}

// remove deletes a version, unless it is gone.
func (s *Store) remove(ctx context.Context, name, bucket, object, version string) error {
	return s.call(ctx, name, func(ctx context.Context) error {
		err := s.Client.Delete(ctx, bucket, object, version)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

// Sweep does nothing: an interrupted upload is invisible, and the service discards it.
func (s *Store) Sweep(context.Context, string, fileio.Held) error { return nil }

// CheckWritable lists the folder, and tries a write whose condition cannot hold. An account that may not write is refused
// before the condition is evaluated.
func (s *Store) CheckWritable(ctx context.Context, dir string) error {
	if _, err := s.list(ctx, dir, s.folder(dir), "/", 1); err != nil {
		return err
	}
	w, err := s.newWriter(ctx, fileio.Join(dir, ".sparsenb-check"), Never, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.name = dir
	if err := w.Commit(); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
