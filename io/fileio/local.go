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

// plain returns the cause of an error, without the operation and the name.
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
	return Info{Name: name, Size: i.Size(), Version: i.ModTime().UTC().Format(time.RFC3339Nano)}
}

func (local) Stat(_ context.Context, name string) (Info, error) {
	i, err := os.Stat(name)
	if err != nil {
		return Info{}, named(name, err)
	}
	return infoOf(name, i), nil
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
	i, err := os.Stat(name) // since opening a pipe may block
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
	return fmt.Errorf("%s: %w; copy its content to a file first", name, ErrIrregular)
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

// Temporary files are in the folder of the file that they become. Their names start with a dot, so that readers of the
// folder ignore them.
//
// They also protect a folder from a process that was suspended. Each change first creates a temporary file or folder, then
// calls Held, and then renames the temporary file, or renames something into the temporary folder. If the folder was
// removed or swept in between, the temporary file is gone and the rename fails.
const (
	temporaryPrefix = "."
	temporarySuffix = ".sparsenb-tmp"
)

// temporary returns the name of a new temporary file for a file.
func temporary(name string) string {
	dir, base := filepath.Split(name)
	return filepath.Join(dir, fmt.Sprintf("%s%s.%016x%s", temporaryPrefix, base, rand.Uint64(), temporarySuffix))
}

type localWriter struct {
	ctx       context.Context
	file      *os.File
	name      string
	condition Condition
	done      bool
}

func (local) Create(ctx context.Context, name string, c Condition) (Writer, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, named(name, err)
	}
	f, err := os.OpenFile(temporary(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, named(name, err)
	}
	return &localWriter{ctx: ctx, file: f, name: name, condition: c}, nil
}

func (w *localWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	return n, named(w.name, err)
}

// flush writes the content to the disk and closes the file.
func (w *localWriter) flush() error {
	err := w.file.Sync()
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}

func (w *localWriter) Commit() error {
	if err := w.flush(); err != nil {
		return named(w.name, err)
	}
	if err := w.condition.Held.Check(w.ctx); err != nil {
		return err
	}
	rename := os.Rename
	if w.condition.Absent {
		rename = renameExclusive
	}
	err := rename(w.file.Name(), w.name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.condition.Held.Check(w.ctx); err != nil {
			return err
		}
		err = ErrSwept
	}
	if err != nil {
		return named(w.name, err)
	}
	w.done = true
	return named(w.name, syncDir(filepath.Dir(w.name)))
}

func (w *localWriter) Abort() {
	if w.done {
		return
	}
	w.done = true
	// Errors do not matter: the content is discarded, and Sweep removes the file later.
	_ = errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// linkExclusive renames a file unless the new name exists, on systems without a call for it.
func linkExclusive(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return ignoreAbsent(os.Remove(from))
}

// syncDir writes the names in a folder to the disk.
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

// Remove renames the file into a temporary folder, and removes that.
func (local) Remove(ctx context.Context, name string, held Held) error {
	for {
		if _, err := os.Lstat(name); err != nil {
			return named(name, ignoreAbsent(err))
		}
		trash := temporary(name)
		if err := os.Mkdir(trash, 0o777); err != nil {
			return named(name, ignoreAbsent(err)) // without its folder there is no file either
		}
		err := held.Check(ctx)
		if err == nil {
			err = named(name, os.Rename(name, filepath.Join(trash, "removed")))
		}
		if e := os.RemoveAll(trash); err == nil {
			err = named(name, e)
		}
		// The file is gone, or the temporary folder, which another attempt of the same run swept: try again.
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (l local) Sweep(ctx context.Context, dir string, held Held) error {
	files, err := l.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		base := filepath.Base(f.Name)
		if strings.HasPrefix(base, temporaryPrefix) && strings.HasSuffix(base, temporarySuffix) {
			if err := l.Remove(ctx, strings.TrimRight(f.Name, "/"), held); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckWritable checks the nearest folder that exists.
func (local) CheckWritable(_ context.Context, dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		i, err := os.Stat(at)
		if _, e := os.Lstat(at); errors.Is(err, fs.ErrNotExist) && e == nil {
			return fmt.Errorf("%s: %s is a broken symlink", dir, at)
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
