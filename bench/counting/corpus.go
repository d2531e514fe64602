package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
)

const defaultCorpus = "../shared/data/imdb/train.tsv.gz"

// text is the source of the text to be counted: a corpus, or a seed.
type text struct {
	corpus              string
	vocabulary, classes int
	seed                uint64
}

// write writes documents of about that many bytes, and returns a description and the exact size.
func (t text) write(name string, bytes int64) (what string, size int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	copies := 0
	for t.corpus != "none" {
		n, err := copyCorpus(w, t.corpus)
		if t.corpus == defaultCorpus && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", 0, err
		}
		copies++
		if size += n; n == 0 || size+n/2 >= bytes {
			what = fmt.Sprintf("%s × %d", filepath.Join(filepath.Base(filepath.Dir(t.corpus)), filepath.Base(t.corpus)), copies)
			return what, size, w.Flush()
		}
	}
	if size, err = t.writeZipf(w, bytes); err != nil {
		return "", 0, err
	}
	return fmt.Sprintf("Zipf text, %s words, %d classes, seed %d", humanize.Comma(int64(t.vocabulary)), t.classes, t.seed), size, w.Flush()
}

func copyCorpus(w io.Writer, name string) (n int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(name, ".gz") {
		return io.Copy(w, f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, err
	}
	return io.Copy(w, z)
}

func (t text) writeZipf(w io.Writer, bytes int64) (size int64, err error) {
	rng := rand.New(rand.NewPCG(t.seed, t.seed))
	zipf := rand.NewZipf(rng, 1.05, 3, uint64(t.vocabulary-1))
	var line []byte
	for size < bytes {
		line = append(strconv.AppendInt(line[:0], int64(rng.IntN(t.classes)), 10), '\t')
		for range 50 + rng.IntN(400) {
			line = appendWord(line, zipf.Uint64())
		}
		line[len(line)-1] = '\n'
		n, err := w.Write(line)
		if err != nil {
			return size, err
		}
		size += int64(n)
	}
	return size, nil
}

// appendWord writes the rank in syllables: frequent words are short.
func appendWord(line []byte, rank uint64) []byte {
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	for rank += 16; rank > 0; rank /= 80 {
		line = append(line, consonants[rank%16], vowels[rank/16%5])
	}
	return append(line, ' ')
}

// needDisk returns an error if a folder has less free space.
func needDisk(dir string, bytes int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return err
	}
	if free := uint64(s.Bavail) * uint64(s.Bsize); free < uint64(bytes) {
		return fmt.Errorf("%s has %s free, and %s are needed; set TMPDIR to another folder", filepath.Dir(dir), humanize.Bytes(free), humanize.Bytes(uint64(bytes)))
	}
	return nil
}
