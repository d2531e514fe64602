// Package faulty is a fileio.Store that fails, for tests. faulty://FAULT=N/PATH is the file with that absolute path on the
// local disk, with a fault:
//
//	faulty://read=N/…    reading beyond the first N bytes fails
//	faulty://panic=N/…   reading beyond the first N bytes panics with Panic
//	faulty://write=N/…   the disk is full at the N-th byte written to all files with this fault
//	faulty://open=N/…    files of data do not exist from the N-th opening on
//	faulty://stop=N/…    the process is stopped by SIGSTOP at the N-th step
//	faulty://kill=N/…    the process is killed at the N-th step
//	faulty://call=N/…    Call is called at the N-th step
//	faulty://hold=N/…    from the N-th opening of PATH on, its first read waits until a writer has opened and closed the
//	                     pipe PATH.hold
//	faulty://die=N/…     every operation fails from the N-th byte written on
//
// A step is before a file is created, and between Held and the change that it allows.
package faulty

import (
	"context"
	"fmt"
	"os"
	"os/signal"
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

// fault returns the parts of a name.
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

// use adds n uses of a fault, and reports whether it occurs.
func (s *store) use(name, want string, n int64) bool {
	_, kind, limit, _ := fault(name)
	return kind == want && s.count(kind, limit, n) >= limit
}

// count adds n uses of a fault, and returns their sum.
func (s *store) count(kind string, limit, n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := kind + "=" + strconv.FormatInt(limit, 10)
	s.used[key] += n
	return s.used[key]
}

// dead returns an error if the store has died.
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
	data := !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, "/_SUCCESS")
	if data && s.use(name, "open", 1) {
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
	if kind == "read" || kind == "panic" {
		opened.limit, opened.panics = limit, kind == "panic"
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
	panics bool
	pipe   string // to wait for, once; empty for none
}

// Panic is the value of the panics of faulty://panic.
const Panic = "faulty: read beyond the limit"

func (f *file) Info() (fileio.Info, error) {
	info, err := f.File.Info()
	info.Name = f.prefix + info.Name
	return info, err
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.limit >= 0 && offset+int64(len(p)) > f.limit {
		if f.panics {
			panic(Panic)
		}
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

func (s *store) Create(ctx context.Context, name string, c fileio.Condition) (fileio.Writer, error) {
	_, _, _, path := fault(name)
	if err := s.dead(name); err != nil {
		return nil, err
	}
	if err := s.step(name); err != nil {
		return nil, err
	}
	c.Held = s.change(name, c.Held)
	w, err := s.local.Create(ctx, path, c)
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

// change adds the step between Held and a change.
func (s *store) change(name string, held fileio.Held) fileio.Held {
	return func(ctx context.Context) error {
		if held != nil {
			if err := held(ctx); err != nil {
				return err
			}
		}
		return s.step(name)
	}
}

func (s *store) step(name string) error {
	_, kind, limit, _ := fault(name)
	faults := map[string]func() error{
		"call": func() error { Call(); return nil },
		"stop": stop,
		"kill": func() error { return syscall.Kill(syscall.Getpid(), syscall.SIGKILL) },
	}
	if occur, ok := faults[kind]; ok && s.count(kind, limit, 1) == limit {
		return occur()
	}
	return nil
}

// Call is what faulty://call calls.
var Call func()

// stop stops the process until it gets SIGCONT. It waits for the signal, which may stop another thread first.
func stop() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-resumed
	return nil
}

func (s *store) Remove(ctx context.Context, name string, held fileio.Held) error {
	_, _, _, path := fault(name)
	if err := s.dead(name); err != nil {
		return err
	}
	return s.local.Remove(ctx, path, s.change(name, held))
}

func (s *store) Sweep(ctx context.Context, dir string, held fileio.Held) error {
	_, _, _, path := fault(dir)
	if err := s.dead(dir); err != nil {
		return err
	}
	return s.local.Sweep(ctx, path, s.change(dir, held))
}

func (s *store) CheckWritable(ctx context.Context, dir string) error {
	_, _, _, path := fault(dir)
	if err := s.dead(dir); err != nil {
		return err
	}
	return s.local.CheckWritable(ctx, path)
}

// Reset sets the uses of all faults to 0.
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
