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

// Glob matches as filepath.Glob does, but a folder or file that cannot be read is an error instead of being skipped.
func (local) Glob(_ context.Context, pattern string) ([]Info, error) {
	// The name of a file may look like a pattern.
	i, err := os.Stat(pattern)
	switch {
	case err == nil && i.IsDir():
		return filesBelow(pattern, i)
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

// filesBelow lists the files in a folder and in those below it, as Store.Glob says. It follows symlinks.
func filesBelow(dir string, i fs.FileInfo) (files []Info, err error) {
	var descend func(dir string, above []fs.FileInfo) error
	descend = func(dir string, above []fs.FileInfo) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return named(dir, err)
		}
		for _, e := range entries {
			name := Join(dir, e.Name())
			if Ignored(e.Name()) {
				continue
			}
			i, err := os.Stat(name)
			switch {
			case err != nil:
				return named(name, err)
			case i.IsDir() && slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, i) }):
				return fmt.Errorf("%s: is a symlink to a folder that contains it; remove it, or name the files with a pattern", name)
			case i.IsDir():
				err = descend(name, append(slices.Clip(above), i))
			case !i.Mode().IsRegular():
				err = irregular(name)
			default:
				files = append(files, infoOf(name, i))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := descend(dir, []fs.FileInfo{i}); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}

type walk struct {
	pattern string
	files   []Info
	folders int // that match the whole pattern, and are skipped
}

// descend matches the remaining elements of the pattern below a folder: "", or a name that ends in a slash.
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
			continue // Glob has checked the pattern
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

// absent reports whether nothing has that name, not even a broken symlink.
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

// visit adds a file, or descends into a folder.
func (w *walk) visit(name string, i fs.FileInfo, err error, rest []string) error {
	switch {
	case err != nil:
		return named(name, err)
	case len(rest) > 0 && i.IsDir():
		return w.descend(name+"/", rest)
	case len(rest) > 0: // a file in place of a folder
	case i.IsDir():
		w.folders++
	case !i.Mode().IsRegular():
		return irregular(name)
	case !strings.HasSuffix(w.pattern, "/"):
		w.files = append(w.files, infoOf(name, i))
	}
	return nil
}
