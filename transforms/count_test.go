package transforms

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

// A bundle that the runner gives up leaves no goroutine behind, which would hold a file and tables.
func TestAbandonedBundlesEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(name, []byte("a\tone two\nb\tthree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	files, err := corpusio.List(t.Context(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	element, err := encode(corpusio.Split(files[0], 1<<20)[0])
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	fn := &countFn{Params: CountParams{Shards: 2, Threads: 2}}
	fn.Setup()
	for range 20 {
		fn.StartBundle(t.Context(), nil, nil)
		if err := fn.ProcessElement(t.Context(), element, func(int, []byte) {}, nil); err != nil {
			t.Fatal(err)
		}
		if err := fn.ProcessElement(t.Context(), []byte("no range"), func(int, []byte) {}, nil); err == nil {
			t.Error("an element that is no range was taken")
		}
	}
	fn.Teardown()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
		}
	}
}
