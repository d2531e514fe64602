package transforms

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// A bundle that the runner gives up leaves no goroutine behind, which would hold a file and tables.
func TestAbandonedBundlesEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(name, []byte("a\tone two\nb\tthree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	files, err := corpusio.List(t.Context(), []string{name}, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	element, err := encode(mustSplit(t, files[0], 1<<20)[0])
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	fn := &countFn{Params: CountParams{Shards: 2, Threads: 2, Reading: corpusio.Reading{MaxRecordBytes: 1000}}}
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

// elements are the ranges of files with these texts.
func elements(t *testing.T, prefix string, size int64, texts ...string) (list [][]byte) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.tsv", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := corpusio.List(t.Context(), []string{prefix + dir + "/*.tsv"}, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, r := range mustSplit(t, file, size) {
			element, err := encode(r)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, element)
		}
	}
	return list
}

// counts runs one bundle and returns its totals.
func counts(t *testing.T, fn *countFn, elements [][]byte) (sum Totals, err error) {
	t.Helper()
	fn.Setup()
	defer fn.Teardown()
	fn.StartBundle(t.Context(), nil, nil)
	for _, element := range elements {
		if err := fn.ProcessElement(t.Context(), element, func(int, []byte) {}, nil); err != nil {
			return sum, err
		}
	}
	err = fn.FinishBundle(t.Context(), func(int, []byte) {}, func(b []byte) {
		total, err := decode[Totals](b)
		if err != nil {
			t.Fatal(err)
		}
		sum.add(total)
	})
	return sum, err
}

// The reading ends when a goroutine finds one class too many; that is not an error of the bundle.
func TestReadingEndsWithTooManyClasses(t *testing.T) {
	var texts []string
	for i := range 8 {
		var b strings.Builder
		for j := range 100 {
			fmt.Fprintf(&b, "label%d\tsome words\n", (50*i+j)%400)
		}
		texts = append(texts, b.String())
	}
	for _, threads := range []int{1, 4} {
		for most, tooMany := range map[int]bool{99: true, 399: true, 400: false, 0: false} {
			sum, err := counts(t, &countFn{Params: CountParams{Shards: 2, Threads: threads, Reading: corpusio.Reading{MaxRecordBytes: 1000}, MaxClasses: most}}, elements(t, "", 1000, texts...))
			if err != nil || sum.TooMany != tooMany || tooMany && len(sum.Classes) > 0 || !tooMany && len(sum.Classes) != 400 {
				t.Errorf("%d goroutines, --max_classes=%d: %d classes, too many %v, %v", threads, most, len(sum.Classes), sum.TooMany, err)
			}
		}
	}
	// Of a long list what comes behind is not read.
	fn := &countFn{Params: CountParams{Shards: 2, Threads: 1, Reading: corpusio.Reading{MaxRecordBytes: 1000}, MaxClasses: 10}}
	list := elements(t, "faulty://read=20000", 1000, strings.Repeat("x\ty\n", 100)+texts[0]+strings.Repeat("x\ty\n", 5000))
	if sum, err := counts(t, fn, list); err != nil || !sum.TooMany {
		t.Errorf("too many %v, %v", sum.TooMany, err)
	}
}

func TestReadingEndsWithAHeader(t *testing.T) {
	list := elements(t, "", 1000, "a\tb\n", "label\ttext\na\tb\n")
	sum, err := counts(t, &countFn{Params: CountParams{Shards: 2, Threads: 2, Reading: corpusio.Reading{MaxRecordBytes: 1000}}}, list)
	if err != nil || len(sum.Headers) != 1 || !strings.HasSuffix(sum.Headers[0].File, "001.tsv") {
		t.Errorf("%+v, %v", sum.Headers, err)
	}
	sum, err = counts(t, &countFn{Params: CountParams{Shards: 2, Threads: 2, Reading: corpusio.Reading{MaxRecordBytes: 1000, Header: corpusio.Present}}}, list)
	if err != nil || sum.Drops.Headers != 2 || sum.Classes["a"].Documents != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A panic in a goroutine would end the process; it is passed to Beam's goroutine, which makes it an error of the bundle.
func TestAPanicWhileCountingReachesBeam(t *testing.T) {
	list := elements(t, "faulty://panic=20000", 1000, strings.Repeat("a\tsome words\n", 5000))
	for _, threads := range []int{1, 3} {
		func() {
			defer func() {
				if p := recover(); p != faulty.Panic {
					t.Errorf("%d goroutines: recovered %v", threads, p)
				}
			}()
			_, err := counts(t, &countFn{Params: CountParams{Shards: 2, Threads: threads, Reading: corpusio.Reading{MaxRecordBytes: 1000}}}, list)
			t.Errorf("%d goroutines: no panic, %v", threads, err)
		}()
	}
}

// What goroutines keep in memory when they end at the same time is half of the budget at most.
func TestGoroutinesKeepHalfOfTheMemory(t *testing.T) {
	var texts []string
	for i := range 2 {
		var b strings.Builder
		for j := range 20_000 {
			fmt.Fprintf(&b, "a\tword%dx%d\n", i, j)
		}
		texts = append(texts, b.String())
	}
	list := elements(t, "", 1<<20, texts...)
	held := func(memory int) int {
		job := spill.Params{ID: "half", Local: true, MemoryBytes: memory, TempDir: t.TempDir()}
		fn := &countFn{Params: CountParams{Job: job, Shards: 2, Threads: 2, Reading: corpusio.Reading{MaxRecordBytes: 1000}}}
		if _, err := counts(t, fn, list); err != nil {
			t.Fatal(err)
		}
		n := spill.Open(job).Held()
		if err := spill.Release("half"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Half of this is just less than both keep if they may.
	memory := 2*held(1<<30) - 1000
	for range 20 {
		if n := held(memory); n > memory/2 {
			t.Fatalf("%d bytes are held of %d", n, memory)
		}
	}
}

// Blocks and parts have numbers for classes; the labels come once, from the totals.
func TestReadClasses(t *testing.T) {
	lists := encoded(t, []ClassList{{Labels: []string{"c", "d"}}, {Labels: []string{"a"}}})
	next := func() func(*[]byte) bool {
		rest := lists
		return func(b *[]byte) bool {
			if len(rest) == 0 {
				return false
			}
			*b, rest = rest[0], rest[1:]
			return true
		}
	}
	classes, err := readClasses(next())
	if err != nil || !slices.Equal(classes.Labels, []string{"a", "c", "d"}) {
		t.Errorf("%+v, %v", classes, err)
	}
	if numbers, err := classes.Numbers([]block.ClassID{block.IDOf("d")}); err != nil || numbers[0] != 2 {
		t.Errorf("%v, %v", numbers, err)
	}
	lists = append(lists, encoded(t, []ClassList{{Verdict: true}})...)
	if classes, err := readClasses(next()); classes != nil || err != nil {
		t.Errorf("after a verdict: %+v, %v", classes, err)
	}
	lists = [][]byte{[]byte("no list")}
	if _, err := readClasses(next()); err == nil {
		t.Error("what is no list is read")
	}
}

func mustSplit(t *testing.T, f corpusio.File, size int64) []corpusio.Range {
	t.Helper()
	ranges, err := corpusio.Split(t.Context(), f, size, corpusio.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return ranges
}
