// Package faulty is storage that fails, for tests. A file named faulty://FAULT=N/PATH is the file of that absolute path
// on the local disk, but for a fault:
//
//	faulty://read=N/…    reading beyond the first N bytes fails
//	faulty://panic=N/…   reading beyond the first N bytes panics with Panic
//	faulty://write=N/…   the N-th byte written, of all files together under that name's fault, finds the disk full
//	faulty://open=N/…    the N-th opening of a file of data, and all after it, find that it is gone
//	faulty://stop=N/…    the process is stopped, by SIGSTOP, at the N-th moment
//	faulty://kill=N/…    the process is killed there
//	faulty://call=N/…    Call is called there
//	faulty://hold=N/…    who reads the file PATH after its N-th opening waits for the pipe PATH.hold to be opened by a writer,
//	                     and closed
//	faulty://die=N/…     with the N-th byte written the storage fails, and from then on all that is asked of it
//
// A moment is before a file is begun, and when it may appear, or another may go, but does not yet.
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
	return kind == want && s.count(kind, limit, n) >= limit
}

// count adds n uses of a fault, and returns how many there were.
func (s *store) count(kind string, limit, n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := kind + "=" + strconv.FormatInt(limit, 10)
	s.used[key] += n
	return s.used[key]
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

// Panic is what a file panics with.
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
	if err := s.moment(name); err != nil {
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

// change is the moment when a change has been allowed.
func (s *store) change(name string, held fileio.Held) fileio.Held {
	return func(ctx context.Context) error {
		if held != nil {
			if err := held(ctx); err != nil {
				return err
			}
		}
		return s.moment(name)
	}
}

func (s *store) moment(name string) error {
	_, kind, limit, _ := fault(name)
	strikes := map[string]func() error{
		"call": func() error { Call(); return nil },
		"stop": stop,
		"kill": func() error { return syscall.Kill(syscall.Getpid(), syscall.SIGKILL) },
	}
	if strike, ok := strikes[kind]; ok && s.count(kind, limit, 1) == limit {
		return strike()
	}
	return nil
}

// Call is what happens while a change sleeps.
var Call func()

// stop stops the process until it gets SIGCONT. Another thread may take the signal, so that this one waits for the other.
func stop() error {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-goesOn
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
