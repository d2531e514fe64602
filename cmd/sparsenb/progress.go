package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/report"
)

// reporter shows the progress of a run: on a terminal in one line that is redrawn, elsewhere in a line every 30 s.
type reporter struct {
	w        io.Writer
	total    int64  // bytes of input; 0 if there is no text to read
	noun     string // name of a feature, in the singular; empty if none are counted
	after    string // name of the step after reading
	terminal bool
	interval time.Duration // between lines
	now      func() time.Time

	mu      sync.Mutex
	last    pipeline.Progress
	started time.Time
	printed time.Time
	dirty   bool // the terminal shows a line to be redrawn
}

const logInterval = 30 * time.Second

func newReporter(f *os.File, run modelio.Run, total int64) *reporter {
	return startReporter(f, run, total, term.IsTerminal(int(f.Fd())), time.Now)
}

func startReporter(w io.Writer, run modelio.Run, total int64, terminal bool, now func() time.Time) *reporter {
	r := &reporter{w: w, total: total, terminal: terminal, interval: logInterval, now: now}
	v := report.NewVocabulary(run)
	r.noun, r.after = "distinct "+v.Feature, "merging and solving"
	if v.Buckets > 0 {
		r.noun = "bucket"
	}
	switch {
	case run.Verb == "count":
		r.after = "merging"
	case run.Verb == "select":
		r.after = "solving"
	case slices.Contains(applying, run.Verb):
		r.noun, r.after = "", "writing"
	case v.Buckets > 0:
		r.after = "merging, solving, and reading the text again for bucket names"
	}
	r.started = now()
	r.printed = r.started
	return r
}

func (r *reporter) update(p pipeline.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	begins := p.Problems > 1 && r.last.Problems == 0 // their number is known before they are solved
	r.last = p
	if r.terminal {
		printf(r.w, "\r\x1b[K%s", r.line(p, now))
		r.dirty = true
		return
	}
	if now.Sub(r.printed) < r.interval && !begins {
		return
	}
	r.printed = now
	printf(r.w, "sparsenb: %s %s\n", now.UTC().Format(time.RFC3339), r.line(p, now))
}

func (r *reporter) line(p pipeline.Progress, now time.Time) string {
	after := r.after
	if p.Problems > 1 {
		after = "solving " + report.Plural(p.Problems, "problem")
	}
	if r.total == 0 {
		return after
	}
	if p == (pipeline.Progress{}) && now.Sub(r.started) > r.interval/2 {
		return fmt.Sprintf("running for %s; the engine has reported no progress yet", now.Sub(r.started).Round(time.Second))
	}
	if p.Bytes >= r.total {
		return fmt.Sprintf("read %s, %s; %s", humanize.Bytes(uint64(r.total)), r.found(p), after)
	}
	elapsed := now.Sub(r.started)
	rate := float64(p.Bytes) / max(elapsed.Seconds(), 1e-9)
	left := ""
	if p.Bytes > 0 {
		left = fmt.Sprintf(", %v left", time.Duration(float64(r.total-p.Bytes)/rate*float64(time.Second)).Round(time.Second))
	}
	return fmt.Sprintf("read %s of %s (%d %%), %s/s, %s%s",
		humanize.Bytes(uint64(p.Bytes)), humanize.Bytes(uint64(r.total)), 100*p.Bytes/r.total, humanize.Bytes(uint64(rate)), r.found(p), left)
}

// applying are the commands that apply a model to documents.
var applying = []string{"predict", "evaluate", "transform"}

// found is what was found in the text.
func (r *reporter) found(p pipeline.Progress) string {
	documents := report.Plural(p.Documents, "document")
	if r.noun == "" {
		return documents
	}
	return documents + ", about " + report.Plural(p.Features, r.noun)
}

// read returns how much text a finished job has read, which shows whether any was read twice.
func (r *reporter) read() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.Bytes == 0 {
		return ""
	}
	return ", " + humanize.Bytes(uint64(r.last.Bytes)) + " read"
}

func (r *reporter) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirty {
		printf(r.w, "\r\x1b[K")
	}
}
