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
	explain(fs, "temp_location", "=DIR\n        the folder for temporary files; on Dataflow a name such as gs://bucket/folder (default that of the system)")
	return fs.String("memory_budget", "", "=BYTES\n        how much memory to use, such as 1GiB; when it is short, counts go to temporary files in --temp_location (default half of the machine's, or of the container's limit; on an engine 256MiB a slot)")
}

// leastMemory is what the program needs beside what it counts.
const leastMemory = 128 << 20

// tune gives the counting its memory. Only where this process does the work does it know how much there is.
func tune(t *pipeline.Tuning, budget string, here bool) (err error) {
	bytes := uint64(0)
	if budget != "" {
		n, err := parseBytes("memory_budget", budget, 2*leastMemory, 1<<50)
		if err != nil {
			return err
		}
		bytes = uint64(n)
	}
	if !here {
		t.Threads = 1 // an engine makes a bundle for every slot it has
		t.MemoryBytes = int(bytes)
		return nil
	}
	if bytes == 0 {
		bytes = defaultMemory()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(bytes - bytes/8))
	}
	t.MemoryBytes = int((bytes - leastMemory) / 2) // the rest is for what is not yet collected as garbage, and the merge
	t.Spill = true
	t.TempDir, err = tempDir()
	return err
}

// defaultMemory is half of what this process may have.
func defaultMemory() uint64 {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit == 0 || limit == math.MaxUint64 {
		limit, err = memlimit.FromSystem()
	}
	if err != nil {
		return 2 << 30
	}
	return max(limit/2, 2*leastMemory)
}

// tempDir is what Beam's own flag says, if it says a folder of this host.
func tempDir() (string, error) {
	dir := flag.Lookup("temp_location").Value.String()
	if strings.Contains(dir, "://") {
		warn("--temp_location=%s is no folder of this host: temporary files go to %s", dir, os.TempDir())
		return "", nil
	}
	if dir == "" {
		return "", nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", modelio.InputError(fmt.Errorf("--temp_location=%s: %w; name a folder that is there", dir, errors.Unwrap(err)))
	}
	if !info.IsDir() {
		return "", modelio.Usagef("--temp_location=%s: not a folder; name one for temporary files", dir)
	}
	return dir, nil
}
