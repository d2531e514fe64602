package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// What may be well again the next time is worth another try, unlike what is missing or forbidden.
func TestInputError(t *testing.T) {
	for cause, want := range map[error]int{
		syscall.EIO: ExitFailed, fileio.ErrUnavailable: ExitFailed, fs.ErrNotExist: ExitUsage, fs.ErrPermission: ExitUsage,
		&corpusio.CorruptError{}: ExitData,
	} {
		var e *Error
		if err := InputError(fmt.Errorf("file: %w", cause)); !errors.As(err, &e) || e.Exit != want {
			t.Errorf("%v: %v, want exit code %d", cause, err, want)
		}
	}
}

// Storage that fails in the middle of a run fails the run, in one line that names the file and the cause. A retry may
// help, and then finishes what was begun.
func TestStorageFaults(t *testing.T) {
	sel := choose(t, "", "5")
	big := spread(t, corpus(t), 4, "")
	for what, c := range map[string]struct {
		input, output string
		want          []string
	}{
		"a read that fails midway":   {"faulty://read=200000" + big, "", []string{".tsv", "input/output error"}},
		"an input taken away":        {"faulty://open=6" + big, "", []string{".tsv", "no such file"}},
		"disk full at the claim":     {big, "faulty://write=10", []string{"_STARTED.json", "no space left"}},
		"disk full at the counts":    {big, "faulty://write=40000", []string{"counts/part-", "no space left"}},
		"disk full at the features":  {big, "faulty://write=%d", []string{".parquet", "no space left"}},
		"disk full at the manifest":  {big, "faulty://write=%d+", []string{".json", "no space left"}},
		"parts taken away meanwhile": {big, "faulty://open=1", []string{"counts/part-", "no such file"}},
	} {
		t.Run(what, func(t *testing.T) {
			faulty.Reset()
			dir := filepath.Join(t.TempDir(), "out")
			output := strings.TrimSuffix(c.output, "+")
			if strings.Contains(output, "%d") {
				output = fmt.Sprintf(output, bytesBefore(t, big, sel, strings.HasSuffix(c.output, "+")))
			}
			err := runTrain(t, output+dir, documents(t, c.input), sel)
			if exitOf(err) != ExitFailed {
				t.Fatalf("exit %d, want %d: %v", exitOf(err), ExitFailed, err)
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

// bytesBefore is how many bytes a run writes before its first table, or before its manifest.
func bytesBefore(t *testing.T, input string, sel Selection, manifest bool) (n int64) {
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
