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
	if err := WriteAll(t.Context(), name, []byte(content), Condition{}); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWriterIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "deep", "er", "file")
	w, err := (local{}).Create(t.Context(), name, Condition{})
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
	w, _ = (local{}).Create(t.Context(), name, Condition{})
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

func TestOneOfSeveralWritersWins(t *testing.T) {
	dir := t.TempDir()
	for round := range 20 {
		name := filepath.Join(dir, fmt.Sprint(round))
		var wg sync.WaitGroup
		var won atomic.Int32
		var winner atomic.Value
		for i := range 8 {
			wg.Go(func() {
				content := fmt.Sprintf("written by %d", i)
				switch err := WriteAll(context.Background(), name, []byte(content), Condition{Absent: true}); {
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
		if _, err := (local{}).Create(t.Context(), filepath.Join(dir, name), Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := (local{}).Sweep(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if left, err := (local{}).List(t.Context(), dir); err != nil || !slices.Equal(names(left), []string{".hidden", "kept"}) {
		t.Errorf("left %v, %v", left, err)
	}
	if err := (local{}).Sweep(t.Context(), filepath.Join(dir, "absent"), nil); err != nil {
		t.Error(err)
	}
}

// emptied are ways in which a folder is freed while a process sleeps that was about to change it.
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

// What was allowed before a sleep is not done after it, to a folder that was emptied and has another's file meanwhile.
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
		// Held is asked again, since the removal has failed.
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

// Without the system call that renames exclusively, a link does it.
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
