package fileio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func names(files []Info) []string {
	var out []string
	for _, f := range files {
		out = append(out, filepath.Base(f.Name))
	}
	return out
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	if err := WriteAll(t.Context(), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.tsv", "a.tsv", "c.txt", "odd[1].tsv"} {
		write(t, filepath.Join(dir, name), name)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.tsv"), 0o777); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"*.tsv":      {"a.tsv", "b.tsv", "odd[1].tsv"},
		"odd[1].tsv": {"odd[1].tsv"}, // a name comes before a pattern
		"c.txt":      {"c.txt"},
		"*.gz":       nil,
	} {
		got, err := local{}.Glob(t.Context(), filepath.Join(dir, pattern))
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("%s lists %v, %v; want %v", pattern, names(got), err, want)
		}
	}
	for pattern, want := range map[string]string{
		"none.tsv": "no such file",
		"d.tsv":    "is a directory; name its files",
		"[*":       "syntax error",
	} {
		if _, err := (local{}).Glob(t.Context(), filepath.Join(dir, pattern)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", pattern, err, want)
		}
	}
	if _, err := (local{}).Glob(t.Context(), os.DevNull); err == nil {
		t.Error("a device is listed")
	}
}

func TestWriterIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "deep", "er", "file")
	w, err := (local{}).Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file can be seen before Commit")
	}
	w.Abort()
	w.Abort()
	if left, err := (local{}).List(t.Context(), filepath.Dir(name)); err != nil || len(left) > 0 {
		t.Errorf("Abort leaves %v, %v", left, err)
	}
	if got, err := (local{}).List(t.Context(), dir); err != nil || len(got) != 1 || got[0].Name != dir+"/deep/" {
		t.Errorf("the folder is listed as %v, %v", got, err)
	}
	write(t, name, "one")
	write(t, name, "two")
	if got, err := ReadAll(t.Context(), name, 1<<20); string(got) != "two" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	w, _ = (local{}).Create(t.Context(), name)
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if _, err := os.Stat(name); err != nil {
		t.Error("Abort after Commit removes the file")
	}
}

// Content that may not have reached the disk is not published. A pipe can be closed, but not synced.
func TestCommitFailsIfTheDiskDoes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := filepath.Join(t.TempDir(), "file")
	if err := (&localWriter{file: w, name: name}).Commit(); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), name) {
		t.Errorf("the error is %v", err)
	}
}

func TestCreateExclusiveHasOneWinner(t *testing.T) {
	dir := t.TempDir()
	for round := range 20 {
		name := filepath.Join(dir, fmt.Sprint(round))
		var wg sync.WaitGroup
		var won atomic.Int32
		var winner atomic.Value
		for i := range 8 {
			wg.Go(func() {
				content := fmt.Sprintf("written by %d", i)
				switch err := (local{}).CreateExclusive(context.Background(), name, []byte(content)); {
				case err == nil:
					won.Add(1)
					winner.Store(content)
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got, err := ReadAll(t.Context(), name, 1<<20); won.Load() != 1 || err != nil || string(got) != winner.Load() {
			t.Errorf("%d winners, content %q, winner %q, %v", won.Load(), got, winner.Load(), err)
		}
	}
	if left, _ := (local{}).List(t.Context(), dir); len(left) != 20 {
		t.Errorf("%d files are left, want 20", len(left))
	}
}

func TestSweepRemovesWhatInterruptedWritersLeft(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kept"), "x")
	write(t, filepath.Join(dir, ".hidden"), "x")
	for _, name := range []string{"a", "b"} {
		if _, err := (local{}).Create(t.Context(), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := (local{}).Sweep(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if left, err := (local{}).List(t.Context(), dir); err != nil || !slices.Equal(names(left), []string{".hidden", "kept"}) {
		t.Errorf("left %v, %v", left, err)
	}
	if err := (local{}).Sweep(t.Context(), filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "file"), "x")
	if err := (local{}).CheckWritable(t.Context(), filepath.Join(dir, "not", "yet", "there")); err != nil {
		t.Error(err)
	}
	if err := (local{}).CheckWritable(t.Context(), filepath.Join(file, "below")); err == nil || !strings.Contains(err.Error(), "not a") {
		t.Errorf("below a file: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Error("CheckWritable wrote something")
	}
}

func TestErrorsAreOneLineWithTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "none")
	_, err := (local{}).Open(t.Context(), name)
	if want := name + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the error does not wrap fs.ErrNotExist")
	}
	if _, err := For("s3://bucket/file"); err == nil || !strings.Contains(err.Error(), "s3://") {
		t.Errorf("an unknown scheme gives %v", err)
	}
}
