// Package spill has what a counting job holds in a process: a memory budget, sorted runs of counts in memory, and runs in
// temporary files. The step that counts and the step that merges share it if both are in one process. Then a reference of
// a few bytes crosses the shuffle instead of each run, because an embedded runner keeps everything that crosses in memory,
// several times over. An engine has a shuffle on disk and workers in other processes, so count blocks cross there, and
// only the budget is used.
//
// A run is merged once: the embedded runner does not retry a step.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// Run is a list of features, sorted by shard, key and name.
type Run interface {
	Bytes() int // of memory that it takes
	// Shard returns the sorted features of a shard, with classes numbered as in classes.
	Shard(shard int, classes *block.Classes) ([]block.Source, error)
}

// Params describe a job. All its steps have the same.
type Params struct {
	ID          string // required; the name of the job
	Local       bool   // counting and merging are in one process; default: count blocks cross the shuffle
	MemoryBytes int    // budget of tables and runs in a process; default: 256 MiB for the tables of each worker, no limit for runs
	TempDir     string // for temporary files; default: the system's
}

// Validate returns an error that names the first invalid field.
func (p Params) Validate() error {
	switch {
	case p.ID == "":
		return errors.New("missing Job.ID")
	case p.MemoryBytes < 0:
		return fmt.Errorf("invalid Job.MemoryBytes: %d; it must not be negative", p.MemoryBytes)
	}
	return nil
}

// Job is what a job holds in this process. Its methods may be called by several goroutines at once.
//
// Runs reserve at most half of the budget. The workers share the rest equally for their tables, so that
// Held() + workers · TableBytes() never exceeds the budget.
type Job struct {
	params Params
	share  atomic.Int64 // of one worker; changes with workers and held

	mu       sync.Mutex
	workers  int
	held     int // bytes that are reserved for runs
	runs     []Run
	left     []int // shards of each run that are not merged yet
	files    []*os.File
	released bool

	loading sync.Mutex
	loaded  any
}

// jobs is the registry: the steps of a job are made by Beam, which passes only values to them.
var jobs struct {
	sync.Mutex
	byID map[string]*Job
}

// Open returns the job of these parameters in this process. A step calls it once, at setup.
func Open(p Params) *Job {
	jobs.Lock()
	defer jobs.Unlock()
	j := jobs.byID[p.ID]
	if j == nil {
		if jobs.byID == nil {
			jobs.byID = map[string]*Job{}
		}
		j = &Job{params: p}
		j.divide()
		jobs.byID[p.ID] = j
	}
	return j
}

// Release frees what the job of this ID holds in this process: its runs, its temporary files, its place in the registry.
// It does nothing if there is no such job. A worker process of an engine does not call it and holds nothing but the budget.
func Release(id string) error {
	jobs.Lock()
	j := jobs.byID[id]
	delete(jobs.byID, id)
	jobs.Unlock()
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var errs []error
	for _, f := range j.files {
		errs = append(errs, f.Close(), remove(f))
	}
	j.runs, j.left, j.files, j.released = nil, nil, nil, true
	return errors.Join(errs...)
}

// Local reports whether counting and merging are in this process.
func (j *Job) Local() bool { return j.params.Local }

// AddWorkers says that n more workers count, or -n fewer.
func (j *Job) AddWorkers(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.workers += n
	j.divide()
}

// defaultTables is the memory of one worker's tables if there is no budget.
const defaultTables = 256 << 20

// divide computes the share of each worker; j.mu is locked, or the job is new.
func (j *Job) divide() {
	if j.params.MemoryBytes == 0 {
		j.share.Store(defaultTables)
		return
	}
	j.share.Store(int64((j.params.MemoryBytes - j.held) / max(1, j.workers)))
}

// TableBytes is how much memory the tables of one worker may take now. It is cheap enough to ask after every document.
func (j *Job) TableBytes() int { return int(j.share.Load()) }

// Reserve takes bytes of the budget for a run, which [Job.Add] adds. It returns false, and takes nothing, if runs would then
// have more than half of the budget: an embedded runner may start another bundle, whose tables need the rest.
func (j *Job) Reserve(bytes int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	limit := j.params.MemoryBytes / 2
	if j.params.MemoryBytes == 0 {
		limit = math.MaxInt
	}
	if bytes > limit-j.held {
		return false
	}
	j.held += bytes
	j.divide()
	return true
}

// Load returns what load returns, which is called once in this process, with the memory that the value takes. Half of the
// budget is left for the tables of the workers even if it takes more.
func (j *Job) Load(load func() (value any, bytes int, err error)) (any, error) {
	j.loading.Lock()
	defer j.loading.Unlock()
	if j.loaded != nil {
		return j.loaded, nil
	}
	value, bytes, err := load()
	if err != nil {
		return nil, err
	}
	j.loaded = value
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.params.MemoryBytes > 0 {
		j.held += max(0, min(bytes, j.params.MemoryBytes/2-j.held))
	}
	j.divide()
	return value, nil
}

// Held is how much memory is reserved for runs.
func (j *Job) Held() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.held
}

// magic starts a reference, as another starts a block.
const magic = "run\x01"

// IsReference reports whether b is a reference to a run, and not a count block.
func IsReference(b []byte) bool { return len(b) == len(magic)+4 && string(b[:len(magic)]) == magic }

// Add keeps a run, whose memory was reserved, until all its shards are merged. It returns the reference to it.
func (j *Job) Add(r Run, shards int) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs, j.left = append(j.runs, r), append(j.left, shards)
	return binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(j.runs)-1))
}

// Find returns the run of a reference.
func (j *Job) Find(reference []byte) (Run, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.find(reference)
	if err != nil {
		return nil, err
	}
	return j.runs[n], nil
}

// Done says that one shard of a run was merged. After the last shard it drops the run and frees its memory.
func (j *Job) Done(reference []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.find(reference)
	if err != nil {
		return err
	}
	if j.left[n]--; j.left[n] == 0 {
		j.held -= j.runs[n].Bytes()
		j.runs[n] = nil
		j.divide()
	}
	return nil
}

// find returns the number of a run; j.mu is locked.
func (j *Job) find(reference []byte) (int, error) {
	n := int(binary.LittleEndian.Uint32(reference[len(magic):]))
	if j.released || n >= len(j.runs) || j.runs[n] == nil {
		return 0, fmt.Errorf("run %d of counts is not in this process", n)
	}
	return n, nil
}

// create creates a temporary file and removes its name at once, so that nothing is left however this process ends.
func (j *Job) create() (*os.File, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.released {
		return nil, errors.New("the job was released while it was counting")
	}
	f, err := os.CreateTemp(j.params.TempDir, "sparsenb-*.counts")
	if err != nil {
		return nil, explain(err)
	}
	_ = os.Remove(f.Name()) // some systems do not remove an open file; then Release does
	j.files = append(j.files, f)
	return f, nil
}

// remove removes a file that still has a name.
func remove(f *os.File) error {
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// explain adds what the user can do.
func explain(err error) error {
	return fmt.Errorf("temporary file of counts: %w; choose another folder with --temp_location, or need fewer files with a larger --memory_budget", err)
}
