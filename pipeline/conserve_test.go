package pipeline

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
)

func init() {
	dofn.Register(&tamperFn{})
}

// tamperFn damages one block between map and merge, or only counts the blocks.
type tamperFn struct {
	What string
}

// seen counts the blocks that have features, by shard. The DoFns of both local runners run in this process.
var seen struct {
	sync.Mutex
	blocks map[int]int
}

func (f *tamperFn) ProcessElement(shard int, b []byte, emit func(int, []byte)) {
	seen.Lock()
	defer seen.Unlock()
	first := len(seen.blocks) == 0
	empty := len(b) == len(block.Zero())
	if !empty {
		seen.blocks[shard]++
	}
	switch {
	case empty || !first:
		emit(shard, b)
	case f.What == "drop":
	case f.What == "double":
		emit(shard, b)
		emit(shard, b)
	case f.What == "panic":
		panic("one\ntwo")
	case f.What == "cut":
		emit(shard, b[:len(b)-1])
	case f.What == "elsewhere":
		emit((shard+1)%64, b)
	default:
		emit(shard, b)
	}
}

// runTampered is Train with a tamperFn in it.
func runTampered(runner Runner, dir string, d Documents, sel selection.Params, what string) error {
	seen.blocks = map[int]int{}
	run := NewRun("train", "test", &d, nil, &sel)
	return Run(context.Background(), runner, dir, run, func(s beam.Scope) {
		ranges := transforms.Begin(s, d.Files, transforms.BeginParams{Run: run, Output: dir, RangeBytes: d.Tuning.rangeBytes()})
		p := d.countParams(run)
		blocks, totals := transforms.CountFeatures(s, ranges, p)
		blocks = beam.ParDo(s, &tamperFn{what}, blocks)
		params := d.reconcileParams(run)
		params.Selection = true
		totals, classes := transforms.SumTotals(s, totals, params)
		parts, histogram := transforms.MergeCounts(s, blocks, classes, transforms.MergeParams{Job: p.Job, Run: run, Output: dir, Shards: d.Shards})
		reconciled := transforms.Reconcile(s, totals, parts, params)
		solved := transforms.Solve(s, reconciled, histogram, sel)
		selected := transforms.SelectFeatures(s, parts, solved, transforms.SelectParams{Source: countio.Source{Dir: dir}})
		transforms.Commit(s, reconciled, solved, selected, transforms.CommitParams{Run: run, Output: dir})
	}, func(Progress) {})
}

// Every token is accounted for: a block that is lost, doubled or damaged between map and merge fails the run.
func TestConservation(t *testing.T) {
	sel := choose(t, "", "10")
	for name, runner := range failingRunners {
		for what, want := range map[string]string{
			"drop":   "lost or duplicated",
			"double": "lost or duplicated",
			"cut":    "checksum",
			"panic":  "panic: one two (a bug; ",
			// The sums are the same, but a feature is in two parts.
			"elsewhere": "belongs to shard",
		} {
			dir := filepath.Join(t.TempDir(), "out")
			err := runTampered(runner, dir, documents(t, federalist), sel, what)
			if exitOf(err) != modelio.ExitFailed {
				t.Errorf("%s on %s: exit %d, %v", what, name, exitOf(err), err)
			}
			contains(t, err, want)
			checkNothingPublished(t, dir)
		}
		dir := filepath.Join(t.TempDir(), "out")
		if err := runTampered(runner, dir, documents(t, federalist), sel, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// flushing is so little memory that the corpus of these tests flushes the table more than 20 times.
const flushing = 100_000

func TestTablesAreFlushed(t *testing.T) {
	d := documents(t, spread(t, corpus(t), 6, ""))
	d.Tuning = Tuning{RangeBytes: 4 << 10, MemoryBytes: flushing, BlockBytes: 4 << 10, Threads: 2}
	for name, runner := range failingRunners {
		if err := runTampered(runner, filepath.Join(t.TempDir(), "out"), d, choose(t, "", "10"), ""); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for shard := range d.Shards {
			if n := seen.blocks[shard]; n < 20 {
				t.Errorf("%s: shard %d is merged from %d blocks, want 20 and more", name, shard, n)
			}
		}
	}
}
