package gcsio

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/internal/fakegcs"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// start returns a store, with a client of its own, on a fake with the bucket b.
func start(t *testing.T) (*store, *fakegcs.Server) {
	return &store{}, fakegcs.Start(t, "b")
}

// impatient lets requests fail soon.
func impatient(t *testing.T, waits time.Duration) {
	before := patience
	patience = waits
	t.Cleanup(func() { patience = before })
}

func names(files []fileio.Info) (names []string) {
	for _, f := range files {
		names = append(names, strings.TrimPrefix(f.Name, "gs://b/"))
	}
	return names
}

func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	return content
}

func crcOf(content []byte) string {
	return fileio.Checksum(crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
}

func readAll(t *testing.T, s *store, name string) ([]byte, error) {
	t.Helper()
	f, err := s.Open(t.Context(), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	return io.ReadAll(io.NewSectionReader(f, 0, info.Size))
}

func TestGlob(t *testing.T) {
	s, server := start(t)
	for _, name := range []string{"in/b.tsv", "in/a.tsv", "in/c.txt", "in/odd[1].tsv", "in/", "in/deep/d.tsv", "in/deep/", "other/a.tsv", "a.tsv"} {
		server.Put("b", name, []byte(name), "")
	}
	for pattern, want := range map[string][]string{
		"in/*.tsv":       {"in/a.tsv", "in/b.tsv", "in/odd[1].tsv"},
		"in/odd[1].tsv":  {"in/odd[1].tsv"}, // a name comes before a pattern
		"in/?.t[sx][vt]": {"in/a.tsv", "in/b.tsv", "in/c.txt"},
		"*/a.tsv":        {"in/a.tsv", "other/a.tsv"},
		"in/*":           {"in/a.tsv", "in/b.tsv", "in/c.txt", "in/odd[1].tsv"},
		"in/*/*":         {"in/deep/d.tsv"},
		"in/c.txt":       {"in/c.txt"},
		"in/*.gz":        nil,
		"*":              {"a.tsv"},
	} {
		got, err := s.Glob(t.Context(), "gs://b/"+pattern)
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("%s lists %v, %v; want %v", pattern, names(got), err, want)
		}
	}
	for pattern, want := range map[string]string{
		"gs://b/none.tsv":  "gs://b/none.tsv: no such object",
		"gs://b/in":        "gs://b/in: is a folder; name its files, as in 'gs://b/in/*'",
		"gs://b/in/":       "gs://b/in/: is a folder; name its files, as in 'gs://b/in/*'",
		"gs://b":           "gs://b: is a folder; name its files, as in 'gs://b/*'",
		"gs://b/[*":        "gs://b/[*: syntax error in pattern",
		"gs://none/*":      "gs://none/*: no such bucket",
		"gs://none/file":   "gs://none/file: no such bucket",
		"gs://b*/file":     "gs://b*/file: the name of a bucket cannot be a pattern",
		"gs:///file":       "gs:///file: has no bucket; a name is gs://bucket/object",
		"gs://b/in/d/none": "gs://b/in/d/none: no such object",
	} {
		if _, err := s.Glob(t.Context(), pattern); err == nil || err.Error() != want {
			t.Errorf("%s gives %v, want %s", pattern, err, want)
		}
	}
	if _, err := s.Glob(t.Context(), "gs://b/none.tsv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	if _, err := s.Glob(t.Context(), "gs://b/in"); errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder is fs.ErrNotExist: %v", err)
	}
}

func TestList(t *testing.T) {
	s, server := start(t)
	for i := range 30 {
		server.Put("b", fmt.Sprintf("out/counts/%02d", i), nil, "")
	}
	for _, name := range []string{"out/", "out/_SUCCESS", "out/model", "outer"} {
		server.Put("b", name, []byte(name), "")
	}
	for dir, want := range map[string][]string{
		"gs://b/out":      {"out/_SUCCESS", "out/counts/", "out/model"},
		"gs://b/out/":     {"out/_SUCCESS", "out/counts/", "out/model"},
		"gs://b":          {"out/", "outer"},
		"gs://b/none":     nil,
		"gs://b/out/_SUC": nil,
	} {
		got, err := s.List(t.Context(), dir)
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("%s lists %v, %v; want %v", dir, names(got), err, want)
		}
	}
	if got, err := s.List(t.Context(), "gs://b/out/counts"); err != nil || len(got) != 30 {
		t.Errorf("%d files, %v", len(got), err)
	}
	info, err := s.Stat(t.Context(), "gs://b/outer")
	o, _ := server.Fake.GetObject("b", "outer")
	if want := (fileio.Info{Name: "gs://b/outer", Size: 5, Version: fmt.Sprint(o.Generation), CRC32C: crcOf([]byte("outer"))}); err != nil || info != want {
		t.Errorf("%+v, %v; want %+v", info, err, want)
	}
}

