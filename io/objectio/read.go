package objectio

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/sparsenb/sparsenb/io/fileio"
)

const (
	// readAhead is how many bytes a request asks for. A request has the latency of about a million bytes.
	readAhead = 4 << 20

	// maxSpans is how many places of a file may be read in turn without reading again, such as the columns of a table.
	maxSpans = 8

	// fetches is how often a range is requested whose reply is too short, or an object whose checksum is wrong.
	fetches = 10
)

// file reads one version of an object. The first read requests only its own bytes, which may be all that is needed; those
// after it read ahead.
type file struct {
	store  *Store
	ctx    context.Context
	close  context.CancelFunc
	bucket string
	object Object
	name   string

	mu    sync.Mutex
	begun bool
	spans []span // the latest last
}

// span is a part of the file in memory.
type span struct {
	start int64
	data  []byte
}

// Open opens the latest version of an object.
func (s *Store) Open(ctx context.Context, name string) (fileio.File, error) {
	bucket, o, err := s.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	return &file{store: s, ctx: ctx, close: cancel, bucket: bucket, object: o, name: name}, nil
}

// Info describes the version that is read, which does not change.
func (f *file) Info() (fileio.Info, error) { return f.store.info(f.bucket, f.object), nil }

// Close ends pending reads.
func (f *file) Close() error {
	f.close()
	return nil
}

// ReadAt may be called concurrently; the reads take turns.
func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("%s: %w", f.name, fs.ErrInvalid)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if at >= f.object.Size {
			return n, io.EOF
		}
		data, err := f.from(at, len(p)-n)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data)
	}
	return n, nil
}

// from returns the bytes from an offset to the end of a span.
func (f *file) from(offset int64, wanted int) ([]byte, error) {
	for i, s := range f.spans {
		if end := s.start + int64(len(s.data)); s.start <= offset && offset < end {
			f.spans = append(slices.Delete(f.spans, i, i+1), s)
			return s.data[offset-s.start:], nil
		}
	}
	if !f.begun {
		f.begun = true
		return f.fetch(offset, int64(wanted))
	}
	s := span{start: offset}
	if f.object.Size <= readAhead {
		s.start = 0
	}
	var err error
	if s.data, err = f.fetch(s.start, max(readAhead, int64(wanted))); err != nil {
		return nil, err
	}
	f.keep(s)
	return s.data[offset-s.start:], nil
}

// keep adds a span, and drops the one that it continues, or else the least recently used.
func (f *file) keep(s span) {
	kept := f.spans[:0]
	for i, old := range f.spans {
		if old.start+int64(len(old.data)) != s.start && i > len(f.spans)-maxSpans {
			kept = append(kept, old)
		}
	}
	f.spans = append(kept, s)
}

var (
	errReplaced = errors.New("the object was replaced or removed while it was read")
	errChecksum = errors.New("checksum mismatch")
)

// fetch reads length bytes, or those up to the end of the object.
func (f *file) fetch(offset, length int64) ([]byte, error) {
	data := make([]byte, min(length, f.object.Size-offset))
	err := f.store.call(f.ctx, f.name, func(ctx context.Context) (err error) {
		for range fetches {
			if err = f.request(ctx, data, offset); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errChecksum) {
				break
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = errReplaced
		}
		return err
	})
	return data, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// request sends one request. It compares the checksum of a whole object; whoever reads a larger one in parts must do that.
func (f *file) request(ctx context.Context, data []byte, offset int64) error {
	if err := f.store.Client.Read(ctx, f.bucket, f.object, data, offset); err != nil {
		return err
	}
	if int64(len(data)) == f.object.Size && f.object.CRC32C != "" {
		if got := fileio.Checksum(crc32.Checksum(data, castagnoli)); got != f.object.CRC32C {
			text := fmt.Sprintf("checksum mismatch: the bytes that were read have CRC-32C %s, those in the store %s", got, f.object.CRC32C)
			return &Error{text, fileio.ErrUnavailable, errChecksum}
		}
	}
	return nil
}
