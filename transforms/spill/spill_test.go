package spill

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/transforms/block"
)

const shards = 5

// features are n of them with counts in two classes, in the order of their keys.
func features(n int) (list []*block.Feature) {
	for i := range n {
		name := fmt.Append(nil, "word", i)
		counts := []block.Count{{Class: 0, Occurrences: int64(i + 1), Documents: 1}, {Class: 1, Occurrences: 2, Documents: 2}}
		list = append(list, &block.Feature{Key: block.FullKeys(name), Name: name, Counts: counts[i%2:]})
	}
	slices.SortFunc(list, func(a, b *block.Feature) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return list
}

// write writes the features as a run, in blocks of at most limit bytes.
func write(f *File, list []*block.Feature, limit int) (Run, error) {
	ids := []block.ClassID{block.IDOf("a"), block.IDOf("b")}
	return f.Write(shards, block.FullKeys, func(emit func(int, []byte) error) error {
		shard := 0
		w := block.Writer{Limit: limit, Classes: ids, Emit: func(b []byte) error { return emit(shard, b) }}
		for _, feat := range list {
			if s := feature.Shard(feat.Key, shards); s != shard {
				if err := w.Flush(); err != nil {
					return err
				}
				shard = s
			}
			if err := w.Add(feat); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// sources are the features of a shard, where "a" is class 3 and "b" class 7.
func sources(t *testing.T, r Run, shard int) []block.Source {
	t.Helper()
	classes, err := block.NewClasses([]string{"", "A", "B", "a", "aa", "ab", "az", "b"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Shard(shard, classes)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// read returns what a run has in a shard, in words.
func read(t *testing.T, r Run, shard int) (found []string) {
	t.Helper()
	for _, s := range sources(t, r, shard) {
		for s.Next() {
			f := s.Feature()
			found = append(found, fmt.Sprint(string(f.Name), f.Key, f.Counts))
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
	}
	return found
}

func TestRunsAreReadAsTheyWereWritten(t *testing.T) {
	dir := t.TempDir()
	job := Open(Params{ID: "job", TempDir: dir})
	f := job.NewFile()
	for _, n := range []int{0, 1, 2, 700, 3000} {
		list := features(n)
		run, err := write(f, list, 300)
		if err != nil {
			t.Fatal(err)
		}
		again, err := job.Find(job.Add(run, shards))
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for shard := range shards {
			got = append(got, read(t, again, shard)...)
		}
		for _, f := range list {
			counts := slices.Clone(f.Counts)
			for i := range counts {
				counts[i].Class = []int{3, 7}[counts[i].Class]
			}
			want = append(want, fmt.Sprint(string(f.Name), f.Key, counts))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d features: %d came back, or others", len(want), len(got))
		}
	}
	run, err := write(f, features(3), 300)
	if err != nil {
		t.Fatal(err)
	}
	reference := job.Add(run, shards)
	for range shards {
		if _, err := job.Find(reference); err != nil {
			t.Error(err)
		}
		if err := job.Done(reference); err != nil {
			t.Error(err)
		}
	}
	if _, err := job.Find(reference); err == nil {
		t.Error("a run is kept after its shards are done")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v, %v", left, err)
	}
	if err := Release("job"); err != nil {
		t.Error(err)
	}
	if _, err := job.Find(job.Add(&fileRun{}, shards)); err == nil {
		t.Error("a run of a released job is found")
	}
	if _, err := write(job.NewFile(), features(3), 300); err == nil {
		t.Error("a released job creates a file")
	}
	if err := errors.Join(Release("job"), Release("another")); err != nil {
		t.Error(err)
	}
}

func TestDamagedRunsAreErrors(t *testing.T) {
	f := open(t, Params{TempDir: t.TempDir()}).NewFile()
	run, err := write(f, features(1000), 300)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.file.WriteAt([]byte{0xff}, 2000); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, run); err == nil {
		t.Error("a changed byte passes")
	}
	if err := f.file.Truncate(1000); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, run); err == nil {
		t.Error("a file that was cut passes")
	}
}

func readAll(t *testing.T, r Run) error {
	for shard := range shards {
		for _, s := range sources(t, r, shard) {
			for s.Next() {
			}
			if s.Err() != nil {
				return s.Err()
			}
		}
	}
	return nil
}

// open returns a job that is released at the end of the test.
func open(t *testing.T, p Params) *Job {
	t.Helper()
	p.ID += t.Name()
	t.Cleanup(func() {
		if err := Release(p.ID); err != nil {
			t.Error(err)
		}
	})
	return Open(p)
}

// memoryRun is a run that takes memory and has no features.
type memoryRun int

func (r memoryRun) Bytes() int { return int(r) }

func (r memoryRun) Shard(int, *block.Classes) ([]block.Source, error) { return nil, nil }

// Whatever goroutines reserve, keep and free at the same time, runs have at most half of the budget, and runs and tables
// together at most all of it.
func TestReservationsNeverExceedTheBudget(t *testing.T) {
	const budget, goroutines = 2000, 16
	job := open(t, Params{MemoryBytes: budget})
	check := func() {
		job.mu.Lock()
		defer job.mu.Unlock()
		if share := job.TableBytes(); job.held > budget/2 || job.held < 0 || job.held+max(1, job.workers)*share > budget {
			t.Errorf("%d bytes held, %d workers of %d bytes", job.held, job.workers, share)
		}
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			job.AddWorkers(1)
			for range 500 {
				run := memoryRun(1 + rng.IntN(budget/4))
				if !job.Reserve(run.Bytes()) {
					check()
					continue
				}
				check()
				reference := job.Add(run, 2)
				for range 2 {
					if err := job.Done(reference); err != nil {
						t.Error(err)
					}
					check()
				}
			}
			job.AddWorkers(-1)
		})
	}
	wg.Wait()
	if job.Held() != 0 || job.TableBytes() != budget {
		t.Errorf("at the end %d bytes are held, and %d are for tables", job.Held(), job.TableBytes())
	}
}

// No byte of the half is left unused: as many reservations succeed as fit.
func TestReservationsThatFitSucceed(t *testing.T) {
	const budget, goroutines = 2000, 64
	job := open(t, Params{MemoryBytes: budget})
	var got atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range 100 {
				if job.Reserve(7) {
					got.Add(7)
				}
			}
		})
	}
	wg.Wait()
	if got.Load() != 994 || job.Held() != 994 {
		t.Errorf("%d bytes were reserved, %d are held, of %d", got.Load(), job.Held(), budget/2)
	}
	if job.Reserve(7) || !job.Reserve(6) {
		t.Error("6 bytes are left, not 7")
	}
}

// Runs leave half of the memory to the tables, so that these are not flushed after every document.
func TestShareOfTheMemory(t *testing.T) {
	job := open(t, Params{MemoryBytes: 100 << 20})
	job.AddWorkers(4)
	for _, c := range []struct{ reserve, want int }{{0, 25 << 20}, {20 << 20, 20 << 20}, {30 << 20, 12.5 * (1 << 20)}} {
		if !job.Reserve(c.reserve) || job.TableBytes() != c.want {
			t.Errorf("%d bytes are held: a share of %d, want %d", job.Held(), job.TableBytes(), c.want)
		}
	}
	if job.Reserve(1) {
		t.Error("more than half is reserved")
	}
	unlimited := open(t, Params{ID: "unlimited"})
	unlimited.AddWorkers(3)
	if !unlimited.Reserve(1<<40) || unlimited.TableBytes() != defaultTables {
		t.Errorf("without a budget the share is %d", unlimited.TableBytes())
	}
}

func TestParamsAreValidated(t *testing.T) {
	for want, p := range map[string]Params{
		"":                {ID: "a"},
		"Job.ID":          {},
		"Job.MemoryBytes": {ID: "a", MemoryBytes: -1},
	} {
		if err := p.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestErrorSaysWhatToDo(t *testing.T) {
	job := open(t, Params{TempDir: filepath.Join(t.TempDir(), "none")})
	_, err := write(job.NewFile(), features(10), 300)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--temp_location") {
		t.Error(err)
	}
}
