package fileio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// local is the file system of the machine, or one that all machines mount.
type local struct{}

// plain is an error's cause without the operation and the name, which our own messages put first.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, plain(err))
}

func infoOf(name string, i fs.FileInfo) Info {
	return Info{name, i.Size(), i.ModTime().UTC().Format(time.RFC3339Nano)}
}

func (local) Stat(_ context.Context, name string) (Info, error) {
	i, err := os.Stat(name)
	if err != nil {
		return Info{}, named(name, err)
	}
	return infoOf(name, i), nil
}

func (l local) Glob(ctx context.Context, pattern string) ([]Info, error) {
	// A file may have a name that looks like a pattern.
	i, err := os.Stat(pattern)
	switch {
	case err == nil && i.IsDir():
		return nil, fmt.Errorf("%s: is a directory; name its files, as in '%s/*'", pattern, strings.TrimRight(pattern, "/"))
	case err == nil && !i.Mode().IsRegular():
		return nil, irregular(pattern)
	case err == nil:
		return []Info{infoOf(pattern, i)}, nil
	case !strings.ContainsAny(pattern, "*?["):
		return nil, named(pattern, err)
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	var files []Info
	for _, name := range names {
		i, err := os.Stat(name)
		if err != nil {
			return nil, named(name, err)
		}
		if i.Mode().IsRegular() {
			files = append(files, infoOf(name, i))
		}
	}
	return files, nil
}

func (local) List(_ context.Context, dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, named(dir, err)
	}
	var files []Info
	for _, e := range entries {
		name := Join(dir, e.Name())
		if e.IsDir() {
			files = append(files, Info{Name: name + "/"})
			continue
		}
		i, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed since
			continue
		}
		if err != nil {
			return nil, named(name, err)
		}
		files = append(files, infoOf(name, i))
	}
	slices.SortFunc(files, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}

type localFile struct{ *os.File }

func (local) Open(_ context.Context, name string) (File, error) {
	i, err := os.Stat(name) // to open a pipe may wait for ever
	if err == nil && !i.Mode().IsRegular() && !i.IsDir() {
		return nil, irregular(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, named(name, err)
	}
	return localFile{f}, nil
}

func irregular(name string) error {
	return fmt.Errorf("%s: %w; its size must be known", name, ErrIrregular)
}

func (f localFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	var path *fs.PathError
	if errors.As(err, &path) {
		err = named(f.Name(), err)
	}
	return n, err
}

func (f localFile) Info() (Info, error) {
	i, err := f.Stat()
	if err != nil {
		return Info{}, named(f.Name(), err)
	}
	return infoOf(f.Name(), i), nil
}

// Temporary files lie beside the file that they become. Their names start with a dot, which keeps readers of the folder
// from seeing them.
const (
	temporaryPrefix = "."
	temporarySuffix = ".sparsenb-tmp"
)

type localWriter struct {
	file *os.File
	name string
	done bool
}

func (local) Create(_ context.Context, name string) (Writer, error) { return create(name) }

func create(name string) (*localWriter, error) {
	dir, base := filepath.Split(name)
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return nil, named(name, err)
	}
	temporary := fmt.Sprintf("%s%s.%016x%s", temporaryPrefix, base, rand.Uint64(), temporarySuffix)
	f, err := os.OpenFile(filepath.Join(dir, temporary), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, named(name, err)
	}
	return &localWriter{file: f, name: name}, nil
}

func (w *localWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	return n, named(w.name, err)
}

// settle brings the content to the disk.
func (w *localWriter) settle() error {
	err := w.file.Sync()
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}

func (w *localWriter) Commit() error {
	err := w.settle()
	if err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err == nil {
		w.done = true
		err = syncDir(filepath.Dir(w.name))
	}
	return named(w.name, err)
}

func (w *localWriter) Abort() {
	if w.done {
		return
	}
	w.done = true
	// The file is unwanted, so that closing it fails is no loss; what cannot be removed, Sweep will find.
	_ = errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// CreateExclusive renames the finished file, which fails if the name is taken.
func (local) CreateExclusive(_ context.Context, name string, content []byte) error {
	w, err := create(name)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.file.Write(content); err != nil {
		return named(name, err)
	}
	if err := w.settle(); err != nil {
		return named(name, err)
	}
	if err := renameExclusive(w.file.Name(), name); err != nil {
		return named(name, err)
	}
	return named(name, syncDir(filepath.Dir(name)))
}

// syncDir makes the names in a folder survive a loss of power.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

func (local) Remove(_ context.Context, name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return named(name, err)
	}
	return nil
}

func (l local) Sweep(ctx context.Context, dir string) error {
	files, err := l.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		base := filepath.Base(f.Name)
		if strings.HasPrefix(base, temporaryPrefix) && strings.HasSuffix(base, temporarySuffix) {
			if err := l.Remove(ctx, f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckWritable asks the nearest folder that is there.
func (local) CheckWritable(_ context.Context, dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		i, err := os.Stat(at)
		if _, e := os.Lstat(at); errors.Is(err, fs.ErrNotExist) && e == nil {
			return fmt.Errorf("%s: %s is a link to nothing", dir, at)
		}
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err != nil {
			return named(dir, err)
		}
		if !i.IsDir() {
			return fmt.Errorf("%s: %s is a file, not a folder", dir, at)
		}
		const writeAndSearch = 0o3
		if err := syscall.Access(at, writeAndSearch); err != nil {
			return fmt.Errorf("%s: cannot write in %s: %w", dir, at, err)
		}
		return nil
	}
}
