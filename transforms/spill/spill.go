// Package spill holds sorted runs of counts between the step that counts and the step that merges, where both are in one
// process: runs in memory, and runs in temporary files when memory is short. What crosses the shuffle is a reference of a
// few bytes to each. An embedded runner keeps all that crosses in memory, several times over; an engine has a shuffle on
// disk, and other processes to reach, so there count blocks cross themselves. A run is merged once: the embedded runner
// does not try a step again.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// Run is a list of features, sorted by shard, key and name.
type Run interface {
	Bytes() int // of memory that it takes
	// Shard returns the features of a shard, by the numbers of their classes.
	Shard(shard int, classes *block.Classes) ([]block.Source, error)
}

// Area is where the runs of a job are.
type Area struct {
	dir   string
	mu    sync.Mutex
	runs  []Run
	left  []int // shards of each run that were not merged yet
	held  int   // bytes of memory that the runs take
	files []*os.File
}

var (
	mu    sync.Mutex
	areas = map[string]*Area{}
)

// Enter returns the area of a job, whose temporary files are in dir.
func Enter(job, dir string) *Area {
	mu.Lock()
	defer mu.Unlock()
	a := areas[job]
	if a == nil {
		a = &Area{dir: dir}
		areas[job] = a
	}
	return a
}

// Leave drops the area of a job, if it has one.
func Leave(job string) error {
	mu.Lock()
	a := areas[job]
	delete(areas, job)
	mu.Unlock()
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, f := range a.files {
		errs = append(errs, f.Close(), remove(f))
	}
	a.runs, a.left, a.files = nil, nil, nil
	return errors.Join(errs...)
}

// magic starts a reference, as another starts a block.
const magic = "run\x01"

// Reserve takes bytes of memory for a run that is to be added, if the runs take no more than limit with it. Several
// goroutines ask at once; each gets what is left by those before it.
func (a *Area) Reserve(bytes, limit int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held+bytes > limit {
		return false
	}
	a.held += bytes
	return true
}

// Add keeps a run of so many shards until all are done, and returns the reference to it. Its memory was reserved.
func (a *Area) Add(r Run, shards int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs, a.left = append(a.runs, r), append(a.left, shards)
	return binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(a.runs)-1))
}

// Held is how much memory the runs of the area take.
func (a *Area) Held() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// IsReference tells a reference from a block.
func IsReference(b []byte) bool { return len(b) == len(magic)+4 && string(b[:len(magic)]) == magic }

// Find returns the run that a reference is to.
func Find(job string, reference []byte) (r Run, err error) {
	err = at(job, reference, func(a *Area, n int) { r = a.runs[n] })
	return r, err
}

// Done says that a shard of a run was merged. A run of which all were is forgotten, and with it its memory.
func Done(job string, reference []byte) error {
	return at(job, reference, func(a *Area, n int) {
		if a.left[n]--; a.left[n] == 0 {
			a.held -= a.runs[n].Bytes()
			a.runs[n] = nil
		}
	})
}

// at calls do for the run that a reference is to.
func at(job string, reference []byte, do func(a *Area, n int)) error {
	n := int(binary.LittleEndian.Uint32(reference[len(magic):]))
	mu.Lock()
	a := areas[job]
	mu.Unlock()
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if n < len(a.runs) && a.runs[n] != nil {
			do(a, n)
			return nil
		}
	}
	return fmt.Errorf("run %d of counts is not in this process", n)
}

// create makes a temporary file that has no name, so that nothing of it is left however this process ends.
func (a *Area) create() (*os.File, error) {
	f, err := os.CreateTemp(a.dir, "sparsenb-*.counts")
	if err != nil {
		return nil, explain(err)
	}
	_ = os.Remove(f.Name()) // not every system takes the name of an open file away; then Leave does
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, f)
	return f, nil
}

// remove removes a file that still has a name.
func remove(f *os.File) error {
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// explain says what the way out is.
func explain(err error) error {
	return fmt.Errorf("a temporary file of counts: %w; --temp_location names another folder, a larger --memory_budget needs fewer", err)
}
