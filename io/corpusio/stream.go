package corpusio

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// CorruptError is an input whose content cannot be read to its end. A retry cannot help.
type CorruptError struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // in the file as it is stored; of a file with rows the row, with which Cause starts
	Cause  string `json:"cause"`
}

// Error is one line with the file, the place and the cause.
func (e *CorruptError) Error() string {
	if e.Offset == 0 || strings.HasPrefix(e.Cause, "row ") {
		return fmt.Sprintf("%s: %s", e.File, e.Cause)
	}
	return fmt.Sprintf("%s, byte %d: %s", e.File, e.Offset, e.Cause)
}

const (
	bufferBytes = 256 << 10

	// maxWindow is the most memory that a .zst or .xz file may ask for: the window of zstd --ultra --long=27. That of
	// xz -9 is half of it.
	maxWindow = 128 << 20

	// minExpansion is a size in bytes that any file may be decompressed to.
	minExpansion = 64 << 20
)

// stream is the decompressed content of a file from an offset on. It knows nothing of lines or documents.
type stream struct {
	stored  stored
	content io.Reader
	ahead   *bufio.Reader // between stored and content, if the decompressor needs one
	opening error         // of the decompressor; Read returns it
	free    func()

	expanded     int64 // bytes of content that were read
	maxExpansion int64 // times the size of a compressed file, and more than minExpansion, are too many
}

// openStream opens a range of a file for reading from an offset, at or before its start. Reading may go on beyond the
// range; the checksum is that of the range.
func openStream(ctx context.Context, r Range, from int64, reading Reading) (*stream, error) {
	store, err := fileio.For(r.File.Name)
	if err != nil {
		return nil, err
	}
	f, err := store.Open(ctx, r.File.Name)
	if err != nil {
		return nil, err
	}
	s := &stream{
		stored:       stored{file: f, span: Span{File: r.File, Start: r.Start, End: r.End}, at: from},
		free:         func() {},
		maxExpansion: int64(cmp.Or(reading.MaxExpansion, DefaultMaxExpansion)),
	}
	switch r.File.Compression {
	case Plain:
		s.content = &s.stored
	case Gzip:
		s.ahead = bufio.NewReaderSize(&s.stored, bufferBytes)
		s.content, s.opening = gzip.NewReader(s.ahead)
	case Zstd:
		var z *zstd.Decoder
		z, s.opening = zstd.NewReader(&s.stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if s.opening == nil {
			s.content, s.free = z, z.Close
		}
	case Bzip2:
		s.ahead = bufio.NewReaderSize(&s.stored, bufferBytes)
		s.content = bzip2.NewReader(s.ahead)
	case Xz:
		s.ahead = bufio.NewReaderSize(&s.stored, bufferBytes)
		s.content, s.opening = xz.NewReader(s.ahead, maxWindow)
	case Lz4:
		s.ahead = bufio.NewReaderSize(&s.stored, bufferBytes)
		s.content = lz4.NewReader(s.ahead) // decompresses in this goroutine, with blocks of at most 8 MiB
	default:
		return nil, errors.Join(fmt.Errorf("%s: unknown compression %q", r.File.Name, r.File.Compression), f.Close())
	}
	return s, nil
}

// Read reads decompressed bytes. Its errors are io.EOF, a *CorruptError or those of the store.
func (s *stream) Read(p []byte) (n int, err error) {
	if err = s.opening; err == nil {
		n, err = s.content.Read(p)
	}
	if s.expanded += int64(n); s.expandsTooFar() {
		return n, s.corrupt(fmt.Sprintf("decompresses to more than %d times its size; if it is not a decompression bomb, raise --max_expansion_ratio", s.maxExpansion))
	}
	switch {
	case err == nil, s.opening == nil && err == io.EOF:
		return n, err
	case s.stored.err != nil: // a retry may help
		return n, s.stored.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, xz.ErrBuf):
		return n, s.corrupt("the compressed data is truncated")
	case errors.Is(err, xz.ErrMemlimit):
		return n, s.corrupt("needs more than 128 MiB of memory to decompress; compress it with xz -9 or less")
	}
	return n, s.corrupt("the compressed data is corrupt (" + strings.TrimPrefix(err.Error(), "bzip2 data invalid: ") + ")")
}

// expandsTooFar reports whether a compressed file has more content than it may have.
func (s *stream) expandsTooFar() bool {
	f := s.stored.span.File
	return f.Compression != Plain && s.expanded > minExpansion && s.expanded/s.maxExpansion >= f.Size
}

// corrupt returns an error for the place in the file up to which the content was read.
func (s *stream) corrupt(cause string) *CorruptError {
	offset := s.stored.at
	if s.ahead != nil {
		offset -= int64(s.ahead.Buffered())
	}
	return &CorruptError{s.stored.span.File.Name, offset, cause}
}

// BytesRead returns how many stored bytes have been read from the start of the range on.
func (s *stream) BytesRead() int64 { return s.stored.at - s.stored.span.Start }

// Span returns the range with the checksum of what was read of it.
func (s *stream) Span() Span { return s.stored.span }

// close closes the file after the given error, or nil. If all went well or the file is corrupt, it reads the rest of the range,
// for the checksum, which tells whether the file is stored like that, and checks that the file has not changed.
func (s *stream) close(err error) error {
	var corrupt *CorruptError
	if err == nil || errors.As(err, &corrupt) {
		if e := s.stored.finish(); e != nil {
			err = e
		}
	}
	if e := s.Abandon(); err == nil {
		err = e
	}
	return err
}

// Abandon closes the file without reading the rest.
func (s *stream) Abandon() error {
	s.free()
	return s.stored.file.Close()
}

// stored reads the bytes of a file in order, and computes the checksum of those in its span.
type stored struct {
	file fileio.File
	span Span
	at   int64
	err  error // of the store, to distinguish it from one of the content
}

func (s *stored) Read(p []byte) (int, error) {
	size := s.span.File.Size
	if s.at >= size {
		return 0, io.EOF
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), size-s.at)], s.at)
	if errors.Is(err, io.EOF) {
		err = nil
		if n == 0 {
			err = fmt.Errorf("%s: the file was truncated while it was read", s.span.File.Name)
		}
	}
	if low, high := max(s.at, s.span.Start), min(s.at+int64(n), s.span.End); low < high {
		s.span.CRC = crc32.Update(s.span.CRC, castagnoli, p[low-s.at:high-s.at])
	}
	s.at += int64(n)
	s.err = err
	return n, err
}

// finish reads up to the end of the span and checks that the file has not changed.
func (s *stored) finish() error {
	if s.at < s.span.End {
		if _, err := io.Copy(io.Discard, io.LimitReader(s, s.span.End-s.at)); err != nil {
			return err
		}
	}
	return checkUnchanged(s.file, s.span.File)
}

// checkUnchanged checks that an open file is still the one that was listed.
func checkUnchanged(open fileio.File, listed File) error {
	now, err := open.Info()
	if err != nil {
		return err
	}
	if now.Size != listed.Size || now.Version != listed.Version {
		return fmt.Errorf("%s: the file changed while it was read", listed.Name)
	}
	return nil
}