// Reads of any place and size give the bytes that stand there, and few requests.
func TestReadAt(t *testing.T) {
	s, server := start(t)
	for _, size := range []int{1, 100_000, readAhead, 3*readAhead + 17} {
		content := noise(size)
		server.Put("b", "file", content, "")
		f, err := s.Open(t.Context(), "gs://b/file")
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(2, 2))
		var wg sync.WaitGroup
		for range 100 {
			offset, n := rng.IntN(size), rng.IntN(size/3+2)
			wg.Go(func() {
				p := make([]byte, n)
				got, err := f.ReadAt(p, int64(offset))
				want := content[offset:min(size, offset+n)]
				if !bytes.Equal(p[:got], want) || (err != nil) != (got < n) || err != nil && err != io.EOF {
					t.Errorf("%d bytes from %d of %d: %d, %v", n, offset, size, got, err)
				}
			})
		}
		wg.Wait()
		if n, err := f.ReadAt(make([]byte, 1), int64(size)); n != 0 || err != io.EOF {
			t.Errorf("beyond the end: %d, %v", n, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("before the start: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		server.Requests()
		got, err := readAll(t, s, "gs://b/file")
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
		// Its attributes, the first read, and then much at a time.
		if got, most := len(server.Requests()), 3+size/readAhead; got > most {
			t.Errorf("%d requests for %d bytes in order, want %d at most", got, size, most)
		}
	}
}

// A file of which the start alone is looked at is not read further, and a table is not read again for every page.
func TestFewRequests(t *testing.T) {
	s, server := start(t)
	content := noise(8 * readAhead)
	server.Put("b", "file", content, "")
	f, err := s.Open(t.Context(), "gs://b/file")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4096)
	for at := range 500 {
		for column := range 5 {
			if _, err := f.ReadAt(p, int64(column*readAhead*3/2+at*len(p))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := len(server.Requests()); got > 2+5 {
		t.Errorf("%d requests for five columns in turn", got)
	}
}

// What the service would unpack is read as it is stored.
func TestGzipIsReadRaw(t *testing.T) {
	s, server := start(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(noise(readAhead + 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server.Put("b", "packed", packed.Bytes(), "gzip")
	for round, faults := range [][]fakegcs.Fault{nil, {fakegcs.CutBody}, {fakegcs.CutBody, fakegcs.CutBody, fakegcs.ResetBefore}} {
		server.Fail(fakegcs.Downloads, faults...)
		got, err := readAll(t, s, "gs://b/packed")
		if err != nil || !bytes.Equal(got, packed.Bytes()) {
			t.Errorf("round %d: %d bytes of %d, %v", round, len(got), packed.Len(), err)
		}
		server.Failed(t)
	}
}

// What arrives otherwise than it was stored is asked for again, if it is a whole object; who reads more compares.
func TestFlippedBits(t *testing.T) {
	s, server := start(t)
	content := noise(100_000)
	server.Put("b", "file", content, "")
	whole := func(r *http.Request) bool {
		return fakegcs.Downloads(r) && strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") && r.Header.Get("Range") != "bytes=0-511"
	}
	server.Fail(whole, fakegcs.Flip, fakegcs.Flip)
	if got, err := readAll(t, s, "gs://b/file"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d, %v", len(got), len(content), err)
	}
	server.Failed(t)
	server.Fail(whole, slices.Repeat([]fakegcs.Fault{fakegcs.Flip}, fetches)...)
	_, err := readAll(t, s, "gs://b/file")
	if want := "gs://b/file: the bytes that arrived have another CRC-32C than the object"; !errors.Is(err, fileio.ErrUnavailable) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	server.Failed(t)
	found, err := s.Glob(t.Context(), "gs://b/f*")
	if err != nil || len(found) != 1 || found[0].CRC32C != crcOf(content) {
		t.Errorf("listed as %+v, %v", found, err)
	}
}

// An object that is replaced while it is open gives its old bytes or none.
func TestGenerationIsPinned(t *testing.T) {
	s, server := start(t)
	before, after := bytes.Repeat([]byte("a"), 3*readAhead), bytes.Repeat([]byte("b"), 3*readAhead)
	server.Put("b", "file", before, "")
	f, err := s.Open(t.Context(), "gs://b/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 1000)
	if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, before[:1000]) {
		t.Fatal(err)
	}
	info, _ := f.Info()
	server.Put("b", "file", after, "")
	n, err := f.ReadAt(p, 2*readAhead)
	if bytes.Contains(p[:n], []byte("b")) || err == nil || !strings.Contains(err.Error(), "gs://b/file: was replaced or removed while it was read") {
		t.Errorf("%d bytes, %v", n, err)
	}
	if now, err := s.Stat(t.Context(), "gs://b/file"); err != nil || now.Version == info.Version {
		t.Errorf("the version is still %s, %v", now.Version, err)
	}
}

func TestWriterIsAllOrNothing(t *testing.T) {
	s, server := start(t)
	for _, size := range []int{0, 10, chunkBytes, 2*chunkBytes + 5} {
		content := noise(size)
		w, err := s.Create(t.Context(), "gs://b/out/file", fileio.Condition{})
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(content, 300_000) {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := server.Get("b", "out/file"); ok {
			t.Error("the object can be seen before Commit")
		}
		w.Abort()
		w.Abort()
		if err := w.Commit(); err == nil {
			t.Error("Commit after Abort succeeds")
		}
		if _, ok := server.Get("b", "out/file"); ok {
			t.Error("Abort publishes")
		}
		w, _ = s.Create(t.Context(), "gs://b/out/file", fileio.Condition{})
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		if got, ok := server.Get("b", "out/file"); !ok || !bytes.Equal(got, content) {
			t.Errorf("%d bytes of %d, %v", len(got), size, ok)
		}
		for range 2 {
			if err := s.Remove(t.Context(), "gs://b/out/file", nil); err != nil {
				t.Error(err)
			}
		}
		if _, ok := server.Get("b", "out/file"); ok {
			t.Error("Remove leaves it")
		}
	}
}

// A write that fails leaves nothing, also when it is one of many chunks that has failed.
func TestFailedWriteLeavesNothing(t *testing.T) {
	for name, kind := range map[string]fakegcs.Fault{"forbidden": fakegcs.Forbidden, "silence": fakegcs.Silence} {
		s, server := start(t)
		if kind == fakegcs.Silence {
			impatient(t, time.Second)
		}
		for _, size := range []int{10, 3 * chunkBytes} {
			passed := 0
			server.Fail(func(r *http.Request) bool {
				if fakegcs.Uploads(r) {
					passed++
				}
				return fakegcs.Uploads(r) && (size < chunkBytes || passed > 2)
			}, slices.Repeat([]fakegcs.Fault{kind}, 5)...)
			w, err := s.Create(t.Context(), "gs://b/file", fileio.Condition{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write(noise(size))
			if e := w.Commit(); err == nil {
				err = e
			}
			w.Abort()
			if want := map[string]error{"forbidden": fs.ErrPermission, "silence": fileio.ErrUnavailable}[name]; !errors.Is(err, want) {
				t.Errorf("%s, %d bytes: %v", name, size, err)
			}
			if _, ok := server.Get("b", "file"); ok {
				t.Errorf("%s, %d bytes: something was published", name, size)
			}
		}
	}
}

// A cancelled context ends a write without publishing it.
func TestCancelledWriteLeavesNothing(t *testing.T) {
	s, server := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, "gs://b/file", fileio.Condition{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(noise(100)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit gives %v", err)
	}
	if _, ok := server.Get("b", "file"); ok {
		t.Error("something was published")
	}
}

// faults are what may happen to an attempt, after which another succeeds.
var faults = map[string]fakegcs.Fault{
	"503 before": fakegcs.UnavailableBefore, "503 after": fakegcs.UnavailableAfter,
	"reset before": fakegcs.ResetBefore, "reset after": fakegcs.ResetAfter,
	"cut body": fakegcs.CutBody,
}

// Whatever happens to the first attempts, a write arrives and a read is right.
func TestFaultsPass(t *testing.T) {
	for name, kind := range faults {
		s, server := start(t)
		for _, size := range []int{1000, 2*chunkBytes + 5} {
			content := noise(size)
			server.Fail(fakegcs.Uploads, kind)
			if err := write(t, s, "gs://b/file", content); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			server.Failed(t)
			server.Fail(fakegcs.Downloads, kind, kind)
			if got, err := readAll(t, s, "gs://b/file"); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), size, err)
			}
			server.Failed(t)
		}
		server.Fail(fakegcs.Any, kind)
		if got, err := s.List(t.Context(), "gs://b"); err != nil || len(got) != 1 {
			t.Errorf("%s: the list is %v, %v", name, got, err)
		}
		server.Fail(fakegcs.Any, kind)
		if err := s.CheckWritable(t.Context(), "gs://b"); err != nil {
			t.Errorf("%s: CheckWritable: %v", name, err)
		}
		server.Fail(fakegcs.Deletes, kind)
		if err := s.Remove(t.Context(), "gs://b/file", nil); err != nil {
			t.Errorf("%s: Remove: %v", name, err)
		}
		server.Failed(t)
	}
}

func write(t *testing.T, s *store, name string, content []byte) error {
	return writeIf(t.Context(), s, name, content, fileio.Condition{})
}

// writeOnce writes an object unless it is there.
func writeOnce(ctx context.Context, s *store, name string, content []byte) error {
	return writeIf(ctx, s, name, content, fileio.Condition{Absent: true})
}

func writeIf(ctx context.Context, s *store, name string, content []byte, c fileio.Condition) error {
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

// An exclusive write whose reply is lost has won all the same, and no other has.
func TestExclusiveWriteWithLostReplies(t *testing.T) {
	for name, kind := range faults {
		s, server := start(t)
		server.Fail(fakegcs.Uploads, kind)
		if err := writeOnce(t.Context(), s, "gs://b/file", []byte("one")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		server.Failed(t)
		server.Fail(fakegcs.Uploads, kind)
		if err := writeOnce(t.Context(), s, "gs://b/file", []byte("two")); !errors.Is(err, fs.ErrExist) || !strings.HasPrefix(err.Error(), "gs://b/file: ") {
			t.Errorf("%s: the second writer gets %v", name, err)
		}
		if got, ok := server.Get("b", "file"); !ok || string(got) != "one" {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}

func TestOneOfSeveralWritersWins(t *testing.T) {
	s, server := start(t)
	kinds := []fakegcs.Fault{fakegcs.UnavailableBefore, fakegcs.UnavailableAfter, fakegcs.ResetBefore, fakegcs.ResetAfter, fakegcs.CutBody}
	for round := range 10 {
		if round%2 == 1 {
			server.Fail(fakegcs.Uploads, kinds...)
		}
		name := fmt.Sprint(round)
		var wg sync.WaitGroup
		var won atomic.Int32
		var winner atomic.Value
		for i := range 8 {
			wg.Go(func() {
				content := fmt.Sprintf("written by %d", i)
				switch err := writeOnce(t.Context(), s, "gs://b/"+name, []byte(content)); {
				case err == nil:
					won.Add(1)
					winner.Store(content)
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got, ok := server.Get("b", name); won.Load() != 1 || !ok || string(got) != winner.Load() {
			t.Errorf("%d winners, content %q, winner %q", won.Load(), got, winner.Load())
		}
	}
	server.Failed(t)
}

// A removal that is tried again, since its reply was lost, spares what was written in between.
func TestRemoveSparesWhatCameAfter(t *testing.T) {
	s, server := start(t)
	server.Put("b", "file", []byte("old"), "")
	server.Fail(fakegcs.Deletes, fakegcs.ResetAfter)
	server.Fail(func(r *http.Request) bool { // sees the second attempt, before it is served
		if fakegcs.Deletes(r) {
			server.Put("b", "file", []byte("new"), "")
		}
		return false
	}, fakegcs.ResetBefore)
	if err := s.Remove(t.Context(), "gs://b/file", nil); err != nil {
		t.Error(err)
	}
	if got, ok := server.Get("b", "file"); !ok || string(got) != "new" {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestCheckWritable(t *testing.T) {
	s, server := start(t)
	if err := s.CheckWritable(t.Context(), "gs://b/not/yet/there"); err != nil {
		t.Error(err)
	}
	if err := s.CheckWritable(t.Context(), "gs://none/out"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "gs://none/out: no such bucket" {
		t.Errorf("no bucket: %v", err)
	}
	server.Fail(fakegcs.Uploads, fakegcs.Forbidden)
	err := s.CheckWritable(t.Context(), "gs://b/out")
	if want := "gs://b/out: permission denied (somebody does not have storage access)"; !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if left, err := s.List(t.Context(), "gs://b"); err != nil || len(left) > 0 {
		t.Errorf("CheckWritable wrote %v, %v", left, err)
	}
}

// A service that does not answer is given up, and that may pass.
func TestUnavailable(t *testing.T) {
	for _, kind := range []fakegcs.Fault{fakegcs.UnavailableBefore, fakegcs.ResetBefore, fakegcs.Silence} {
		s, server := start(t)
		server.Put("b", "file", noise(10), "")
		f, err := s.Open(t.Context(), "gs://b/file")
		if err != nil {
			t.Fatal(err)
		}
		server.Fail(fakegcs.Any, slices.Repeat([]fakegcs.Fault{kind}, 10000)...)
		impatient(t, 300*time.Millisecond)
		for what, call := range map[string]func() error{
			"stat":      func() error { _, err := s.Stat(t.Context(), "gs://b/file"); return err },
			"read":      func() error { _, err := f.ReadAt(make([]byte, 5), 0); return err },
			"list":      func() error { _, err := s.List(t.Context(), "gs://b"); return err },
			"write":     func() error { return write(t, s, "gs://b/file", noise(10)) },
			"exclusive": func() error { return writeOnce(t.Context(), s, "gs://b/other", noise(10)) },
			"remove":    func() error { return s.Remove(t.Context(), "gs://b/file", nil) },
		} {
			err := call()
			// An attempt that the deadline itself interrupts has no cause to name. A slow machine gets more time.
			for tries := 0; kind == fakegcs.ResetBefore && !namesReset(err) && tries < 5; tries++ {
				patience *= 2
				err = call()
			}
			if !errors.Is(err, fileio.ErrUnavailable) || !strings.HasPrefix(err.Error(), "gs://b") || strings.Contains(err.Error(), "\n") {
				t.Errorf("fault %d, %s: %v", kind, what, err)
			}
			if kind == fakegcs.ResetBefore && !namesReset(err) {
				t.Errorf("fault %d, %s: %v; the cause is missing", kind, what, err)
			}
		}
	}
}

// namesReset tells whether an error says that the connection was reset. Some resets show as the end of the stream.
func namesReset(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "tcp 127.0.0.1") || strings.Contains(err.Error(), "EOF"))
}
