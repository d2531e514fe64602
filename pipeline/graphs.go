package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
)

// Train counts documents, selects features from the counts, and publishes both under output.
func Train(s beam.Scope, run modelio.Run, output string, d Documents, sel selection.Params) {
	audit := reconcileParams(run, d)
	audit.Selection, audit.Positive, audit.Strategy = true, sel.Positive, sel.Strategy
	c := count(s, run, output, d, sel, audit)
	audited := transforms.Reconcile(s, c.totals, c.parts, audit)
	from := transforms.SelectParams{Source: countio.Source{Dir: output}, Model: sel.Model, Threads: d.Tuning.Threads}
	solved, selected := selectFrom(s, audited, c.parts, c.histogram, from, sel)
	commit := transforms.CommitParams{Run: run, Output: output, Analyzer: d.analyzer()}
	if d.HashBits > 0 {
		named := transforms.NameBuckets(s, c.ranges, selected, c.classes, d.countParams(run))
		transforms.CommitBuckets(s, audited, solved, selected, named, commit)
	} else {
		transforms.Commit(s, audited, solved, selected, commit)
	}
}

// Count counts documents and publishes the counts under output.
func Count(s beam.Scope, run modelio.Run, output string, d Documents) {
	audit := reconcileParams(run, d)
	c := count(s, run, output, d, selection.Params{}, audit)
	audited := transforms.Reconcile(s, c.totals, c.parts, audit)
	transforms.CommitCounts(s, audited, transforms.CommitParams{Run: run, Output: output, Analyzer: d.analyzer()})
}

// Select selects features from counts and publishes them under output.
func Select(s beam.Scope, run modelio.Run, output string, c selection.Counts, sel selection.Params) {
	parts, histogram := transforms.ReadCounts(s, c.Files, transforms.ReadParams{
		Run: run, Output: output, Source: c.Source, Classes: c.Classes, Model: sel.Model, Threads: c.Threads,
	})
	audited := transforms.Reconcile(s, transforms.CreateTotals(s, c.Classes), parts, transforms.ReconcileParams{
		Run: run, Parts: transforms.FileNames(c.Files), Selection: true, Positive: sel.Positive, Strategy: sel.Strategy,
	})
	from := transforms.SelectParams{Source: c.Source, Model: sel.Model, Threads: c.Threads}
	solved, selected := selectFrom(s, audited, parts, histogram, from, sel)
	transforms.Commit(s, audited, solved, selected, transforms.CommitParams{Run: run, Output: output, Counts: &c.From, Analyzer: c.Analyzer})
}

// counted is what counting gives.
type counted struct{ ranges, parts, histogram, totals, classes beam.PCollection }

// count is the part of the graph that touches the text.
func count(s beam.Scope, run modelio.Run, output string, d Documents, sel selection.Params, audit transforms.ReconcileParams) (c counted) {
	full, _ := d.split()
	p := d.countParams(run)
	c.ranges = transforms.Begin(s, full, transforms.BeginParams{Run: run, Output: output, RangeBytes: d.Tuning.rangeBytes()})
	blocks, totals := transforms.CountFeatures(s, c.ranges, p)
	c.totals, c.classes = transforms.SumTotals(s, totals, audit)
	c.parts, c.histogram = transforms.MergeCounts(s, blocks, c.classes, transforms.MergeParams{
		Run: run, Output: output, Shards: d.Shards, Model: sel.Model, Threads: p.Threads, HashBits: p.HashBits, KeyBits: p.KeyBits, Area: p.Area,
	})
	return c
}

func (d Documents) countParams(run modelio.Run) transforms.CountParams {
	p := transforms.CountParams{
		Analyzer: d.Analyzer, HashBits: d.HashBits, StopWords: d.StopWords, Shards: d.Shards, MaxRecordBytes: d.MaxRecordBytes,
		MaxClasses: d.MaxClasses, Header: d.Header,
		Threads: d.Tuning.Threads, MemoryBytes: d.Tuning.MemoryBytes, BlockBytes: d.Tuning.BlockBytes, KeyBits: d.Tuning.KeyBits,
	}
	if d.Tuning.Spill {
		p.Area, p.TempDir = run.ID, d.Tuning.TempDir
	}
	return p
}

// selectFrom is the part of the graph that knows counts only.
func selectFrom(s beam.Scope, audited, parts, histogram beam.PCollection, from transforms.SelectParams, sel selection.Params) (solved, selected beam.PCollection) {
	solved = transforms.Solve(s, audited, histogram, selection.Params{
		Model: sel.Model, Method: sel.Method, Strategy: sel.Strategy, Smoothing: sel.Smoothing, Positive: sel.Positive, K: sel.K,
	})
	return solved, transforms.SelectFeatures(s, parts, solved, from)
}

func reconcileParams(run modelio.Run, d Documents) transforms.ReconcileParams {
	full, empty := d.split()
	p := transforms.ReconcileParams{
		Run: run, Parts: transforms.PartNames(d.Shards), Files: len(full), Empty: empty, MaxRejected: d.MaxRejected,
		MaxClasses: d.MaxClasses, Header: d.Header,
	}
	if len(full) > 0 {
		p.First = full[0]
	}
	return p
}

// split tells files with something in them from empty ones.
func (d Documents) split() (full, empty []corpusio.File) {
	for _, f := range d.Files {
		if f.Size > 0 {
			full = append(full, f)
		} else {
			empty = append(empty, f)
		}
	}
	return full, empty
}

func (t Tuning) rangeBytes() int64 {
	if t.RangeBytes == 0 {
		return 8 << 20
	}
	return t.RangeBytes
}
