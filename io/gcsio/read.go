package gcsio

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sync"

	"cloud.google.com/go/storage"

	"github.com/sparsenb/sparsenb/io/fileio"
)

const (
	// readAhead is how much is asked for at a time.
	readAhead = 4 << 20

	// maxSpans is how many places of a file may be read on from in turn: the columns of a table, above all.
	maxSpans = 8
)

// file reads one generation of an object, in the bytes that are stored: the service does not unpack for us what is
// marked as packed. The first read gets what it asks for, which may be all that is wanted. After that much is read at a
// time, since every request takes as long as a million bytes do.
type file struct {
	ctx    context.Context
	close  context.CancelFunc
	object *storage.ObjectHandle
	info   fileio.Info

	mu    sync.Mutex
	begun bool
	spans []span // the latest last
}

// span is a stretch of the file in memory.
type span struct {
	start int64
	data  []byte
}

// Open opens the latest generation of an object.
func (s *store) Open(ctx context.Context, name string) (fileio.File, error) {
	o, err := s.object(ctx, name)
	if err != nil {
		return nil, err
	}
	attrs, err := attributes(ctx, o)
	if err != nil {
		return nil, named(name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	return &file{ctx: ctx, close: cancel, object: o.Generation(attrs.Generation).ReadCompressed(true), info: infoOf(attrs)}, nil
}

// Info describes the generation that is read, which does not change.
func (f *file) Info() (fileio.Info, error) { return f.info, nil }

// Close ends reads that are under way.
func (f *file) Close() error {
	f.close()
	return nil
}

// ReadAt may be called by several goroutines; they take turns.
func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("%s: %w", f.info.Name, fs.ErrInvalid)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if at >= f.info.Size {
			return n, io.EOF
		}
		data, err := f.from(at, len(p)-n)
		if err != nil {
			return n, named(f.info.Name, err)
		}
		n += copy(p[n:], data)
	}
	return n, nil
}

// from returns what stands at an offset, up to where a span ends.
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
	if f.info.Size <= readAhead {
		s.start = 0
	}
	var err error
	if s.data, err = f.fetch(s.start, max(readAhead, int64(wanted))); err != nil {
		return nil, err
	}
	f.keep(s)
	return s.data[offset-s.start:], nil
}

// keep forgets the span that this one follows, which has been read, or else the one that was longest out of use.
func (f *file) keep(s span) {
	kept := f.spans[:0]
	for i, old := range f.spans {
		if old.start+int64(len(old.data)) != s.start && i > len(f.spans)-maxSpans {
			kept = append(kept, old)
		}
	}
	f.spans = append(kept, s)
}

// fetch reads so many bytes, or what there is of them.
func (f *file) fetch(offset, length int64) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(f.ctx, patience)
	defer cancel()
	data = make([]byte, min(length, f.info.Size-offset))
	for range fetches {
		if err = f.request(ctx, data, offset); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errFlipped) {
			break
		}
	}
	if errors.Is(err, storage.ErrObjectNotExist) {
		err = errReplaced
	}
	return data, err
}

// fetches is how often a range is asked for that comes too short, or a whole object that is not what was stored. The library goes on by itself where a reply breaks
// off, but skips too much (of version 1.67.1, and in objects with Content-Encoding: gzip alone).
const fetches = 10

var errReplaced = errors.New("was replaced or removed while it was read")

// errFlipped is an object, read at once, whose checksum is not that of its attributes. Who reads a larger one compares.
var errFlipped = errors.New("the bytes that arrived have another CRC-32C than the object")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f *file) request(ctx context.Context, data []byte, offset int64) error {
	r, err := f.object.NewRangeReader(ctx, offset, int64(len(data)))
	if err != nil {
		return err
	}
	_, err = io.ReadFull(r, data)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && (r.Attrs.Decompressed || r.Attrs.Size != f.info.Size) {
		err = fmt.Errorf("%d bytes were sent of the %d that are stored", r.Attrs.Size, f.info.Size)
	}
	if e := r.Close(); err == nil {
		err = e
	}
	if err == nil && f.info.CRC32C != "" && int64(len(data)) == f.info.Size && fileio.Checksum(crc32.Checksum(data, castagnoli)) != f.info.CRC32C {
		err = errFlipped
	}
	return err
}
