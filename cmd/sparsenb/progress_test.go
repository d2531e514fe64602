package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

func TestProgress(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	at := func(seconds int, p pipeline.Progress, r *reporter) {
		now = time.Date(2026, 11, 21, 9, 0, seconds, 0, time.UTC)
		r.update(p)
	}
	half := pipeline.Progress{Bytes: 50e6, Documents: 12_345, Features: 67_890}
	all := pipeline.Progress{Bytes: 100e6, Documents: 24_690, Features: 70_000}

	var b bytes.Buffer
	train := modelio.Run{Verb: "train"}
	r := startReporter(&b, train, 100e6, false, clock)
	at(1, half, r)  // too early for a line
	at(29, half, r) // still
	at(31, half, r)
	at(40, half, r)
	at(62, all, r)
	r.finish()
	want := "sparsenb: 2026-11-21T09:00:31Z read 50 MB of 100 MB (50 %), 1.6 MB/s, 12,345 documents, about 67,890 distinct words, 31s left\n" +
		"sparsenb: 2026-11-21T09:01:02Z read 100 MB, 24,690 documents, about 70,000 distinct words; merging and solving\n"
	if b.String() != want {
		t.Errorf("logged\n%swant\n%s", b.String(), want)
	}

	b.Reset()
	now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	r = startReporter(&b, train, 100e6, true, clock)
	at(0, pipeline.Progress{}, r)
	at(10, half, r)
	r.finish()
	want = "\r\x1b[Kread 0 B of 100 MB (0 %), 0 B/s, 0 documents, about 0 distinct words" +
		"\r\x1b[Kread 50 MB of 100 MB (50 %), 5.0 MB/s, 12,345 documents, about 67,890 distinct words, 10s left" +
		"\r\x1b[K"
	if b.String() != want {
		t.Errorf("drew\n%q\nwant\n%q", b.String(), want)
	}

	// An engine may report no counters.
	b.Reset()
	now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	r = startReporter(&b, train, 100e6, true, clock)
	at(20, pipeline.Progress{}, r)
	if want := "\r\x1b[Krunning for 20s; the engine has reported no progress yet"; b.String() != want {
		t.Errorf("without counters: %q", b.String())
	}

	b.Reset()
	r = startReporter(&b, modelio.Run{Verb: "select"}, 0, true, clock)
	at(11, pipeline.Progress{}, r)
	if b.String() != "\r\x1b[Ksolving" {
		t.Errorf("without documents: %q", b.String())
	}
	// The number of problems is known before they are solved.
	b.Reset()
	at(12, pipeline.Progress{Problems: 190}, r)
	if b.String() != "\r\x1b[Ksolving 190 problems" {
		t.Errorf("with problems: %q", b.String())
	}
	// Features are called n-grams or buckets, and the names of buckets need a second reading.
	for _, c := range []struct {
		run       modelio.Run
		now, then string
	}{
		{modelio.Run{Verb: "count", Options: map[string]string{"analyzer": "word", "ngrams": "1,2"}}, "about 67,890 distinct n-grams, ", "about 70,000 distinct n-grams; merging"},
		{modelio.Run{Verb: "train", Options: map[string]string{"analyzer": "char", "hash_bits": "20"}}, "about 67,890 buckets, ", "about 70,000 buckets; merging, solving, and reading the text again for bucket names"},
	} {
		b.Reset()
		r = startReporter(&b, c.run, 100e6, true, clock)
		at(10, half, r)
		if !strings.Contains(b.String(), c.now) {
			t.Errorf("%v: %q, want %q", c.run.Options, b.String(), c.now)
		}
		at(11, all, r)
		if !strings.HasSuffix(b.String(), c.then) {
			t.Errorf("%v: %q, want %q", c.run.Options, b.String(), c.then)
		}
	}
}
