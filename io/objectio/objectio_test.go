package objectio_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/fileio/storetest"
	"github.com/sparsenb/sparsenb/io/objectio"
)

// readAhead is as in read.go.
const readAhead = 4 << 20

func start() (*objectio.Store, *memory) {
	m := newMemory()
	return &objectio.Store{Scheme: "memory", Client: m}, m
}

func TestStore(t *testing.T) {
	s, _ := start()
	storetest.Run(t, s, "memory://b/dir", 0, 1, 100_000, readAhead, 3*readAhead+17)
}

func TestNames(t *testing.T) {
	s, m := start()
	for _, name := range []string{"in/", "in/a", "in/deep/", "in/deep/d", "inner"} { // consoles create folders as objects
		m.put(name, "", nil)
	}
	for dir, want := range map[string]string{"memory://b": "in/ inner", "memory://b/in": "in/a in/deep/", "memory://b/in/": "in/a in/deep/", "memory://b/i": ""} {
		var names []string
		got, err := s.List(t.Context(), dir)
		for _, f := range got {
			names = append(names, strings.TrimPrefix(f.Name, "memory://b/"))
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s lists %q, %v; want %s", dir, names, err, want)
		}
	}
	if got, err := s.Glob(t.Context(), "memory://b/*/*"); err != nil || len(got) != 1 || got[0].Name != "memory://b/in/a" {
		t.Errorf("%v, %v", got, err)
	}
	for pattern, want := range map[string]string{
		"memory://b*/file": "memory://b*/file: the name of a bucket cannot be a pattern",
		"memory:///file":   "memory:///file: has no bucket; a name is memory://bucket/object",
		"memory://b/in/x":  "memory://b/in/x: no such object",
	} {
		if _, err := s.Glob(t.Context(), pattern); err == nil || err.Error() != want {
			t.Errorf("%s gives %v, want %s", pattern, err, want)
		}
	}
	if _, err := s.Open(t.Context(), "memory://b"); err == nil || err.Error() != "memory://b: is a bucket, not an object" {
		t.Error(err)
	}
}

// The start of a file costs one read, a whole file one for each 4 MiB, and columns that are read in turn one each.
func TestFewRequests(t *testing.T) {
	s, m := start()
	m.put("file", "", storetest.Noise(8*readAhead))
	f, err := s.Open(t.Context(), "memory://b/file")
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
	if m.requests > 2+5 {
		t.Errorf("%d requests for five columns in turn", m.requests)
	}
	m.requests = 0
	if _, err := storetest.Read(t.Context(), s, "memory://b/file"); err != nil || m.requests > 2+8 {
		t.Errorf("%d requests for eight times %d bytes, %v", m.requests, readAhead, err)
	}
}

// Reading an object that is replaced while it is open returns its old bytes or an error.
func TestVersionIsPinned(t *testing.T) {
	s, m := start()
	m.put("file", "", storetest.Noise(3*readAhead))
	f, err := s.Open(t.Context(), "memory://b/file")
	if err != nil {
		t.Fatal(err)
	}
	m.put("file", "", storetest.Noise(3*readAhead+1))
	_, err = f.ReadAt(make([]byte, 10), 2*readAhead)
	if want := "memory://b/file: the object was replaced or removed while it was read"; err == nil || err.Error() != want || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %s", err, want)
	}
}

var errLost = &objectio.Error{Text: "connection reset", Kind: fileio.ErrUnavailable}

// A write whose reply is lost has succeeded.
func TestLostReplies(t *testing.T) {
	s, m := start()
	m.fail = func(request string) error {
		if request == "upload" {
			return errLost
		}
		return nil
	}
	for _, c := range []fileio.Condition{{Absent: true}, {}} {
		if err := storetest.Write(t.Context(), s, "memory://b/file", []byte("one"), c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	m.fail = func(string) error { return errLost } // Stat's, too: it is unknown whether the write has succeeded
	err := storetest.Write(t.Context(), s, "memory://b/other", nil, fileio.Condition{Absent: true})
	if !errors.Is(err, fileio.ErrUnavailable) || err.Error() != "memory://b/other: connection reset" {
		t.Error(err)
	}
}

// silent is a client whose requests end with their context.
type silent struct{ *memory }

func (silent) Stat(ctx context.Context, _, _ string) (objectio.Object, error) {
	<-ctx.Done()
	return objectio.Object{}, ctx.Err()
}

func TestPatience(t *testing.T) {
	s := &objectio.Store{Scheme: "memory", Client: silent{newMemory()}, Patience: time.Millisecond}
	_, err := s.Stat(t.Context(), "memory://b/file")
	if want := "memory://b/file: no answer within 1ms (context deadline exceeded)"; !errors.Is(err, fileio.ErrUnavailable) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Stat(ctx, "memory://b/file"); !errors.Is(err, context.Canceled) || errors.Is(err, fileio.ErrUnavailable) {
		t.Error(err)
	}
}

// The checksum of a whole object is compared; a read is repeated before it fails.
func TestChecksum(t *testing.T) {
	s, m := start()
	o := m.put("file", "", storetest.Noise(1000))
	content := m.contents["file@"+o.Version]
	content[10] ^= 1
	read := func() ([]byte, error) {
		f, err := s.Open(t.Context(), "memory://b/file")
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, o.Size)
		_, err = f.ReadAt(p, 0)
		return p, err
	}
	_, err := read()
	if !errors.Is(err, fileio.ErrUnavailable) || !strings.HasPrefix(err.Error(), "memory://b/file: checksum mismatch: the bytes that were read have CRC-32C ") {
		t.Error(err)
	}
	m.requests = 0
	m.fail = func(string) error {
		if m.requests == 3 { // the second read
			content[10] ^= 1
		}
		return nil
	}
	if got, err := read(); err != nil || !slices.Equal(got, storetest.Noise(1000)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
