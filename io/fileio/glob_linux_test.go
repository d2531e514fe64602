package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A folder that cannot be read is an error that names it, where filepath.Glob would skip it.
func TestGlobNamesUnreadableFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "open", "a.tsv"), "x")
	write(t, filepath.Join(dir, "closed", "a.tsv"), "x")
	for name, mode := range map[string]fs.FileMode{"closed": 0, "open": 0o755, "": 0o755, "..": 0o755} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(dir, "closed"), 0o777)
	if os.Getuid() == 0 { // who may read everything; the thread ends with the goroutine of the test
		runtime.LockOSThread()
		const nobody = 65534
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Skip("cannot become another user: ", err)
		}
		defer syscall.Setfsuid(0)
	}
	for _, pattern := range []string{"*/*.tsv", "closed/*.tsv", "closed/a.tsv", "closed", ""} {
		files, err := local{}.Glob(t.Context(), filepath.Join(dir, pattern))
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%q lists %v, %v", pattern, files, err)
		}
	}
	if files, err := (local{}).Glob(t.Context(), filepath.Join(dir, "open")); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
