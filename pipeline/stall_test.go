package pipeline

import (
	"strings"
	"testing"
	"time"
)

func TestStallGuard(t *testing.T) {
	const timeout = time.Minute
	for what, c := range map[string]struct {
		begun  bool
		moves  int // of the counters, a second apart
		merged int64
		want   string
	}{
		"never begins":                    {false, 0, 0, "has the engine free slots"},
		"begins, on Flink":                {true, 0, 0, ""},
		"reports the end of stages":       {true, 4, 9, ""},
		"stands still in the text":        {true, 50, 0, "in the text or on the way to the shards"},
		"stands still in the merge":       {true, 50, 9, "after the text was read"},
		"shows counters before its claim": {false, 1, 0, ""},
	} {
		clock := time.Unix(0, 0)
		g := newStallGuard(timeout, func() bool { return c.begun }, func() time.Time { return clock })
		for i := range c.moves {
			clock = clock.Add(time.Second)
			g.see(Progress{Bytes: int64(i + 1), Merged: c.merged})
		}
		clock = clock.Add(timeout)
		if err := g.check(); err != nil {
			t.Errorf("%s: cancelled early: %v", what, err)
		}
		var err error
		for range 10 {
			clock = clock.Add(timeout)
			if err = g.check(); err != nil {
				break
			}
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	g := newStallGuard(0, func() bool { return false }, func() time.Time { return time.Unix(1<<40, 0) })
	g.since = time.Unix(0, 0)
	if err := g.check(); err != nil {
		t.Errorf("no timeout: %v", err)
	}
}
