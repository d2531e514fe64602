// Package faulty is storage that fails, for tests. A file named faulty://FAULT=N/PATH is the file of that absolute path
// on the local disk, but for a fault:
//
//	faulty://read=N/…    reading beyond the first N bytes fails
//	faulty://write=N/…   the N-th byte written, of all files together under that name's fault, finds the disk full
//	faulty://open=N/…    the N-th opening of a file, and all after it, find that it is gone
//	faulty://hold=N/…    who reads the file PATH after its N-th opening waits for the pipe PATH.hold to be opened by a writer,
//	                     and closed
//	faulty://die=N/…     with the N-th byte written the storage fails, and from then on all that is asked of it
package faulty

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/sparsenb/sparsenb/io/fileio"
)

func init() {
	local, err := fileio.For("")
	if err != nil {
		panic(err)
	}
	fileio.Register("faulty", &store{local: local, used: map[string]int64{}})
}

type store struct {
	local fileio.Store

	mu   sync.Mutex
	used map[string]int64
}

// fault takes a name apart.
func fault(name string) (prefix, kind string, limit int64, path string) {
	rest := strings.TrimPrefix(name, "faulty://")
	spec, path, _ := strings.Cut(rest, "/")
	kind, n, _ := strings.Cut(spec, "=")
	limit, err := strconv.ParseInt(n, 10, 64)
	if err != nil {
		panic("faulty: " + name)
	}
	return "faulty://" + spec, kind, limit, "/" + path
}

// use counts n uses of a fault, and reports whether it strikes.
func (s *store) use(name, want string, n int64) bool {
	_, kind, limit, _ := fault(name)
	if kind != want {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := kind + "=" + strconv.FormatInt(limit, 10)
	s.used[key] += n
	return s.used[key] >= limit
}

// dead fails if the storage has died.
func (s *store) dead(name string) error {
	if s.use(name, "die", 0) {
		return fmt.Errorf("%s: %w", name, syscall.EIO)
	}
	return nil
}

func renamed(prefix string, infos []fileio.Info) []fileio.Info {
	for i := range infos {
		infos[i].Name = prefix + infos[i].Name
	}
	return infos
}

func (s *store) Glob(ctx context.Context, pattern string) ([]fileio.Info, error) {
	prefix, _, _, path := fault(pattern)
	if err := s.dead(pattern); err != nil {
		return nil, err
	}
	infos, err := s.local.Glob(ctx, path)
	return renamed(prefix, infos), err
}

func (s *store) List(ctx context.Context, dir string) ([]fileio.Info, error) {
	prefix, _, _, path := fault(dir)
	if err := s.dead(dir); err != nil {
		return nil, err
	}
	infos, err := s.local.List(ctx, path) // keeps the slashes of folders
	return renamed(prefix, infos), err
}

func (s *store) Stat(ctx context.Context, name string) (fileio.Info, error) {
	prefix, _, _, path := fault(name)
	if err := s.dead(name); err != nil {
		return fileio.Info{}, err
	}
	info, err := s.local.Stat(ctx, path)
	info.Name = prefix + info.Name
	return info, err
}

func (s *store) Open(ctx context.Context, name string) (fileio.File, error) {
	prefix, kind, limit, path := fault(name)
	if s.use(name, "open", 1) {
		return nil, fmt.Errorf("%s: %w", name, syscall.ENOENT)
	}
	if err := s.dead(name); err != nil {
		return nil, err
	}
	f, err := s.local.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	opened := &file{File: f, prefix: prefix, limit: -1}
	if kind == "read" {
		opened.limit = limit
	}
	if s.use(name, "hold", 1) {
		opened.pipe = path + ".hold"
	}
	return opened, nil
}

type file struct {
	fileio.File
	prefix string
	limit  int64
	pipe   string // to wait for, once; empty for none
}

func (f *file) Info() (fileio.Info, error) {
	info, err := f.File.Info()
	info.Name = f.prefix + info.Name
	return info, err
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.limit >= 0 && offset+int64(len(p)) > f.limit {
		info, err := f.Info()
		if err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%s: %w", info.Name, syscall.EIO)
	}
	if pipe := f.pipe; pipe != "" {
		f.pipe = ""
		if _, err := os.ReadFile(pipe); err != nil {
			return 0, err
		}
	}
	return f.File.ReadAt(p, offset)
}

func (s *store) Create(ctx context.Context, name string) (fileio.Writer, error) {
	_, _, _, path := fault(name)
	if err := s.dead(name); err != nil {
		return nil, err
	}
	w, err := s.local.Create(ctx, path)
	return &writer{w, s, name}, err
}

type writer struct {
	fileio.Writer
	store *store
	name  string
}

func (w *writer) Write(p []byte) (int, error) {
	if w.store.use(w.name, "write", int64(len(p))) {
		return 0, fmt.Errorf("%s: %w", w.name, syscall.ENOSPC)
	}
	if w.store.use(w.name, "die", int64(len(p))) {
		return 0, fmt.Errorf("%s: %w", w.name, syscall.EIO)
	}
	return w.Writer.Write(p)
}

func (s *store) CreateExclusive(ctx context.Context, name string, content []byte) error {
	_, _, _, path := fault(name)
	if s.use(name, "write", int64(len(content))) {
		return fmt.Errorf("%s: %w", name, syscall.ENOSPC)
	}
	if s.use(name, "die", int64(len(content))) {
		return fmt.Errorf("%s: %w", name, syscall.EIO)
	}
	return s.local.CreateExclusive(ctx, path, content)
}

func (s *store) Remove(ctx context.Context, name string) error {
	_, _, _, path := fault(name)
	if err := s.dead(name); err != nil {
		return err
	}
	return s.local.Remove(ctx, path)
}

func (s *store) Sweep(ctx context.Context, dir string) error {
	_, _, _, path := fault(dir)
	if err := s.dead(dir); err != nil {
		return err
	}
	return s.local.Sweep(ctx, path)
}

func (s *store) CheckWritable(ctx context.Context, dir string) error {
	_, _, _, path := fault(dir)
	if err := s.dead(dir); err != nil {
		return err
	}
	return s.local.CheckWritable(ctx, path)
}

// Reset forgets all uses, so that every fault is as far away as at the start.
func Reset() {
	s, err := fileio.For("faulty://")
	if err != nil {
		panic(err)
	}
	f := s.(*store)
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.used)
}
