package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// Train counts documents, selects features from the counts, and publishes both in the folder output. It panics if the
// parameters are invalid, see [Documents.Validate] and [selection.Params.Validate].
func Train(s beam.Scope, run modelio.Run, output string, d Documents, sel selection.Params) {
	mustBeValid("pipeline.Train", d.Validate(), sel.Validate(), sel.Pruning.ValidateFor(d.HashBits))
	audit := d.reconcileParams(run)
	audit.Selection, audit.Positive, audit.Strategy = true, sel.Positive, sel.Strategy

	counts := countDocuments(s, run, output, d, sel.CountsDocuments(), audit)
	audited := transforms.Reconcile(s, counts.totals, counts.files, audit)
	source, histogram := countio.Source{Dir: output}, counts.histogram
	audited, histogram = prune(s, audited, counts.parts, histogram, run, source, sel, d.Tuning.Threads)
	solved := transforms.Solve(s, audited, histogram, sel)
	selected := transforms.SelectFeatures(s, counts.parts, solved, transforms.SelectParams{
		Source: source, Counted: sel.Counted(), Pruning: sel.Pruning, Threads: d.Tuning.Threads,
	})
	commit := transforms.CommitParams{Run: run, Output: output, Analyzer: selectedBy(sel, d.analyzer())}
	if selection.Fitted(sel.Classifier) {
		fitted := transforms.FitClassifier(s, counts.ranges, solved, selected, transforms.FitParams{
			Run: run, Scan: d.scanAgain(), Analyzer: *commit.Analyzer, C: sel.C, Output: output, Shards: d.Shards, Job: d.countParams(run).Job,
		})
		solved = beam.Flatten(s, solved, fitted)
	}
	if d.HashBits == 0 {
		transforms.Commit(s, audited, solved, selected, commit)
		return
	}
	named := transforms.NameBuckets(s, counts.ranges, selected, counts.classes, d.countParams(run))
	transforms.CommitBuckets(s, audited, solved, selected, named, commit)
}

// Count counts documents and publishes the counts in the folder output. It panics if the parameters are invalid.
func Count(s beam.Scope, run modelio.Run, output string, d Documents) {
	mustBeValid("pipeline.Count", d.Validate())
	audit := d.reconcileParams(run)
	counts := countDocuments(s, run, output, d, false, audit)
	audited := transforms.Reconcile(s, counts.totals, counts.files, audit)
	transforms.CommitCounts(s, audited, transforms.CommitParams{Run: run, Output: output, Analyzer: d.analyzer()})
}

// Select selects features from counts and publishes them in the folder output. It panics if the parameters are invalid.
func Select(s beam.Scope, run modelio.Run, output string, c selection.Counts, sel selection.Params) {
	mustBeValid("pipeline.Select", sel.Validate())
	parts, histogram := transforms.ReadCounts(s, c.Files, transforms.ReadParams{
		Run: run, Output: output, Source: c.Source, Classes: c.Classes, Documents: sel.CountsDocuments(), Threads: c.Threads,
	})
	audited := transforms.Reconcile(s, transforms.CreateTotals(s, c.Classes), parts, transforms.ReconcileParams{
		Run: run, Parts: transforms.FileNames(c.Files), Selection: true, Positive: sel.Positive, Strategy: sel.Strategy,
	})
	audited, histogram = prune(s, audited, parts, histogram, run, c.Source, sel, c.Threads)
	solved := transforms.Solve(s, audited, histogram, sel)
	selected := transforms.SelectFeatures(s, parts, solved, transforms.SelectParams{Source: c.Source, Counted: sel.Counted(), Pruning: sel.Pruning, Threads: c.Threads})
	transforms.Commit(s, audited, solved, selected, transforms.CommitParams{Run: run, Output: output, Counts: &c.From, Analyzer: selectedBy(sel, c.Analyzer)})
}

// prune leaves features out of the histogram, if the selection has rules for that.
func prune(s beam.Scope, audited, parts, histogram beam.PCollection, run modelio.Run, source countio.Source, sel selection.Params, threads int) (beam.PCollection, beam.PCollection) {
	if !sel.Pruning.Any() {
		return audited, histogram
	}
	return transforms.PruneFeatures(s, audited, parts, transforms.PruneParams{
		Run: run, Source: source, Documents: sel.CountsDocuments(), Pruning: sel.Pruning, Smoothing: sel.Smoothing, Threads: threads,
	})
}

