package pipeline

import (
	"strings"
	"testing"
	"time"
)

func TestStallGuard(t *testing.T) {
	for what, c := range map[string]struct {
		timeout time.Duration
		begun   bool
		after   time.Duration
		want    string
	}{
		"in time":      {time.Minute, false, time.Minute, ""},
		"never begins": {time.Minute, false, time.Minute + 1, "has the engine free slots"},
		"has begun":    {time.Minute, true, time.Hour, ""},
		"no timeout":   {0, false, time.Hour, ""},
	} {
		clock := time.Unix(0, 0)
		g := newStallGuard(c.timeout, func() bool { return c.begun }, func() time.Time { return clock })
		clock = clock.Add(c.after)
		if err := g.check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
		if err := g.check(); err != nil {
			t.Errorf("%s: judged twice: %v", what, err)
		}
	}
}
