package corpusio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// Every proper prefix of a compressed file is truncated, whatever it ends in.
func TestEveryTruncationIsNoticed(t *testing.T) {
	for _, how := range []Compression{Gzip, Zstd, Bzip2, Xz, Lz4} {
		whole := pack(t, how, []byte("a\tsome words\nb\tother words\n"))
		for n := 16; n < len(whole); n++ {
			_, err := readFile(t, save(t, "in", whole[:n]), 1<<20, maxRecord)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "truncated") {
				t.Errorf("%s, the first %d of %d bytes: %v", how, n, len(whole), err)
			}
		}
	}
}

// The variants that the tools write: many blocks, checksums of blocks, linked blocks, streams with padding between them.
func TestVariantsOfXzAndLz4(t *testing.T) {
	text := []byte(strings.Repeat(mixed, 300))
	run := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdin = bytes.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Skip("this test needs xz: ", err)
		}
		return out
	}
	packed := map[string][]byte{
		"xz blocks":     run("xz", "-0", "--block-size=5000", "--check=sha256"),
		"xz no check":   run("xz", "--check=none"),
		"xz x86 filter": run("xz", "--x86", "--lzma2"),
	}
	for name, options := range map[string][]lz4.Option{
		"linked blocks": {lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true)},
		"size":          {lz4.SizeOption(uint64(len(text))), lz4.ChecksumOption(false)},
		"concurrent":    {lz4.BlockSizeOption(lz4.Block64Kb), lz4.ConcurrencyOption(2)},
	} {
		var out bytes.Buffer
		w := lz4.NewWriter(&out)
		if err := w.Apply(options...); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		packed["lz4 "+name] = out.Bytes()
	}
	for name, b := range packed {
		path := save(t, "in", b)
		got, err := readFile(t, path, 1<<20, 68)
		if err != nil || !same(got, parse(path, text, 68)) {
			t.Errorf("%s: %d records, %v", name, len(got.records), err)
		}
	}
	half := packed["xz blocks"]
	both := len(parse("", bytes.Repeat(text, 2), 68).records)
	for padding, ok := range map[int]bool{0: true, 4: true, 8: true, 5: false} {
		b := append(append(bytes.Clone(half), make([]byte, padding)...), half...)
		got, err := readFile(t, save(t, "in", b), 1<<20, 68)
		if (err == nil) != ok || ok && len(got.records) != both {
			t.Errorf("%d bytes between two streams: %d records, %v", padding, len(got.records), err)
		}
	}
}

// The sizes that a header claims are not allocated before they are checked.
func TestHostileDictionary(t *testing.T) {
	b := pack(t, Xz, []byte("a\tsome words\n"))
	// A block header with a dictionary of 4 GiB − 1: size, flags, LZMA2, one byte of properties, padding, CRC-32.
	block := []byte{2, 0, 0x21, 1, 40, 0, 0, 0}
	copy(b[12:], binary.LittleEndian.AppendUint32(block, crc32.ChecksumIEEE(block)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFile(t, save(t, "in.xz", b), 1<<20, maxRecord)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "needs more than 128 MiB of memory to decompress") {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("took %d MiB", took>>20)
	}
}

func TestDecompressionBombs(t *testing.T) {
	const size = 300 << 20
	var packed bytes.Buffer
	w := lz4.NewWriter(&packed)
	if err := w.Apply(lz4.BlockSizeOption(lz4.Block4Mb)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "in.lz4")
	if err := os.WriteFile(name, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	files, err := List(t.Context(), []string{name}, Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for ratio, refused := range map[int]bool{0: false, 1: true, 200: true, size / packed.Len(): true, size/packed.Len() + 1: false} {
		err := drain(t.Context(), files[0], Reading{MaxRecordBytes: 100, MaxExpansion: ratio})
		var corrupt *CorruptError
		if errors.As(err, &corrupt) != refused || !refused && err != nil {
			t.Errorf("limit %d: %v", ratio, err)
		}
		want := fmt.Sprintf(": decompresses to more than %d times its size; if it is not a decompression bomb, raise --max_expansion_ratio", ratio)
		if refused && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// drain reads a whole file.
func drain(ctx context.Context, f File, reading Reading) error {
	r, err := Open(ctx, Range{f, 0, f.Size}, Options{Reading: reading})
	if err != nil {
		return err
	}
	var d Document
	for r.Next(&d) {
	}
	return r.Close()
}
