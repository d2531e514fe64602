package fileio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	if err := WriteAll(t.Context(), name, []byte(content), Condition{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// Content that is possibly not on disk is not published. A pipe can be closed, but not synced.
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

// emptied are ways in which a folder is emptied while a process is suspended that was about to change it.
var emptied = map[string]func(t *testing.T, dir string){
	"removed": func(t *testing.T, dir string) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	},
	"swept": func(t *testing.T, dir string) {
		if err := (local{}).Sweep(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
		if err := (local{}).Remove(t.Context(), filepath.Join(dir, "file"), nil); err != nil {
			t.Fatal(err)
		}
	},
}

// A suspended process does not change a folder that was emptied in the meantime and may have another run's file.
func TestSleepersChangeNothing(t *testing.T) {
	for what, empty := range emptied {
		dir := filepath.Join(t.TempDir(), "out")
		name := filepath.Join(dir, "file")
		sleep := func(other bool) Held {
			return func(context.Context) error {
				empty(t, dir)
				if other {
					write(t, name, "theirs")
				}
				return nil
			}
		}
		for _, absent := range []bool{true, false} {
			for _, other := range []bool{true, false} {
				write(t, name, "mine")
				if absent {
					empty(t, dir)
				}
				err := WriteAll(t.Context(), name, []byte("late"), Condition{Absent: absent, Held: sleep(other)})
				if err == nil {
					t.Errorf("%s: a file appears after the sleep", what)
				}
				got, err := ReadAll(t.Context(), name, 1<<20)
				if other && string(got) != "theirs" || !other && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: after a late write there is %q, %v", what, got, err)
				}
			}
		}
		write(t, name, "mine")
		// Held is called again, since the removal has failed.
		slept := false
		err := (local{}).Remove(t.Context(), name, func(ctx context.Context) error {
			if slept {
				return ErrNotHeld
			}
			slept = true
			return sleep(true)(ctx)
		})
		if !errors.Is(err, ErrNotHeld) {
			t.Errorf("%s: the late removal gives %v", what, err)
		}
		if got, err := ReadAll(t.Context(), name, 1<<20); string(got) != "theirs" {
			t.Errorf("%s: after a late removal there is %q, %v", what, got, err)
		}
		if left, err := (local{}).List(t.Context(), dir); err != nil || len(left) != 1 {
			t.Errorf("%s: left %v, %v", what, left, err)
		}
	}
}

// Without a system call that renames exclusively, a link does it.
func TestLinkExclusive(t *testing.T) {
	dir := t.TempDir()
	from, to := write(t, filepath.Join(dir, "from"), "one"), filepath.Join(dir, "to")
	if err := linkExclusive(from, to); err != nil {
		t.Fatal(err)
	}
	write(t, from, "two")
	if err := linkExclusive(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second file gets %v", err)
	}
	if got, err := ReadAll(t.Context(), to, 1<<20); string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if err := linkExclusive(filepath.Join(dir, "none"), filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
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

func TestUnknownScheme(t *testing.T) {
	if _, err := For("s3://bucket/file"); err == nil || !strings.Contains(err.Error(), "s3://") {
		t.Errorf("an unknown scheme gives %v", err)
	}
}
