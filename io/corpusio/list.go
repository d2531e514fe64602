package corpusio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// File is an input file as it was when the run began.
type File struct {
	fileio.Info
	Compression Compression `json:"compression,omitempty"`
	Format      string      `json:"format,omitempty"` // the name of a Format; empty for TSV
}

// Range is a part of a file: the documents that start in the bytes [Start, End). A compressed file is one range.
type Range struct {
	File       File
	Start, End int64
}

// ErrNoMatch is wrapped by the error of List for a pattern that matches no file.
var ErrNoMatch = errors.New("no file matches")

// List returns the files that match the patterns, with absolute paths and sorted by them; a file that matches several
// patterns is listed once. It opens each file, so that an unreadable one is an error before any work is done.
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
		found, err := describeAll(ctx, store, infos)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Name == b.Name }), nil
}

// maxOpen is how many files are opened concurrently, since an object store has a latency for each.
const maxOpen = 32

func describeAll(ctx context.Context, store fileio.Store, infos []fileio.Info) ([]File, error) {
	files := make([]File, len(infos))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxOpen)
	for i, info := range infos {
		group.Go(func() (err error) {
			files[i], err = describe(ctx, store, info)
			return err
		})
	}
	return files, group.Wait()
}

func describe(ctx context.Context, store fileio.Store, info fileio.Info) (f File, err error) {
	if f.Compression, err = detectCompression(ctx, store, info.Name); err != nil {
		return f, err
	}
	if !utf8.ValidString(info.Name) {
		return f, fmt.Errorf("%q: the file name is not UTF-8; rename the file, or create a symlink to it", info.Name)
	}
	f.Info = info
	if f.Name, err = fileio.Absolute(info.Name); err != nil {
		return f, err
	}
	for _, format := range formats {
		if ok, err := format.Detect(ctx, f); ok || err != nil {
			f.Format = format.Name()
			return f, err
		}
	}
	return f, nil
}
