// Package corpusio reads documents: lines of the form label<TAB>text, from files that are plain or compressed.
//
// The unit of work is a Range of a file. A line belongs to the range in which it starts, so that ranges of any size give
// every line once. Compressed files cannot be entered in the middle and are one range each.
package corpusio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Compression is how a file is packed. It is told by the first bytes of the file, never by its name.
type Compression string

// The compressions that can be read.
const (
	Plain Compression = ""
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
	Bzip2 Compression = "bzip2"
)

// File is an input file as it was when the run began.
type File struct {
	fileio.Info
	Compression Compression `json:"compression,omitempty"`
}

// Range is a part of a file: the lines that start in [Start, End).
type Range struct {
	File       File
	Start, End int64
}

// ErrNoMatch is wrapped by the error of List for a pattern that matches no file.
var ErrNoMatch = errors.New("no file matches")

// List finds the files that the patterns name, by their absolute paths and sorted by them; a file that several patterns
// name is listed once. It opens each, so that a file that cannot be read is noticed before any work is done.
func List(ctx context.Context, patterns []string) ([]File, error) {
	var files []File
	for _, pattern := range patterns {
		store, err := fileio.For(pattern)
		if err != nil {
			return nil, err
		}
		infos, err := store.Glob(ctx, pattern)
		if err != nil {
			return nil, err
		}
		if len(infos) == 0 {
			return nil, fmt.Errorf("%s: %w", pattern, ErrNoMatch)
		}
		found, err := openAll(ctx, store, infos)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Name == b.Name }), nil
}

// openedAtOnce is how many files are looked at together. An object store takes its time for each.
const openedAtOnce = 32

func openAll(ctx context.Context, store fileio.Store, infos []fileio.Info) ([]File, error) {
	files := make([]File, len(infos))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(openedAtOnce)
	for i, info := range infos {
		group.Go(func() (err error) {
			files[i], err = open(ctx, store, info)
			return err
		})
	}
	return files, group.Wait()
}

func open(ctx context.Context, store fileio.Store, info fileio.Info) (f File, err error) {
	c, err := sniff(ctx, store, info)
	if err != nil {
		return f, err
	}
	if !utf8.ValidString(info.Name) {
		return f, fmt.Errorf("%q: the name is not UTF-8; rename the file, or link to it", info.Name)
	}
	info.Name, err = fileio.Absolute(info.Name)
	return File{info, c}, err
}

// sniff reads the first bytes of a file.
func sniff(ctx context.Context, store fileio.Store, info fileio.Info) (Compression, error) {
	f, err := store.Open(ctx, info.Name)
	if err != nil {
		return "", err
	}
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if e := f.Close(); err == nil || errors.Is(err, io.EOF) {
		err = e
	}
	c := compressionOf(head[:n])
	if what := unreadable(info.Name, c, head[:n]); what != "" && err == nil {
		err = &CorruptError{info.Name, 0, what}
	}
	return c, err
}

// unreadable says why a file that seems plain is no text: it is packed in a way that is not read, or it is named as a
// compressed file, is none, and is no UTF-8 either.
func unreadable(name string, c Compression, head []byte) string {
	if c != Plain {
		return ""
	}
	for magic, kind := range map[string]string{
		"\xfd7zXZ\x00": "xz", "\x04\x22\x4d\x18": "lz4", "PK\x03\x04": "zip", "7z\xbc\xaf\x27\x1c": "7z", "PAR1": "Parquet",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return "is a file of " + kind + ", which is not read; unpack it, or pack it with gzip, zstd or bzip2"
		}
	}
	whole := bytes.ToValidUTF8(head[:max(0, len(head)-utf8.UTFMax+1)], nil) // the last character may be cut
	if suffix := path.Ext(name); slices.Contains([]string{".gz", ".zst", ".bz2"}, suffix) && len(whole) < len(head)-utf8.UTFMax+1 {
		return "is named " + suffix + ", but does not start as such a file does; it is damaged"
	}
	return ""
}

func compressionOf(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		return Gzip
	case len(head) >= 4 && isZstd(binary.LittleEndian.Uint32(head)):
		return Zstd
	case len(head) >= 10 && string(head[:3]) == "BZh" && '1' <= head[3] && head[3] <= '9':
		// A block starts with the digits of π, an empty file ends with those of its root.
		if s := string(head[4:10]); s == "\x31\x41\x59\x26\x53\x59" || s == "\x17\x72\x45\x38\x50\x90" {
			return Bzip2
		}
	}
	return Plain
}

// isZstd knows a frame, and the frames that carry no data and may come first.
func isZstd(magic uint32) bool { return magic == 0xfd2fb528 || magic&^0xf == 0x184d2a50 }

// Split cuts a file into ranges of about size bytes. An empty file has none.
func Split(f File, size int64) []Range {
	if f.Compression != Plain {
		return []Range{{f, 0, f.Size}}
	}
	var ranges []Range
	for start := int64(0); start < f.Size; start += size {
		ranges = append(ranges, Range{f, start, min(start+size, f.Size)})
	}
	return ranges
}
