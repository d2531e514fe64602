package pipeline

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCancelUnlessStarted(t *testing.T) {
	for what, c := range map[string]struct {
		begun bool
		after time.Duration
		want  string
	}{
		"in time":      {false, time.Minute - 1, ""},
		"never begins": {false, time.Minute + 1, "fewer free slots than --parallelism"},
		"has begun":    {true, time.Hour, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var cancelled []error
			stop := cancelUnlessStarted(time.Minute, func() bool { return c.begun }, func(err error) { cancelled = append(cancelled, err) })
			time.Sleep(c.after) // of a clock that does not wait
			synctest.Wait()
			stop()
			time.Sleep(time.Hour)
			synctest.Wait()
			switch {
			case len(cancelled) > 1:
				t.Errorf("%s: judged twice: %v", what, cancelled)
			case (len(cancelled) == 0) != (c.want == ""), len(cancelled) == 1 && !strings.Contains(cancelled[0].Error(), c.want):
				t.Errorf("%s: %v, want %q", what, cancelled, c.want)
			}
		})
	}
}

// Without a timeout, or in this process, the start is not watched.
func TestNoStallTimeout(t *testing.T) {
	for what, r := range map[string]Runner{"no timeout": {Endpoint: "localhost:1"}, "here": {StallTimeout: time.Minute}} {
		if r.watchesStart() {
			t.Errorf("%s: judged", what)
		}
	}
	if !(Runner{Endpoint: "localhost:1", StallTimeout: time.Minute}).watchesStart() {
		t.Error("an engine is not judged")
	}
}
