package objectio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/fileio"
)

const wildcards = "*?["

// Glob lists the objects that match a pattern of path.Match. It lists the prefix of the pattern up to its first wildcard.
func (s *Store) Glob(ctx context.Context, pattern string) ([]fileio.Info, error) {
	bucket, object, err := s.split(pattern)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(bucket, wildcards) {
		return nil, fmt.Errorf("%s: the name of a bucket cannot be a pattern", pattern)
	}
	// The name of an object may look like a pattern.
	if object != "" && !strings.HasSuffix(object, "/") {
		info, err := s.Stat(ctx, pattern)
		if err == nil {
			return []fileio.Info{info}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if !strings.ContainsAny(object, wildcards) {
		return s.filesBelow(ctx, pattern)
	}
	return s.match(ctx, pattern, bucket, object)
}

// filesBelow lists the objects of a folder and of those below it, as Store.Glob says.
func (s *Store) filesBelow(ctx context.Context, name string) ([]fileio.Info, error) {
	found, err := s.list(ctx, name, s.folder(name), "", 0)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w", name, &Error{"no such object", fs.ErrNotExist, nil})
	}
	above := len(strings.TrimRight(name, "/")) + 1
	return slices.DeleteFunc(found, func(f fileio.Info) bool {
		return strings.HasSuffix(f.Name, "/") || slices.ContainsFunc(strings.Split(f.Name[above:], "/"), fileio.Ignored)
	}), nil
}

func (s *Store) match(ctx context.Context, pattern, bucket, object string) ([]fileio.Info, error) {
	if _, err := path.Match(object, ""); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	prefix := object[:strings.IndexAny(object, wildcards+`\`)]
	delimiter := ""
	if !strings.Contains(object[len(prefix):], "/") { // objects in deeper folders cannot match
		delimiter = "/"
	}
	found, err := s.list(ctx, pattern, prefix, delimiter, 0)
	if err != nil {
		return nil, err
	}
	root := s.info(bucket, Object{}).Name
	return slices.DeleteFunc(found, func(f fileio.Info) bool {
		name := strings.TrimPrefix(f.Name, root)
		match, err := path.Match(object, name)
		return !match || err != nil || strings.HasSuffix(name, "/")
	}), nil
}