func mustBeValid(function string, errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(function + ": " + err.Error())
		}
	}
}

// documentCounts are the counts of documents: parts by name, their histogram, and the totals and labels of the classes. files
// are the parts and all other files that counting writes.
type documentCounts struct{ ranges, parts, histogram, totals, classes, files beam.PCollection }

// countDocuments is the part of the graph that reads the text.
func countDocuments(s beam.Scope, run modelio.Run, output string, d Documents, countsDocuments bool, audit transforms.ReconcileParams) (c documentCounts) {
	return countWith(s, run, output, d, d.countParams(run), countsDocuments, audit)
}

func countWith(s beam.Scope, run modelio.Run, output string, d Documents, p transforms.CountParams, countsDocuments bool, audit transforms.ReconcileParams) (c documentCounts) {
	files, _ := d.splitEmpty()
	audit.Output = output
	c.ranges = transforms.Begin(s, files, transforms.BeginParams{Run: run, Output: output, RangeBytes: d.Tuning.rangeBytes(), Reading: d.Reading})
	merge := transforms.MergeParams{
		Job: p.Job, Run: run, Output: output, Shards: d.Shards, Weights: p.Weights, Documents: countsDocuments, Threads: p.Threads,
		HashBits: p.HashBits,
	}
	if p.Weights.Scheme == kernel.TFIDF {
		return weighDocuments(s, c.ranges, output, d, p, merge, audit)
	}
	blocks, totals := transforms.CountFeatures(s, c.ranges, p)
	c.totals, c.classes = transforms.SumTotals(s, totals, audit)
	c.parts, c.histogram = transforms.MergeCounts(s, blocks, c.classes, merge)
	c.files = c.parts
	return c
}

// weighDocuments is the part of the graph that reads the text twice: for the documents of each feature, and for its values.
func weighDocuments(s beam.Scope, ranges beam.PCollection, output string, d Documents, p transforms.CountParams, merge transforms.MergeParams, audit transforms.ReconcileParams) documentCounts {
	c := documentCounts{ranges: ranges}
	first := p
	first.Weights, first.ForIDF = d.firstWeights(), true
	blocks, totals := transforms.CountFeatures(s, ranges, first)
	_, classes := transforms.SumTotals(s, totals, audit)
	idf := transforms.WriteIDF(s, blocks, classes, merge)
	blocks, more := transforms.WeighFeatures(s, ranges, idf, output, p)
	c.totals, c.classes = transforms.SumTotals(s, beam.Flatten(s, totals, more), audit)
	c.parts, c.histogram = transforms.MergeCounts(s, blocks, c.classes, merge)
	c.files = beam.Flatten(s, c.parts, idf)
	return c
}

func (d Documents) countParams(run modelio.Run) transforms.CountParams {
	return transforms.CountParams{
		Job:     spill.Params{ID: run.ID, Local: d.Tuning.Spill, MemoryBytes: d.Tuning.MemoryBytes, TempDir: d.Tuning.TempDir},
		Reading: d.Reading, Rejects: d.Rejects, Analyzer: d.Analyzer, HashBits: d.HashBits, StopWords: d.StopWords, Shards: d.Shards, MaxClasses: d.MaxClasses,
		Weights: d.weights(),
		Threads: d.Tuning.Threads, BlockBytes: d.Tuning.BlockBytes,
	}
}

func (d Documents) reconcileParams(run modelio.Run) transforms.ReconcileParams {
	files, empty := d.splitEmpty()
	p := transforms.ReconcileParams{
		Run: run, Parts: transforms.PartNames(d.Shards), Files: len(files), Empty: empty, MaxRejected: d.MaxRejected,
		Rejects: d.Rejects, MaxClasses: d.MaxClasses, Reading: d.Reading, Weights: d.weights(),
	}
	if p.Weights.Scheme == kernel.TFIDF {
		p.Parts = append(p.Parts, transforms.IDFNames(d.Shards)...)
	}
	if len(files) > 0 {
		p.First = files[0]
	}
	return p
}

func (d Documents) splitEmpty() (files, empty []corpusio.File) {
	for _, f := range d.Files {
		if f.Size > 0 {
			files = append(files, f)
		} else {
			empty = append(empty, f)
		}
	}
	return files, empty
}

func (t Tuning) rangeBytes() int64 {
	if t.RangeBytes == 0 {
		return 8 << 20
	}
	return t.RangeBytes
}
