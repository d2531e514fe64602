package gcsio

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/internal/fakegcs"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/fileio/storetest"
	"github.com/sparsenb/sparsenb/io/objectio"
)

// TestMain runs many tests at a time: they wait rather than compute.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	m.Run()
}

// environment guards STORAGE_EMULATOR_HOST, which a client reads when it connects.
var environment sync.Mutex

// start runs the test in parallel with others, on a fake with the bucket b and a store with its own client.
func start(t *testing.T) (*objectio.Store, *fakegcs.Server) {
	t.Parallel()
	s, server := newStore(), fakegcs.New(t, "b")
	environment.Lock()
	defer environment.Unlock()
	if err := os.Setenv("STORAGE_EMULATOR_HOST", server.URL); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Client.(*client).connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, server
}

func TestStore(t *testing.T) {
	s, _ := start(t)
	sizes := []int{0, 1000, chunkBytes, 2*chunkBytes + 5}
	if testing.Short() {
		sizes = sizes[:2]
	}
	storetest.Run(t, s, "gs://b/dir", sizes...)
}

func TestErrorTexts(t *testing.T) {
	s, _ := start(t)
	for pattern, want := range map[string]string{
		"gs://b/none.tsv": "gs://b/none.tsv: no such object",
		"gs://none/*":     "gs://none/*: no such bucket",
		"gs://none/file":  "gs://none/file: no such bucket",
	} {
		if _, err := s.Glob(t.Context(), pattern); !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
			t.Errorf("%s gives %v, want %s", pattern, err, want)
		}
	}
}

