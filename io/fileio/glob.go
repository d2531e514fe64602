package fileio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Glob understands the patterns of filepath.Match, which filepath.Glob does too; but that passes over folders that it
// cannot read, and so over the files in them.
func (local) Glob(_ context.Context, pattern string) ([]Info, error) {
	// A file may have a name that looks like a pattern.
	i, err := os.Stat(pattern)
	switch {
	case err == nil && i.IsDir():
		return nil, fmt.Errorf("%s: is a directory; name its files, as in '%s/*'", pattern, strings.TrimRight(pattern, "/"))
	case err == nil && !i.Mode().IsRegular():
		return nil, irregular(pattern)
	case err == nil:
		return []Info{infoOf(pattern, i)}, nil
	case !strings.ContainsAny(pattern, "*?["):
		return nil, named(pattern, err)
	}
	elements := strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' })
	for _, element := range elements {
		if _, err := filepath.Match(element, ""); err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
	}
	w, start := walk{pattern: pattern}, ""
	if strings.HasPrefix(pattern, "/") {
		start = "/"
	}
	if err := w.descend(start, elements); err != nil {
		return nil, err
	}
	if len(w.files) == 0 && w.folders > 0 {
		return nil, fmt.Errorf("%s: matches folders only; name their files, as in '%s/*'", pattern, strings.TrimRight(pattern, "/"))
	}
	slices.SortFunc(w.files, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return w.files, nil
}

// walk collects what a pattern matches.
type walk struct {
	pattern string
	files   []Info
	folders int // that the whole pattern matches, and that are passed over
}

// descend matches the rest of the pattern, element by element, below a folder: "", or a name that ends in a slash.
func (w *walk) descend(dir string, elements []string) error {
	element, last := elements[0], len(elements) == 1
	if !strings.ContainsAny(element, `*?[\`) {
		name := dir + element
		i, err := os.Stat(name)
		if absent(name, err) {
			return nil
		}
		return w.visit(name, i, err, elements[1:])
	}
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return named(cmp.Or(strings.TrimRight(dir, "/"), dir, "."), err)
	}
	for _, e := range entries {
		if ok, err := filepath.Match(element, e.Name()); !ok || err != nil {
			continue // of the pattern it is known that it is good
		}
		if !last && !e.IsDir() && e.Type() != fs.ModeSymlink {
			continue
		}
		name := dir + e.Name()
		i, err := os.Stat(name)
		if err := w.visit(name, i, err, elements[1:]); err != nil {
			return err
		}
	}
	return nil
}

// absent tells that there is nothing of that name from a link to nothing.
func absent(name string, err error) bool {
	if errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = os.Lstat(name)
	return err != nil
}

// visit takes a file, or goes on below a folder.
func (w *walk) visit(name string, i fs.FileInfo, err error, rest []string) error {
	switch {
	case err != nil:
		return named(name, err)
	case len(rest) > 0 && i.IsDir():
		return w.descend(name+"/", rest)
	case len(rest) > 0: // a file, below which nothing lies
	case i.IsDir():
		w.folders++
	case !i.Mode().IsRegular():
		return irregular(name)
	case !strings.HasSuffix(w.pattern, "/"):
		w.files = append(w.files, infoOf(name, i))
	}
	return nil
}
