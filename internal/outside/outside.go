// Package outside finds programs and data that tests need from outside the module. If one is missing, the test is skipped,
// or fails if SPARSENB_REQUIRE names it, as the Makefile and CI do.
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
		missing(t, "python", "SPARSENB_PYTHON is not set: a Python with the packages of testdata/requirements.txt; make test builds one")
	}
	return python
}

// Engines returns the folder of Flink, Spark and their job servers. "make engines" creates it.
func Engines(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SPARSENB_ENGINES")
	if _, err := os.Stat(filepath.Join(dir, "ready")); dir == "" || err != nil {
		missing(t, "engines", "SPARSENB_ENGINES is not a folder with Flink and Spark; make test-engines builds one")
	}
	return dir
}

// Containers returns the path of podman, which builds and runs images. "make containers" installs it.
func Containers(t testing.TB) string {
	t.Helper()
	podman, err := exec.LookPath("podman")
	if err != nil {
		missing(t, "containers", "podman is missing; make containers installs it on Debian")
	}
	return podman
}

// Shared returns a path in the folder of the corpora that may not be redistributed.
func Shared(t testing.TB, path string) string {
	t.Helper()
	dir := os.Getenv("SPARSENB_SHARED")
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared")
	}
	path = filepath.Join(dir, filepath.FromSlash(path))
	if _, err := os.Stat(path); err != nil {
		missing(t, "shared", path+" is missing; set SPARSENB_SHARED to the folder of the corpora")
	}
	return path
}

// Root returns the root of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Hidden returns the files in a folder, and one level below, whose names start with a dot: interrupted writers leave them.
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
