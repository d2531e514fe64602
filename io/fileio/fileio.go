// Package fileio reads and writes files on the local disk, and in every other [Store] that is registered for a URL scheme.
// It has only operations that an object store with preconditions has too: nothing renames, locks or appends to a file.
// Package storetest tests a store.
package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Info describes a file. Version changes whenever the content does: a modification time, or an object's generation. Size is
// in bytes. CRC32C is the checksum that the store keeps of the content, in hexadecimal digits, or empty if it keeps none.
type Info struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Version string `json:"version"`
	CRC32C  string `json:"-"`
}

// Checksum formats a CRC-32C as in Info.
func Checksum(crc uint32) string { return fmt.Sprintf("%08x", crc) }

// ErrUnavailable is wrapped by the error for a store that cannot be reached or does not answer. A retry may help.
var ErrUnavailable = errors.New("unavailable")

// ErrNotHeld is wrapped by the error of a Held that knows that the folder belongs to another run.
var ErrNotHeld = errors.New("the folder belongs to another run")

// ErrSwept is wrapped by the error of a writer whose temporary file Sweep removed.
var ErrSwept = errors.New("its temporary file was removed while it was written; run the command again")

// ErrTaken is wrapped by the error for an existing file with other content, which is not replaced.
var ErrTaken = errors.New("another run, or another version of sparsenb, wrote it; remove the folder and run the command again")

// Held returns nil if the caller may change a folder. Another run may take the folder at any time.
type Held func(context.Context) error

// Check calls h, unless it is nil.
func (h Held) Check(ctx context.Context) error {
	if h == nil {
		return nil
	}
	return h(ctx)
}

// Condition is what must hold for a file to be written. The zero value replaces an existing file.
type Condition struct {
	Absent bool // there is no file of that name, or Commit fails with fs.ErrExist
	Held   Held
}

// Store is a place for files. Its errors name the file, and wrap fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and
// ErrUnavailable where they apply.
type Store interface {
	// Glob lists the files that match a pattern of path.Match, sorted by name. A name without wildcards must be that
	// of a file, or of a folder: then all files in it and below are listed, except those whose name is Ignored, or that
	// of a folder in between. For a pattern that matches nothing the list is empty.
	Glob(ctx context.Context, pattern string) ([]Info, error)

	// List lists the files and folders directly in a folder, sorted by name; the names of folders end in a slash. A
	// folder that does not exist is empty.
	List(ctx context.Context, dir string) ([]Info, error)

	// Stat describes one file.
	Stat(ctx context.Context, name string) (Info, error)

	// Open opens a file for reading at any offset.
	Open(ctx context.Context, name string) (File, error)

	// Create begins to write a file, which appears complete when Commit returns. Of several writers whose condition
	// is Absent exactly one succeeds.
	//
	// A process may be suspended for hours, even after Held has returned nil. If the folder is removed or swept
	// meanwhile, a file system writes nothing after that; an object store may, and removes it again.
	Create(ctx context.Context, name string, c Condition) (Writer, error)

	// Remove deletes a file, if it exists. It does not delete a file that another run wrote in its place after Held
	// returned nil and the folder was removed or swept.
	Remove(ctx context.Context, name string, held Held) error

	// Sweep deletes the temporary files of interrupted writers directly in a folder. A suspended writer fails when it
	// resumes.
	Sweep(ctx context.Context, dir string, held Held) error

	// CheckWritable returns why files cannot be created in a folder, which may not exist yet. It writes nothing.
	CheckWritable(ctx context.Context, dir string) error
}

// File is a file that is open for reading.
type File interface {
	io.ReaderAt
	io.Closer
	Info() (Info, error) // as it is now
}

// Writer writes a file that is invisible before Commit. Abort discards it; after Commit Abort does nothing.
type Writer interface {
	io.Writer
	Commit() error
	Abort()
}

var (
	mu     sync.RWMutex
	stores = map[string]Store{}
)

// Register registers a store for names that start with scheme and "://". Call it from an init function.
func Register(scheme string, s Store) {
	mu.Lock()
	defer mu.Unlock()
	if _, ok := stores[scheme]; ok {
		panic("fileio.Register: two stores for " + scheme)
	}
	stores[scheme] = s
}

// For returns the store of a file.
func For(name string) (Store, error) {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return local{}, nil
	}
	mu.RLock()
	defer mu.RUnlock()
	if s, ok := stores[scheme]; ok {
		return s, nil
	}
	use := "a file path"
	for _, known := range slices.Sorted(maps.Keys(stores)) {
		use += " or " + known + "://"
	}
	return nil, fmt.Errorf("%s: %s:// is not supported; use %s", name, scheme, use)
}

// Absolute returns the absolute path of a file on disk, so that it is the same for every process. Other names are unchanged.
func Absolute(name string) (string, error) {
	if name == "" || strings.Contains(name, "://") {
		return name, nil
	}
	absolute, err := filepath.Abs(name)
	return absolute, named(name, err)
}

// Ignored reports whether Glob passes over files and folders of that name in a folder: those that start with a dot or an
// underscore, as for Spark and Hive.
func Ignored(base string) bool { return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") }

// Join appends elements to the name of a folder.
func Join(dir string, parts ...string) string {
	return strings.TrimRight(dir, "/") + "/" + strings.Join(parts, "/")
}

// ReadAll returns the content of a file of at most limit bytes.
func ReadAll(ctx context.Context, name string, limit int64) (content []byte, err error) {
	err = With(ctx, name, func(f File, info Info) (err error) {
		if info.Size > limit {
			return fmt.Errorf("%s: is too large: %d bytes, the limit is %d", name, info.Size, limit)
		}
		content, err = io.ReadAll(io.NewSectionReader(f, 0, info.Size))
		return err
	})
	return content, err
}

// ErrIrregular is wrapped by the error for a pipe or a device, which has no size and cannot be read twice.
var ErrIrregular = errors.New("is not a regular file")

// WriteAll writes a small file.
func WriteAll(ctx context.Context, name string, content []byte, c Condition) error {
	s, err := For(name)
	if err != nil {
		return err
	}
	w, err := s.Create(ctx, name, c)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Commit()
}

// With opens a file for reading, calls use, and closes it.
func With(ctx context.Context, name string, use func(f File, info Info) error) (err error) {
	store, err := For(name)
	if err != nil {
		return err
	}
	f, err := store.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	info, err := f.Info()
	if err != nil {
		return err
	}
	return use(f, info)
}