// The service would decompress objects with Content-Encoding; they are read as they are stored.
func TestGzipIsReadRaw(t *testing.T) {
	s, server := start(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(storetest.Noise(5 << 20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server.Put("b", "packed", packed.Bytes(), "gzip")
	for round, faults := range [][]fakegcs.Fault{nil, {fakegcs.CutBody}, {fakegcs.CutBody, fakegcs.CutBody, fakegcs.ResetBefore}} {
		server.Fail(fakegcs.Downloads, faults...)
		got, err := storetest.Read(t.Context(), s, "gs://b/packed")
		if err != nil || !bytes.Equal(got, packed.Bytes()) {
			t.Errorf("round %d: %d bytes of %d, %v", round, len(got), packed.Len(), err)
		}
		server.Failed(t)
	}
}

// A whole object with a wrong checksum is read again. Listings have checksums, too.
func TestFlippedBits(t *testing.T) {
	s, server := start(t)
	content := storetest.Noise(100_000)
	server.Put("b", "file", content, "")
	server.Fail(func(r *http.Request) bool {
		return fakegcs.Downloads(r) && strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") && r.Header.Get("Range") != "bytes=0-511"
	}, fakegcs.Flip, fakegcs.Flip)
	if got, err := storetest.Read(t.Context(), s, "gs://b/file"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d, %v", len(got), len(content), err)
	}
	server.Failed(t)
	found, err := s.Glob(t.Context(), "gs://b/f*")
	if want := fileio.Checksum(crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))); err != nil || len(found) != 1 || found[0].CRC32C != want {
		t.Errorf("listed as %+v, %v", found, err)
	}
}

// A write that fails leaves nothing, even if the third of several chunks fails.
func TestFailedWriteLeavesNothing(t *testing.T) {
	for name, kind := range map[string]fakegcs.Fault{"forbidden": fakegcs.Forbidden, "silence": fakegcs.Silence} {
		for _, size := range []int{10, 3 * chunkBytes} {
			t.Run(fmt.Sprintf("%s-%d", name, size), func(t *testing.T) {
				s, server := start(t)
				if kind == fakegcs.Silence {
					s.Patience = time.Second
				}
				passed := 0
				server.Fail(func(r *http.Request) bool {
					if fakegcs.Uploads(r) {
						passed++
					}
					return fakegcs.Uploads(r) && (size < chunkBytes || passed > 2)
				}, slices.Repeat([]fakegcs.Fault{kind}, 5)...)
				err := storetest.Write(t.Context(), s, "gs://b/file", storetest.Noise(size), fileio.Condition{})
				if want := map[string]error{"forbidden": fs.ErrPermission, "silence": fileio.ErrUnavailable}[name]; !errors.Is(err, want) {
					t.Errorf("the error is %v", err)
				}
				if _, ok := server.Get("b", "file"); ok {
					t.Error("something was published")
				}
			})
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
	if _, err := w.Write(storetest.Noise(100)); err != nil {
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

// eachFault runs a test for every temporary fault.
func eachFault(t *testing.T, test func(t *testing.T, s *objectio.Store, server *fakegcs.Server, kind fakegcs.Fault)) {
	for name, kind := range map[string]fakegcs.Fault{
		"503 before": fakegcs.UnavailableBefore, "503 after": fakegcs.UnavailableAfter,
		"reset before": fakegcs.ResetBefore, "reset after": fakegcs.ResetAfter,
		"cut body": fakegcs.CutBody,
	} {
		t.Run(name, func(t *testing.T) {
			s, server := start(t)
			test(t, s, server, kind)
		})
	}
}

// Writes and reads succeed although the first attempts fail.
func TestFaultsPass(t *testing.T) {
	for _, size := range []int{1000, 2*chunkBytes + 5} {
		if testing.Short() && size > chunkBytes {
			continue
		}
		eachFault(t, func(t *testing.T, s *objectio.Store, server *fakegcs.Server, kind fakegcs.Fault) {
			content := storetest.Noise(size)
			server.Fail(fakegcs.Uploads, kind)
			if err := storetest.Write(t.Context(), s, "gs://b/file", content, fileio.Condition{}); err != nil {
				t.Error(err)
			}
			server.Failed(t)
			server.Fail(fakegcs.Downloads, kind, kind)
			if got, err := storetest.Read(t.Context(), s, "gs://b/file"); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes of %d, %v", len(got), size, err)
			}
			server.Failed(t)
		})
	}
	eachFault(t, func(t *testing.T, s *objectio.Store, server *fakegcs.Server, kind fakegcs.Fault) {
		server.Put("b", "file", nil, "")
		server.Fail(fakegcs.Any, kind)
		if got, err := s.List(t.Context(), "gs://b"); err != nil || len(got) != 1 {
			t.Errorf("the list is %v, %v", got, err)
		}
		server.Fail(fakegcs.Any, kind)
		if err := s.CheckWritable(t.Context(), "gs://b"); err != nil {
			t.Errorf("CheckWritable: %v", err)
		}
		server.Fail(fakegcs.Deletes, kind)
		if err := s.Remove(t.Context(), "gs://b/file", nil); err != nil {
			t.Errorf("Remove: %v", err)
		}
		server.Failed(t)
	})
}

// writeOnce writes an object unless it exists.
func writeOnce(ctx context.Context, s *objectio.Store, name, content string) error {
	return storetest.Write(ctx, s, name, []byte(content), fileio.Condition{Absent: true})
}

// An exclusive write whose reply is lost has succeeded, and no other does.
func TestExclusiveWriteWithLostReplies(t *testing.T) {
	eachFault(t, func(t *testing.T, s *objectio.Store, server *fakegcs.Server, kind fakegcs.Fault) {
		server.Fail(fakegcs.Uploads, kind)
		if err := writeOnce(t.Context(), s, "gs://b/file", "one"); err != nil {
			t.Error(err)
		}
		server.Failed(t)
		server.Fail(fakegcs.Uploads, kind)
		if err := writeOnce(t.Context(), s, "gs://b/file", "two"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("the second writer gets %v", err)
		}
		if got, ok := server.Get("b", "file"); !ok || string(got) != "one" {
			t.Errorf("%q, %v", got, ok)
		}
	})
}

func TestOneWriterWinsInSpiteOfFaults(t *testing.T) {
	s, server := start(t)
	for round := range 5 {
		server.Fail(fakegcs.Uploads, fakegcs.UnavailableBefore, fakegcs.UnavailableAfter, fakegcs.ResetBefore, fakegcs.ResetAfter, fakegcs.CutBody)
		storetest.OneWriterWins(t, s, fmt.Sprintf("gs://b/%d", round))
	}
	server.Failed(t)
}

// A removal that is retried because its reply was lost does not remove an object written in between.
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
	if err := s.CheckWritable(t.Context(), "gs://none/out"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "gs://none/out: no such bucket" {
		t.Errorf("no bucket: %v", err)
	}
	server.Fail(fakegcs.Uploads, fakegcs.Forbidden)
	err := s.CheckWritable(t.Context(), "gs://b/out")
	if want := "gs://b/out: permission denied (somebody does not have storage access)"; !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if left := server.List(t, "b", ""); len(left) > 0 {
		t.Errorf("CheckWritable wrote %v", left)
	}
}

// A service that does not answer within the patience is a temporary error.
func TestUnavailable(t *testing.T) {
	for name, kind := range map[string]fakegcs.Fault{"503": fakegcs.UnavailableBefore, "reset": fakegcs.ResetBefore, "silence": fakegcs.Silence} {
		for what, call := range map[string]func(context.Context, *objectio.Store, fileio.File) error{
			"stat": func(ctx context.Context, s *objectio.Store, _ fileio.File) error {
				_, err := s.Stat(ctx, "gs://b/file")
				return err
			},
			"read": func(_ context.Context, _ *objectio.Store, f fileio.File) error {
				_, err := f.ReadAt(make([]byte, 5), 0)
				return err
			},
			"list": func(ctx context.Context, s *objectio.Store, _ fileio.File) error {
				_, err := s.List(ctx, "gs://b")
				return err
			},
			"write": func(ctx context.Context, s *objectio.Store, _ fileio.File) error {
				return storetest.Write(ctx, s, "gs://b/file", storetest.Noise(10), fileio.Condition{})
			},
			"exclusive": func(ctx context.Context, s *objectio.Store, _ fileio.File) error {
				return writeOnce(ctx, s, "gs://b/other", "x")
			},
			"remove": func(ctx context.Context, s *objectio.Store, _ fileio.File) error {
				return s.Remove(ctx, "gs://b/file", nil)
			},
		} {
			t.Run(name+"-"+what, func(t *testing.T) {
				s, server := start(t)
				server.Put("b", "file", storetest.Noise(10), "")
				f, err := s.Open(t.Context(), "gs://b/file")
				if err != nil {
					t.Fatal(err)
				}
				server.Fail(fakegcs.Any, slices.Repeat([]fakegcs.Fault{kind}, 10000)...)
				s.Patience = 300 * time.Millisecond
				err = call(t.Context(), s, f)
				// An attempt that the deadline itself interrupts has no cause to name. A slow machine gets more time.
				for tries := 0; kind == fakegcs.ResetBefore && !namesReset(err) && tries < 5; tries++ {
					s.Patience *= 2
					err = call(t.Context(), s, f)
				}
				if !errors.Is(err, fileio.ErrUnavailable) || !strings.HasPrefix(err.Error(), "gs://b") || strings.Contains(err.Error(), "\n") {
					t.Errorf("the error is %v", err)
				}
				if kind == fakegcs.ResetBefore && !namesReset(err) {
					t.Errorf("%v; the cause is missing", err)
				}
			})
		}
	}
}

// namesReset reports whether an error says that the connection was reset. Some resets look like the end of the stream.
func namesReset(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "tcp 127.0.0.1") || strings.Contains(err.Error(), "EOF"))
}
