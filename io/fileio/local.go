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
	return fmt.Errorf("%s: %w; write it to a file first", name, ErrIrregular)
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
//
// They are also what ties a change to the folder as it is: whoever empties it, with rm -rf or Sweep, takes them away. A
// temporary file, or folder, is made first; then Held is asked; and the change itself moves the temporary file, or
// moves something into the temporary folder, which fails if that is gone. So what was decided before a sleep is not done after it.
const (
	temporaryPrefix = "."
	temporarySuffix = ".sparsenb-tmp"
)

// temporary is a new name beside that of a file.
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

// settle brings the content to the disk.
func (w *localWriter) settle() error {
	err := w.file.Sync()
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}

func (w *localWriter) Commit() error {
	if err := w.settle(); err != nil {
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
	// The file is unwanted, so that closing it fails is no loss; what cannot be removed, Sweep will find.
	_ = errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// linkExclusive renames a file where the system has no call for it that spares what has the new name.
func linkExclusive(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return ignoreAbsent(os.Remove(from))
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

// Remove moves the file into a temporary folder, which it removes.
func (local) Remove(ctx context.Context, name string, held Held) error {
	for {
		if _, err := os.Lstat(name); err != nil {
			return named(name, ignoreAbsent(err))
		}
		grave := temporary(name)
		if err := os.Mkdir(grave, 0o777); err != nil {
			return named(name, ignoreAbsent(err)) // without its folder the file is gone, too
		}
		err := held.Check(ctx)
		if err == nil {
			err = named(name, os.Rename(name, filepath.Join(grave, "removed")))
		}
		if e := os.RemoveAll(grave); err == nil {
			err = named(name, e)
		}
		// Either name may be gone: this one, or that of the folder, which another attempt at the same run has swept.
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
