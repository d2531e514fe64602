package spill

import (
	"errors"
	"fmt"
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
	area := Enter("job", dir)
	f := area.NewFile()
	for _, n := range []int{0, 1, 2, 700, 3000} {
		list := features(n)
		run, err := write(f, list, 300)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Find("job", area.Add(run, shards))
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
	reference := area.Add(run, shards)
	for range shards {
		if _, err := Find("job", reference); err != nil {
			t.Error(err)
		}
		if err := Done("job", reference); err != nil {
			t.Error(err)
		}
	}
	if _, err := Find("job", reference); err == nil {
		t.Error("a run is kept after its shards are done")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v, %v", left, err)
	}
	if err := Leave("job"); err != nil {
		t.Error(err)
	}
	if _, err := Find("job", area.Add(&fileRun{}, shards)); err == nil {
		t.Error("a run of a job that has left is found")
	}
	if err := errors.Join(Leave("job"), Leave("another")); err != nil {
		t.Error(err)
	}
}

func TestDamagedRunsAreErrors(t *testing.T) {
	area := Enter("damaged", t.TempDir())
	defer func() {
		if err := Leave("damaged"); err != nil {
			t.Error(err)
		}
	}()
	f := area.NewFile()
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

// What several goroutines keep in memory together is not more than the limit.
func TestMemoryIsReservedOnce(t *testing.T) {
	area := Enter("reserve", t.TempDir())
	defer func() {
		if err := Leave("reserve"); err != nil {
			t.Error(err)
		}
	}()
	const limit, goroutines = 1000, 64
	var got atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range 100 {
				if area.Reserve(7, limit) {
					got.Add(7)
				}
			}
		})
	}
	wg.Wait()
	if got.Load() != 994 || area.Held() != 994 {
		t.Errorf("%d bytes were given out, %d are held, of %d", got.Load(), area.Held(), limit)
	}
}

func TestTheWayOutIsNamed(t *testing.T) {
	area := Enter("nowhere", filepath.Join(t.TempDir(), "none"))
	defer func() {
		if err := Leave("nowhere"); err != nil {
			t.Error(err)
		}
	}()
	_, err := write(area.NewFile(), features(10), 300)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--temp_location") {
		t.Error(err)
	}
}
