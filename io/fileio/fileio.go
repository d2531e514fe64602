// Package fileio is where files lie: the local disk, and whatever else registers a [Store] for its URL scheme. The
// operations are those that an object store with preconditions has too, so nothing else in the project renames a file,
// locks it or appends to it.
package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
)

// Info is a file as a listing shows it. Version changes whenever the content does: a modification time, or an object's
// generation. CRC32C is the checksum that the store keeps of the content, in hexadecimal digits, or empty if it keeps none.
type Info struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Version string `json:"version"`
	CRC32C  string `json:"-"`
}

// Checksum writes a CRC-32C as Info has it.
func Checksum(crc uint32) string { return fmt.Sprintf("%08x", crc) }

// ErrUnavailable is wrapped by the errors of a store that could not be reached, or had no answer: that may pass.
var ErrUnavailable = errors.New("unavailable")

// ErrNotHeld is wrapped by what a Held returns for certain: the folder is not, or no longer, the caller's.
var ErrNotHeld = errors.New("the folder belongs to another run")

// ErrSwept is wrapped by the error of a writer whose temporary file was taken for that of an interrupted one.
var ErrSwept = errors.New("its temporary file was removed while it was written")

// ErrTaken is wrapped by errors about files that are in the way, and are not replaced.
var ErrTaken = errors.New("another run, or another version of sparsenb, wrote it; remove the folder and run the command again")

// Held returns nil if the caller may change a folder, which others may have taken from it at any time.
type Held func(context.Context) error

// Check calls h, unless it is nil.
func (h Held) Check(ctx context.Context) error {
	if h == nil {
		return nil
	}
	return h(ctx)
}

// Condition is what must be so for a file to appear under its name. The zero value replaces what was there.
type Condition struct {
	Absent bool // nothing has the name; otherwise Commit fails with fs.ErrExist
	Held   Held
}

// Store is a place for files. Its errors name the file, and wrap fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and
// ErrUnavailable where they apply.
type Store interface {
	// Glob lists the files that match a pattern, sorted by name. A name without wildcards lists that file; if it is
	// not there, or is no file, the error says so. A pattern that matches nothing gives an empty list.
	Glob(ctx context.Context, pattern string) ([]Info, error)

	// List lists what stands directly in a folder, sorted by name; the names of folders end in a slash. A folder
	// that is not there is empty.
	List(ctx context.Context, dir string) ([]Info, error)

	// Stat describes one file.
	Stat(ctx context.Context, name string) (Info, error)

	// Open opens a file for reading at any place.
	Open(ctx context.Context, name string) (File, error)

	// Create starts to write a file. It appears under its name, whole, when Commit returns. Of several writers whose
	// condition is Absent exactly one succeeds.
	//
	// A process may sleep at any time, for hours, also after Held has said yes. If the folder was emptied meanwhile,
	// by its removal or by Sweep, a file system writes nothing after that; an object store may, and takes away again what it wrote.
	Create(ctx context.Context, name string, c Condition) (Writer, error)

	// Remove deletes a file. It is no error if it is not there. What another run has put in its place, after Held has
	// said yes and the folder was emptied, it spares.
	Remove(ctx context.Context, name string, held Held) error

	// Sweep deletes what interrupted writers left directly in a folder. A writer that sleeps there fails when it wakes.
	Sweep(ctx context.Context, dir string, held Held) error

	// CheckWritable reports why files cannot be created in a folder, which may not be there yet. It writes nothing.
	CheckWritable(ctx context.Context, dir string) error
}

// File is a file that is open for reading.
type File interface {
	io.ReaderAt
	io.Closer
	Info() (Info, error) // as it is now, or, where what was opened cannot change, as that is
}

// Writer writes a file of which nobody sees anything before Commit. After a failed write, or to give up, Abort leaves
// nothing behind; after Commit it does nothing.
type Writer interface {
	io.Writer
	Commit() error
	Abort()
}

var (
	mu     sync.RWMutex
	stores = map[string]Store{}
)

// Register makes a store known for names that start with scheme and "://". It is called from init functions.
func Register(scheme string, s Store) {
	mu.Lock()
	defer mu.Unlock()
	if _, ok := stores[scheme]; ok {
		panic("fileio.Register: two stores for " + scheme)
	}
	stores[scheme] = s
}

// For returns the store that holds the file of that name.
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
	return nil, fmt.Errorf("%s: %s:// is not supported; use a path of the file system, or gs://", name, scheme)
}

// Absolute names a file of the file system from its root, so that every process means the same by it.
func Absolute(name string) (string, error) {
	if name == "" || strings.Contains(name, "://") {
		return name, nil
	}
	absolute, err := filepath.Abs(name)
	return absolute, named(name, err)
}

// Join appends parts to the name of a folder.
func Join(dir string, parts ...string) string {
	return strings.TrimRight(dir, "/") + "/" + strings.Join(parts, "/")
}

// ReadAll returns the content of a small file, and fails if it has more than the given number of bytes.
func ReadAll(ctx context.Context, name string, most int64) (content []byte, err error) {
	err = With(ctx, name, func(f File, info Info) (err error) {
		if info.Size > most {
			return fmt.Errorf("%s: %w: it has %d bytes, and at most %d are read", name, ErrTooLarge, info.Size, most)
		}
		content, err = io.ReadAll(io.NewSectionReader(f, 0, info.Size))
		return err
	})
	return content, err
}

// ErrTooLarge is wrapped by the error for a file that is too large for what it should be.
var ErrTooLarge = errors.New("is too large")

// ErrIrregular is wrapped by the error for a pipe or a device, which has no size and no place to read from again.
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
