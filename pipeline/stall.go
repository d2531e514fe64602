package pipeline

import (
	"fmt"
	"time"
)

// stallGuard tells a job that cannot begin from one that takes its time. What the job has done once it has begun cannot be
// told on every engine: Flink's job server has counters at the end only, Spark's at the end of a task.
type stallGuard struct {
	timeout time.Duration // 0: it never judges
	begun   func() bool
	now     func() time.Time
	started time.Time
	done    bool
}

func newStallGuard(timeout time.Duration, begun func() bool, now func() time.Time) *stallGuard {
	return &stallGuard{timeout: timeout, begun: begun, now: now, started: now()}
}

// check returns why the job is to be cancelled, or nil.
func (g *stallGuard) check() error {
	if g.timeout == 0 || g.done || g.now().Sub(g.started) <= g.timeout {
		return nil
	}
	if g.done = true; g.begun() {
		return nil
	}
	return fmt.Errorf("the job has not begun for %s (--stall_timeout): has the engine free slots, and can its hosts start workers (is this program at the same path there)?", g.timeout)
}
