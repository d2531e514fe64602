package gcsio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// infoOf describes an object. Every content of a name has a generation of its own.
func infoOf(a *storage.ObjectAttrs) fileio.Info {
	return fileio.Info{Name: scheme + a.Bucket + "/" + a.Name, Size: a.Size, Version: strconv.FormatInt(a.Generation, 10), CRC32C: checksum(a)}
}

// attributes asks for what is known of an object.
func attributes(ctx context.Context, o *storage.ObjectHandle) (*storage.ObjectAttrs, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return o.Attrs(ctx)
}

// Stat describes an object.
func (s *store) Stat(ctx context.Context, name string) (fileio.Info, error) {
	o, err := s.object(ctx, name)
	if err != nil {
		return fileio.Info{}, err
	}
	attrs, err := attributes(ctx, o)
	if err != nil {
		return fileio.Info{}, named(name, err)
	}
	return infoOf(attrs), nil
}

const wildcards = "*?["

// Glob lists the objects that match a pattern of path.Match.
func (s *store) Glob(ctx context.Context, pattern string) ([]fileio.Info, error) {
	bucket, object, err := split(pattern)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(bucket, wildcards) {
		return nil, fmt.Errorf("%s: the name of a bucket cannot be a pattern", pattern)
	}
	// An object may have a name that looks like a pattern.
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
		return nil, s.absent(ctx, pattern)
	}
	return s.matches(ctx, pattern, bucket, object)
}

// absent says why there is no object of that name.
func (s *store) absent(ctx context.Context, name string) error {
	found, err := s.list(ctx, name, query(folder(name), "/"), 1)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s: is a folder; name its files, as in '%s/*'", name, strings.TrimRight(name, "/"))
	}
	return named(name, storage.ErrObjectNotExist)
}

func (s *store) matches(ctx context.Context, pattern, bucket, object string) ([]fileio.Info, error) {
	if _, err := path.Match(object, ""); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	prefix := object[:strings.IndexAny(object, wildcards+`\`)]
	delimiter := ""
	if !strings.Contains(object[len(prefix):], "/") { // what lies deeper cannot match
		delimiter = "/"
	}
	found, err := s.list(ctx, pattern, query(prefix, delimiter), 0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f fileio.Info) bool {
		name := strings.TrimPrefix(f.Name, scheme+bucket+"/")
		match, err := path.Match(object, name)
		return !match || err != nil || strings.HasSuffix(name, "/")
	}), nil
}

// folder is what the names of all objects in a folder start with.
func folder(dir string) string {
	_, object, _ := strings.Cut(strings.TrimPrefix(dir, scheme), "/")
	if object = strings.TrimRight(object, "/"); object == "" {
		return ""
	}
	return object + "/"
}

// List lists one level of a folder. What is named like the folder itself, as consoles make it, stands for no file.
func (s *store) List(ctx context.Context, dir string) ([]fileio.Info, error) {
	found, err := s.list(ctx, dir, query(folder(dir), "/"), 0)
	if err != nil {
		return nil, err
	}
	bucket, _, err := split(dir)
	return slices.DeleteFunc(found, func(f fileio.Info) bool { return f.Name == scheme+bucket+"/"+folder(dir) }), err
}

func query(prefix, delimiter string) *storage.Query {
	return &storage.Query{Prefix: prefix, Delimiter: delimiter}
}

// list returns what a query finds, sorted by name; at most so many, unless that is 0.
func (s *store) list(ctx context.Context, name string, q *storage.Query, most int) (found []fileio.Info, err error) {
	b, _, err := s.bucket(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := q.SetAttrSelection([]string{"Bucket", "Name", "Size", "Generation", "CRC32C"}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := b.Objects(ctx, q)
	if most > 0 {
		objects.PageInfo().MaxSize = most
	}
	for most == 0 || len(found) < most {
		attrs, err := next(objects, cancel)
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return nil, named(name, err)
		}
		if attrs.Prefix != "" {
			found = append(found, fileio.Info{Name: scheme + b.BucketName() + "/" + attrs.Prefix})
			continue
		}
		found = append(found, infoOf(attrs))
	}
	slices.SortFunc(found, func(a, b fileio.Info) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// next is the next item of a list. A list may have any number of pages, each within our patience.
func next(objects *storage.ObjectIterator, cancel context.CancelFunc) (*storage.ObjectAttrs, error) {
	alarm := time.AfterFunc(patience, cancel)
	attrs, err := objects.Next()
	if !alarm.Stop() && err != nil && !errors.Is(err, iterator.Done) {
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return attrs, err
}

// checksum is that of an object, or empty where the store has none: an emulator need not, and of content it is hardly 0.
func checksum(a *storage.ObjectAttrs) string {
	if a.CRC32C == 0 && a.Size > 0 {
		return ""
	}
	return fileio.Checksum(a.CRC32C)
}
