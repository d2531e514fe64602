// Package storetest tests what every fileio.Store promises.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Run tests a store in folders below dir, which must be empty. Sizes are those of files that are written and read; give
// some for which the store behaves differently.
func Run(t *testing.T, s fileio.Store, dir string, sizes ...int) {
	for name, test := range map[string]func(place){
		"Write": func(p place) { p.testWrite(sizes) },
		"Read":  func(p place) { p.testRead(sizes) },
		"List":  place.testList, "Glob": place.testGlob, "Absent": place.testAbsent, "Held": place.testHeld,
		"Remove": place.testRemove, "Sweep": place.testSweep, "CheckWritable": place.testCheckWritable, "Errors": place.testErrors,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(place{t, s, fileio.Join(dir, name)})
		})
	}
}

// Noise returns n bytes, the same for each n.
func Noise(n int) []byte {
	content := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{byte(n)}).Read(content); err != nil {
		panic(err)
	}
	return content
}

// Write writes a file.
func Write(ctx context.Context, s fileio.Store, name string, content []byte, c fileio.Condition) error {
	w, err := s.Create(ctx, name, c)
	if err != nil {
		return err
	}
	defer w.Abort()
	for part := range slices.Chunk(content, 300_000) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Commit()
}

// Read returns the content of a file.
func Read(ctx context.Context, s fileio.Store, name string) ([]byte, error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, info.Size))
}

// place is a folder of a test.
type place struct {
	*testing.T
	store fileio.Store
	dir   string
}

func (p place) name(base string) string { return fileio.Join(p.dir, base) }

func (p place) put(base, content string) {
	p.Helper()
	if err := Write(context.Background(), p.store, p.name(base), []byte(content), fileio.Condition{}); err != nil {
		p.Fatal(err)
	}
}

// holds checks the content of a file; "" means that there is no such file.
func (p place) holds(base, want string) {
	p.Helper()
	got, err := Read(p.Context(), p.store, p.name(base))
	if string(got) != want || (want == "") != errors.Is(err, fs.ErrNotExist) {
		p.Errorf("%s holds %q, %v; want %q", base, got, err, want)
	}
}

func (p place) names(files []fileio.Info) (names []string) {
	for _, f := range files {
		names = append(names, strings.TrimPrefix(f.Name, p.dir+"/"))
	}
	return names
}

func (p place) lists(want ...string) {
	p.Helper()
	if got, err := p.store.List(p.Context(), p.dir); err != nil || !slices.Equal(p.names(got), want) {
		p.Errorf("the folder lists %q, %v; want %q", p.names(got), err, want)
	}
}

