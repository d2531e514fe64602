package corpusio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Compression is how a file is compressed. It is detected from the first bytes of the file, never from its name.
type Compression string

// The compressions that can be read.
const (
	Plain Compression = ""
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
	Bzip2 Compression = "bzip2"
	Xz    Compression = "xz"
	Lz4   Compression = "lz4"
)

// detectCompression reads the first bytes of a file.
func detectCompression(ctx context.Context, store fileio.Store, name string) (Compression, error) {
	f, err := store.Open(ctx, name)
	if err != nil {
		return "", err
	}
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if e := f.Close(); err == nil || errors.Is(err, io.EOF) {
		err = e
	}
	c := compressionOf(head[:n])
	if cause := unsupported(name, c, head[:n]); cause != "" && err == nil {
		err = &CorruptError{name, 0, cause}
	}
	return c, err
}

func compressionOf(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		return Gzip
	case len(head) >= 4 && isZstd(binary.LittleEndian.Uint32(head)):
		return Zstd
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return Xz
	case bytes.HasPrefix(head, []byte("\x04\x22\x4d\x18")):
		return Lz4
	case len(head) >= 10 && string(head[:3]) == "BZh" && '1' <= head[3] && head[3] <= '9':
		// A block starts with the digits of π, an empty file ends with those of √π.
		if s := string(head[4:10]); s == "\x31\x41\x59\x26\x53\x59" || s == "\x17\x72\x45\x38\x50\x90" {
			return Bzip2
		}
	}
	return Plain
}

// compressionNamed returns the compression that the name of a file suggests.
func compressionNamed(name string) Compression {
	return map[string]Compression{".gz": Gzip, ".zst": Zstd, ".bz2": Bzip2}[path.Ext(name)]
}

// isZstd knows the magic number of a frame, and those of skippable frames, which may come first.
func isZstd(magic uint32) bool { return magic == 0xfd2fb528 || magic&^0xf == 0x184d2a50 }

// unsupported returns why a file without a known compression is not text, or "".
func unsupported(name string, c Compression, head []byte) string {
	if c != Plain {
		return ""
	}
	for magic, cause := range map[string]string{
		"\x02\x21\x4c\x18":   "the legacy format of lz4 is not supported, because it has no end mark; compress the file with lz4 without -l",
		"PK\x03\x04":         "zip archives are not supported; extract the files",
		"7z\xbc\xaf\x27\x1c": "7z archives are not supported; extract the files",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return cause
		}
	}
	whole := bytes.ToValidUTF8(head[:max(0, len(head)-utf8.UTFMax+1)], nil) // the last character may be incomplete
	if suffix := path.Ext(name); slices.Contains([]string{".gz", ".zst", ".bz2", ".xz", ".lz4"}, suffix) && len(whole) < len(head)-utf8.UTFMax+1 {
		return "the name ends in " + suffix + ", but the content is neither compressed nor text; the file is damaged"
	}
	return ""
}
