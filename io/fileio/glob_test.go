package fileio

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A pattern matches what it does for filepath.Glob, wherever that can read.
func TestGlobMatchesAsFilepathGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x.tsv", "a/y.txt", "a-b/x.tsv", "a/deep/x.tsv", "b/deep/z.tsv", "x.tsv", "odd[1]/x.tsv", ".hidden/x.tsv", `back\\slash.tsv`} {
		write(t, filepath.Join(dir, name), name)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a/x.tsv", filepath.Join(dir, "link.tsv")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, pattern := range []string{
		"*", "*.tsv", "*/*.tsv", "*/x.tsv", "*/deep/*", "?/x.tsv", "[ab]/*/?.tsv", "[^a]/*/*", "a*/[x-y].t[sx][vt]", "link/*", "l*/x.tsv",
		`odd\[1]/*`, "odd*/x.tsv", "none/*", "none*/x", "x.tsv/*", "*/none", "./*.tsv", "a/../*.tsv", ".*/*", `back*\\slash.tsv`, "*/deep/",
	} {
		for _, in := range []string{"", dir + "/"} {
			matched, err := filepath.Glob(in + pattern)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range matched {
				if i, err := os.Stat(name); err == nil && i.Mode().IsRegular() {
					want = append(want, filepath.Clean(name))
				}
			}
			files, err := local{}.Glob(t.Context(), in+pattern)
			if err != nil && !strings.Contains(err.Error(), "matches folders only") {
				t.Errorf("%s: %v", pattern, err)
			}
			var got []string
			for _, f := range files {
				got = append(got, filepath.Clean(f.Name))
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s lists %q, want %q", in+pattern, got, want)
			}
		}
	}
}

// What a pattern matches and cannot be read is an error that names it.
func TestGlobPassesOverNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good", "a.tsv"), "x")
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil { // as unreadable for root as for everybody
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "good", "pipe.fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "good", "s.socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.Symlink("nowhere", filepath.Join(dir, "good", "broken.link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	if _, err := (local{}).Glob(t.Context(), os.DevNull); err == nil {
		t.Error("a device is listed")
	}
	for pattern, want := range map[string]string{
		"*/*.tsv":     "broken: no such file or directory",
		"l*/*.tsv":    "loop: too many levels of symbolic links",
		"loo?/a.tsv":  "loop: too many levels of symbolic links",
		"loop/*.tsv":  "loop: too many levels of symbolic links",
		"good/*.fifo": "good/pipe.fifo: is not a regular file",
		"*d/*.socket": "good/s.socket: is not a regular file",
		"good/*.link": "good/broken.link: no such file or directory",
		"g*":          "matches folders only; name their files, as in '" + dir + "/g*/*'",
	} {
		if files, err := (local{}).Glob(t.Context(), filepath.Join(dir, pattern)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s lists %v, %v; want %s", pattern, files, err, want)
		}
	}
	if got, err := (local{}).Glob(t.Context(), filepath.Join(dir, "g*/*.tsv")); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// A folder stands for its files, through symlinks, but not in circles.
func TestGlobOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in", "a", "x.tsv"), "x")
	write(t, filepath.Join(dir, "in", "odd[1]", "x.tsv"), "x")
	write(t, filepath.Join(dir, "elsewhere", "y.tsv"), "y")
	for link, to := range map[string]string{"in/link": "../elsewhere", "in/x.tsv": "a/x.tsv"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := local{}.Glob(t.Context(), filepath.Join(dir, "in"))
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimPrefix(f.Name, dir+"/in/"))
	}
	if want := []string{"a/x.tsv", "link/y.tsv", "odd[1]/x.tsv", "x.tsv"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v; want %q", names, err, want)
	}
	for link, want := range map[string]string{
		"in/a/up": "in/a/up: is a symlink to a folder that contains it", "in/a/broken": "in/a/broken: no such file or directory",
	} {
		to := map[string]string{"in/a/up": "..", "in/a/broken": "nowhere"}[link]
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := (local{}).Glob(t.Context(), filepath.Join(dir, "in")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := os.Remove(filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGlobOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 5000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.tsv", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := local{}.Glob(t.Context(), filepath.Join(dir, "*.tsv"))
	if err != nil || len(got) != 5000 || !slices.IsSortedFunc(got, func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d files, %v", len(got), err)
	}
}