// A file appears as a whole, with Commit.
func (p place) testWrite(sizes []int) {
	for _, size := range sizes {
		content := Noise(size)
		name := p.name("deep/er/file")
		w, err := p.store.Create(p.Context(), name, fileio.Condition{})
		if err != nil {
			p.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			p.Fatal(err)
		}
		p.holds("deep/er/file", "")
		w.Abort()
		w.Abort()
		if err := w.Commit(); err == nil {
			p.Error("Commit after Abort succeeds")
		}
		p.holds("deep/er/file", "")
		for _, content := range [][]byte{[]byte("old"), content} {
			if err := Write(p.Context(), p.store, name, content, fileio.Condition{}); err != nil {
				p.Fatal(err)
			}
		}
		if got, err := Read(p.Context(), p.store, name); err != nil || !bytes.Equal(got, content) {
			p.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
		for range 2 {
			if err := p.store.Remove(p.Context(), name, nil); err != nil {
				p.Error(err)
			}
		}
		p.holds("deep/er/file", "")
	}
}

// Concurrent reads of any place and size return the bytes there.
func (p place) testRead(sizes []int) {
	for _, size := range sizes {
		content := Noise(size)
		p.put("file", string(content))
		f, err := p.store.Open(p.Context(), p.name("file"))
		if err != nil {
			p.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(2, 2))
		var wg sync.WaitGroup
		for range 30 {
			offset, n := rng.IntN(size+1), rng.IntN(size/3+2)
			wg.Go(func() {
				got := make([]byte, n)
				read, err := f.ReadAt(got, int64(offset))
				want := content[offset:min(size, offset+n)]
				if !bytes.Equal(got[:read], want) || (err != nil) != (read < n) || err != nil && err != io.EOF {
					p.Errorf("%d bytes from %d of %d: %d, %v", n, offset, size, read, err)
				}
			})
		}
		wg.Wait()
		if n, err := f.ReadAt(make([]byte, 1), int64(size)); n != 0 || err != io.EOF {
			p.Errorf("beyond the end: %d, %v", n, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
			p.Errorf("before the start: %v", err)
		}
		if err := f.Close(); err != nil {
			p.Error(err)
		}
	}
}

func (p place) testList() {
	p.lists()
	for _, base := range []string{"b", "a", "c/d", "c/e/f", ".hidden"} {
		p.put(base, base)
	}
	p.lists(".hidden", "a", "b", "c/")
	files, err := p.store.List(p.Context(), p.dir)
	if err != nil {
		p.Fatal(err)
	}
	info, err := p.store.Stat(p.Context(), p.name("a"))
	if err != nil || info.Name != p.name("a") || info.Size != 1 || info.Version == "" || info != files[1] {
		p.Errorf("%+v, %v; listed as %+v", info, err, files[1])
	}
}

func (p place) testGlob() {
	for _, base := range []string{"b.tsv", "a.tsv", "c.txt", "odd[1].tsv", "deep/d.tsv", "deep/er/a.tsv", "other/a.tsv",
		"deep/.hidden", "deep/_SUCCESS", "deep/_logs/a.tsv", "deep/er/.git/a.tsv", "deep-er/a.tsv", "_x/a.tsv", "none/_x"} {
		p.put(base, base)
	}
	for pattern, want := range map[string][]string{
		"*.tsv":       {"a.tsv", "b.tsv", "odd[1].tsv"},
		"odd[1].tsv":  {"odd[1].tsv"}, // a name comes before a pattern
		"?.t[sx][vt]": {"a.tsv", "b.tsv", "c.txt"},
		"*/a.tsv":     {"_x/a.tsv", "deep-er/a.tsv", "other/a.tsv"},
		"*e*/?.tsv":   {"deep-er/a.tsv", "deep/d.tsv", "other/a.tsv"},
		"deep":        {"deep/d.tsv", "deep/er/a.tsv"}, // a folder
		"deep/":       {"deep/d.tsv", "deep/er/a.tsv"},
		"deep/er/":    {"deep/er/a.tsv"},
		"_x":          {"_x/a.tsv"},
		"none":        nil,
		"*/*/a*":      {"deep/_logs/a.tsv", "deep/er/a.tsv"},
		"c.txt":       {"c.txt"},
		"*.gz":        nil,
	} {
		if got, err := p.store.Glob(p.Context(), p.name(pattern)); err != nil || !slices.Equal(p.names(got), want) {
			p.Errorf("%s matches %q, %v; want %q", pattern, p.names(got), err, want)
		}
	}
	for pattern, want := range map[string]string{
		"[*": "syntax error in pattern", "none.tsv": "no such ",
	} {
		_, err := p.store.Glob(p.Context(), p.name(pattern))
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, fs.ErrNotExist) != (pattern == "none.tsv") {
			p.Errorf("%s gives %v, want %s", pattern, err, want)
		}
	}
}

// OneWriterWins checks that of several writers of a name that must be absent exactly one succeeds.
func OneWriterWins(t *testing.T, s fileio.Store, name string) {
	t.Helper()
	var wg sync.WaitGroup
	var won atomic.Int32
	var winner atomic.Value
	for i := range 8 {
		wg.Go(func() {
			content := fmt.Sprintf("written by %d", i)
			switch err := Write(t.Context(), s, name, []byte(content), fileio.Condition{Absent: true}); {
			case err == nil:
				won.Add(1)
				winner.Store(content)
			case !errors.Is(err, fs.ErrExist) || !strings.HasPrefix(err.Error(), name+": "):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := Read(t.Context(), s, name); won.Load() != 1 || err != nil || string(got) != winner.Load() {
		t.Errorf("%d writers succeed, the content is %q, %v; want %q", won.Load(), got, err, winner.Load())
	}
}

func (p place) testAbsent() {
	for _, base := range []string{"0", "1", "2", "3", "4"} {
		OneWriterWins(p.T, p.store, p.name(base))
	}
	p.lists("0", "1", "2", "3", "4")
}

// taken returns a Held that another run takes the folder from when it is asked first. It says yes all the same, as for a
// process that sleeps after it.
func (p place) taken(theirs string) fileio.Held {
	asked := false
	return func(ctx context.Context) error {
		if asked {
			return fileio.ErrNotHeld
		}
		asked = true
		files, err := p.store.List(ctx, p.dir)
		if err == nil {
			err = p.store.Sweep(ctx, p.dir, nil)
		}
		for _, f := range files {
			if err == nil && !strings.HasSuffix(f.Name, "/") {
				err = p.store.Remove(ctx, f.Name, nil)
			}
		}
		if theirs != "" {
			p.put("file", theirs)
		}
		return err
	}
}

// Who does not hold the folder changes nothing, also if it was lost between the question and the change.
func (p place) testHeld() {
	not := func(context.Context) error { return fileio.ErrNotHeld }
	if err := Write(p.Context(), p.store, p.name("file"), []byte("ours"), fileio.Condition{Held: not}); !errors.Is(err, fileio.ErrNotHeld) {
		p.Errorf("a write gives %v", err)
	}
	p.lists()
	p.put("file", "old")
	if err := p.store.Remove(p.Context(), p.name("file"), not); !errors.Is(err, fileio.ErrNotHeld) {
		p.Errorf("a removal gives %v", err)
	}
	p.lists("file")
	for _, theirs := range []string{"theirs", ""} {
		if err := p.store.Remove(p.Context(), p.name("file"), nil); err != nil {
			p.Fatal(err)
		}
		c := fileio.Condition{Absent: true, Held: p.taken(theirs)}
		if err := Write(p.Context(), p.store, p.name("file"), []byte("late"), c); !errors.Is(err, fileio.ErrNotHeld) {
			p.Errorf("a late write gives %v", err)
		}
		p.holds("file", theirs)
	}
}

func (p place) testRemove() {
	if err := p.store.Remove(p.Context(), p.name("none"), nil); err != nil {
		p.Error(err)
	}
	p.put("file", "old")
	if err := p.store.Remove(p.Context(), p.name("file"), p.taken("theirs")); err != nil && !errors.Is(err, fileio.ErrNotHeld) {
		p.Errorf("a late removal gives %v", err)
	}
	p.holds("file", "theirs")
	p.lists("file")
}

// What interrupted writers left goes, and nothing else.
func (p place) testSweep() {
	p.put("kept", "x")
	p.put(".hidden", "x")
	for _, base := range []string{"a", "b"} {
		if _, err := p.store.Create(p.Context(), p.name(base), fileio.Condition{}); err != nil {
			p.Fatal(err)
		}
	}
	for _, dir := range []string{p.dir, p.name("absent")} {
		if err := p.store.Sweep(p.Context(), dir, nil); err != nil {
			p.Error(err)
		}
	}
	p.lists(".hidden", "kept")
}

func (p place) testCheckWritable() {
	if err := p.store.CheckWritable(p.Context(), p.name("not/yet/there")); err != nil {
		p.Error(err)
	}
	p.lists()
}

// Errors are one line that starts with the name.
func (p place) testErrors() {
	_, statError := p.store.Stat(p.Context(), p.name("none"))
	_, openError := p.store.Open(p.Context(), p.name("none"))
	for _, err := range []error{statError, openError} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), p.name("none")+": no such ") || strings.Contains(err.Error(), "\n") {
			p.Errorf("the error is %v", err)
		}
	}
}
