package engines

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// installed returns the folder that "make engines" has filled.
func installed(t testing.TB) string { return outside.Engines(t) }

// built is the command, built once.
var built struct {
	sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sparsenb-engines")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.path = filepath.Join(dir, "sparsenb")
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func binary(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		c := exec.Command("go", "build", "-o", built.path, "./cmd/sparsenb")
		c.Dir = outside.Root()
		var out []byte
		if out, built.err = c.CombinedOutput(); built.err != nil {
			built.err = fmt.Errorf("%w: %s", built.err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// federalist is a corpus of 2 MB.
var federalist = filepath.Join(outside.Root(), "testdata", "federalist", "train.tsv")

// tables reads every Parquet file of a published run.
func tables(t testing.TB, dir string) map[string]string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "_SUCCESS")); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, pattern := range []string{"*.parquet", "counts/*.parquet", "predictions/*.parquet", "rows/*.parquet"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(name, dir)] = string(content)
		}
	}
	return files
}

// checkSame compares the tables of two runs byte for byte, and that no temporary file is left.
func checkSame(t testing.TB, got, want string) {
	t.Helper()
	a, b := tables(t, got), tables(t, want)
	if len(a) != len(b) {
		t.Errorf("there are %d tables, want %d", len(a), len(b))
	}
	for name := range b {
		if a[name] != b[name] {
			t.Errorf("%s differs", name)
		}
	}
	for _, pattern := range []string{".*", "counts/.*"} {
		if left, _ := filepath.Glob(filepath.Join(got, pattern)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// locally trains inside one process, to compare with.
func locally(t testing.TB, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "local")
	publish(t, append(args, "--output="+dir)...)
	return dir
}

// publish runs the command and wants it to succeed.
func publish(t testing.TB, args ...string) result {
	t.Helper()
	r := sparsenb(t, args...)
	if r.exit != 0 {
		t.Fatalf("sparsenb %s: exit %d: %s", strings.Join(args, " "), r.exit, r.stderr)
	}
	return r
}

// big writes a corpus with so many words that every step takes seconds: 40 MB, 600,000 different words, two classes.
func big(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "big.tsv")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40_000 {
		fmt.Fprintf(w, "class%d\t", i%2)
		for range 130 {
			fmt.Fprintf(w, "w%d ", int(600_000*rng.Float64()*rng.Float64()))
		}
		fmt.Fprintln(w)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

var hamilton = []string{"--input=" + federalist, "--positive=Hamilton", "--k=10"}

// with returns the flags of a command together.
func with(flags ...[]string) []string { return slices.Concat(flags...) }

func to(dir string) []string { return []string{"--output=" + dir} }
