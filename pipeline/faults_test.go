package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

// Errors that may be temporary have the exit code of a retry; a missing or forbidden file has not.
func TestInputError(t *testing.T) {
	for cause, want := range map[error]int{
		syscall.EIO: modelio.ExitFailed, fileio.ErrUnavailable: modelio.ExitFailed, fs.ErrNotExist: modelio.ExitUsage, fs.ErrPermission: modelio.ExitUsage,
		&corpusio.CorruptError{}: modelio.ExitData,
	} {
		var e *modelio.Error
		if err := modelio.InputError(fmt.Errorf("file: %w", cause)); !errors.As(err, &e) || e.Exit != want {
			t.Errorf("%v: %v, want exit code %d", cause, err, want)
		}
	}
}

// If storage fails during a run, the run fails with one line that names the file and the cause. A retry finishes the run.
func TestStorageFaults(t *testing.T) {
	sel := choose(t, "", "5")
	big := spread(t, corpus(t), 4, "")
	for what, c := range map[string]struct {
		input, output string
		want          []string
	}{
		"a read that fails midway":     {"faulty://read=200000" + big, "", []string{".tsv", "input/output error"}},
		"an input taken away":          {"faulty://open=10" + big, "", []string{".tsv", "no such file"}},
		"disk full at the claim":       {big, "faulty://write=10", []string{"_STARTED.json", "no space left"}},
		"disk full at the counts":      {big, "faulty://write=40000", []string{"counts/part-", "no space left"}},
		"disk full at the features":    {big, "faulty://write=%d", []string{".parquet", "no space left"}},
		"disk full at the manifest":    {big, "faulty://write=%d+", []string{".json", "no space left"}},
		"storage that dies at the end": {big, "faulty://die=%d+", []string{"manifest.json", "input/output error"}},
		"parts taken away meanwhile":   {big, "faulty://open=1", []string{"counts/part-", "no such file"}},
	} {
		output := strings.TrimSuffix(c.output, "+")
		if strings.Contains(output, "%d") {
			output = fmt.Sprintf(output, bytesBefore(t, big, sel, strings.HasSuffix(c.output, "+")))
		}
		for name, runner := range failingRunners {
			t.Run(what+" on "+name, func(t *testing.T) {
				faulty.Reset()
				dir := filepath.Join(t.TempDir(), "out")
				err := trainOn(runner, output+dir, documents(t, c.input), sel)
				if exitOf(err) != modelio.ExitFailed {
					t.Fatalf("exit %d, want %d: %v", exitOf(err), modelio.ExitFailed, err)
				}
				contains(t, err, c.want...)
				if _, err := os.Stat(filepath.Join(dir, "_SUCCESS")); err == nil {
					t.Error("_SUCCESS is there")
				}
				if left := outside.Hidden(t, dir); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

// bytesBefore returns how many bytes a run writes before its first table, or before its manifest.
func bytesBefore(t *testing.T, input string, sel selection.Params, manifest bool) (n int64) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, documents(t, input), sel); err != nil {
		t.Fatal(err)
	}
	n = 1000 // of _STARTED.json, and a little of what comes next
	for _, f := range read(t, dir).Manifest.Files {
		if manifest || strings.HasPrefix(f.Name, "counts/") {
			n += f.Size
		}
	}
	return n
}

// A run whose context ends returns the cause and publishes nothing; on the direct runner, all of its steps have ended.
func TestCancelled(t *testing.T) {
	for name, runner := range failingRunners {
		faulty.Reset()
		input := save(t, "in.tsv", "a\tupon the\nb\twhilst the\n")
		if err := syscall.Mkfifo(input+".hold", 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		d := documents(t, "faulty://hold=3"+input)
		run := NewRun("count", "test", &d, nil, nil)
		dir := filepath.Join(t.TempDir(), "out")
		ended := make(chan error)
		go func() {
			ended <- Run(ctx, runner, dir, run, func(s beam.Scope) { Count(s, run, dir, d) }, func(Progress) {})
		}()
		hold, err := os.OpenFile(input+".hold", os.O_WRONLY, 0) // returns when the job reads
		if err != nil {
			t.Fatal(err)
		}
		cancel(errors.New("enough"))
		if err := hold.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; exitOf(err) != modelio.ExitFailed {
			t.Errorf("%s: exit %d, %v", name, exitOf(err), err)
		} else {
			contains(t, err, "enough: nothing was published")
		}
		checkNothingPublished(t, dir)
	}
}

// Counters are reported while a job runs: this job has read one file of two, and waits for the report.
func TestProgressIsLive(t *testing.T) {
	faulty.Reset()
	a, b := save(t, "in.tsv", "a\tupon the\n"), save(t, "in.tsv", "b\twhilst the\n")
	if err := syscall.Mkfifo(b+".hold", 0o600); err != nil {
		t.Fatal(err)
	}
	d := documents(t, "faulty://hold=6"+a, "faulty://hold=6"+b)
	d.Tuning.Threads = 1
	run := NewRun("count", "test", &d, nil, nil)
	dir := filepath.Join(t.TempDir(), "out")
	shown := make(chan Progress, 1000)
	ended := make(chan error)
	go func() {
		ended <- Run(t.Context(), Runner{}, dir, run, func(s beam.Scope) { Count(s, run, dir, d) }, func(p Progress) { shown <- p })
	}()
	hold, err := os.OpenFile(b+".hold", os.O_WRONLY, 0) // returns when the job reads b
	if err != nil {
		t.Fatal(err)
	}
	for p := range shown {
		if p.Documents == 1 && p.Bytes == d.Files[0].Size && p.Features == 2 {
			break
		}
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(shown)
	var last Progress
	for p := range shown {
		last = p
	}
	if want := (Progress{Bytes: d.Files[0].Size + d.Files[1].Size, Documents: 2, Features: 3, Merged: 3}); last != want {
		t.Errorf("at the end %+v, want %+v", last, want)
	}
}
