package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

func addMemoryFlag(fs *flag.FlagSet) *string {
	explain(fs, "temp_location", "=DIR folder for temporary files; on Dataflow a name such as gs://bucket/folder (default: the system's)")
	return fs.String("memory_budget", "", "=SIZE memory to use, such as 1GiB; counts that do not fit are spilled to temporary files in --temp_location (default: half of the machine's memory or of the container's limit; on an engine 256MiB per slot)")
}

// baseMemory is what the program uses apart from counts.
const baseMemory = 128 << 20

// tune sets the memory, threads and temporary files of the counting. Only if the workers are in this process is it known how
// much memory there is.
func tune(t *pipeline.Tuning, budget string, inProcess bool) (err error) {
	bytes := 0
	if budget != "" {
		if bytes, err = parseBytes("memory_budget", budget); err != nil {
			return err
		}
		if bytes < 2*baseMemory || bytes > 1<<50 {
			return modelio.Usagef("--memory_budget=%s: must be 256 MiB to 1 PiB", budget)
		}
	}
	if !inProcess {
		t.Threads = 1 // an engine runs one bundle per slot
		t.MemoryBytes = bytes
		return nil
	}
	if bytes == 0 {
		bytes = defaultMemory()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(bytes - bytes/8))
	}
	t.MemoryBytes = (bytes - baseMemory) / 2 // the rest is for garbage not yet collected, and the merge
	t.Spill = true
	t.TempDir, err = tempDir()
	return err
}

// defaultMemory returns half of the memory that this process may use.
func defaultMemory() int {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit == 0 || limit == math.MaxUint64 {
		limit, err = memlimit.FromSystem()
	}
	if err != nil {
		return 2 << 30
	}
	return max(int(limit/2), 2*baseMemory)
}

// tempDir returns Beam's --temp_location if it is a folder of this host, otherwise "", the system's.
func tempDir() (string, error) {
	dir := flag.Lookup("temp_location").Value.String()
	if strings.Contains(dir, "://") {
		warn("--temp_location=%s is not on this host; temporary files go to %s", dir, os.TempDir())
		return "", nil
	}
	if dir == "" {
		return "", nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", modelio.InputError(fmt.Errorf("--temp_location=%s: %w; it must be an existing folder", dir, errors.Unwrap(err)))
	}
	if !info.IsDir() {
		return "", modelio.Usagef("--temp_location=%s: not a folder", dir)
	}
	return dir, nil
}
