package pipeline

import (
	"fmt"
	"time"
)

// stallGuard tells a job that stands still from one that is slow. Not every engine lets it: Flink's job server has counters
// at the end only, Spark's at the end of a stage. So it judges by two things: whether the job has begun, which the claim on
// the output shows on any engine, and the counters, once they have proved to move while the job runs.
type stallGuard struct {
	timeout time.Duration // 0: it never judges
	begun   func() bool
	now     func() time.Time

	last  Progress
	since time.Time
	moves int
}

func newStallGuard(timeout time.Duration, begun func() bool, now func() time.Time) *stallGuard {
	return &stallGuard{timeout: timeout, begun: begun, now: now, since: now()}
}

// liveMoves is how often counters move that are live. A job has fewer stages.
const liveMoves = 20

func (g *stallGuard) see(p Progress) {
	if p != g.last {
		g.last, g.since = p, g.now()
		g.moves++
	}
}

// check returns why the job is to be cancelled, or nil.
func (g *stallGuard) check() error {
	if g.timeout == 0 || g.now().Sub(g.since) <= g.timeout {
		return nil
	}
	switch {
	case g.moves == 0 && !g.begun():
		return fmt.Errorf("no progress for %s (--stall_timeout): the job has not begun; has the engine free slots, and can its hosts start workers (is this program at the same path there)?", g.timeout)
	case g.moves < liveMoves:
		g.since = g.now() // nothing can be told
		return nil
	case g.last.Merged == 0:
		return fmt.Errorf("no progress for %s (--stall_timeout): the job stands still in the text or on the way to the shards; on Flink, taskmanager.memory.task.off-heap.size may be too small", g.timeout)
	}
	return fmt.Errorf("no progress for %s (--stall_timeout): the job stands still after the text was read; look for OutOfMemoryError in the logs of the engine's workers", g.timeout)
}
