// Package outside finds what tests use from outside the module. A test that does without it skips and says so; where
// SPARSENB_REQUIRE is set, as the Makefile and CI do, the lack is a failure.
package outside

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Python returns a Python that has the packages of testdata/requirements.txt. "make test" builds one.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("SPARSENB_PYTHON")
	if python == "" {
		missing(t, "python", "SPARSENB_PYTHON names no Python with the packages of testdata/requirements.txt; make test builds one")
	}
	return python
}

// Engines returns the folder of Flink, Spark and their job servers, which "make engines" fills.
func Engines(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SPARSENB_ENGINES")
	if _, err := os.Stat(filepath.Join(dir, "ready")); dir == "" || err != nil {
		missing(t, "engines", "SPARSENB_ENGINES names no folder with Flink and Spark; make test-engines builds one")
	}
	return dir
}

// Containers returns the podman with which images are built and run, which "make containers" installs.
func Containers(t testing.TB) string {
	t.Helper()
	podman, err := exec.LookPath("podman")
	if err != nil {
		missing(t, "containers", "podman is not here: make containers installs it on Debian")
	}
	return podman
}

// Shared returns a path in the folder of corpora that are not ours to give away.
func Shared(t testing.TB, path string) string {
	t.Helper()
	dir := os.Getenv("SPARSENB_SHARED")
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared")
	}
	path = filepath.Join(dir, filepath.FromSlash(path))
	if _, err := os.Stat(path); err != nil {
		missing(t, "shared", path+" is not here: SPARSENB_SHARED names the folder of the corpora")
	}
	return path
}

// Root returns the root of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Hidden returns the files in a folder and those in it whose names start with a dot, which is what writers leave that were
// interrupted.
func Hidden(t testing.TB, dir string) (names []string) {
	t.Helper()
	for _, pattern := range []string{".*", "*/.*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

func missing(t testing.TB, what, message string) {
	t.Helper()
	for _, required := range strings.Split(os.Getenv("SPARSENB_REQUIRE"), ",") {
		if required == what {
			t.Fatal(message)
		}
	}
	t.Skip(message)
}
