package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

func init() {
	register.DoFn6x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func([]byte), func([]byte), error](&mergeFn{})
	register.Iter1[[]byte]()
}

// MergeParams parameterise MergeCounts.
type MergeParams struct {
	Run     modelio.Run
	Output  string
	Shards  int
	Model   solver.Model // whose counts the histogram is of
	Threads int          // goroutines that merge in a bundle, each a shard; default: as many as there are processors

	HashBits, KeyBits int    // as in CountParams
	Area              string // as in CountParams
}

// MergeCounts adds up the blocks of each shard and writes them as counts/part-NNNNN-of-NNNNN.parquet.
// It takes a PCollection<KV<int, []byte>> of count blocks, and as side input one of ClassLists, and returns a
// PCollection<[]byte> of Parts and a PCollection<[]byte> of pieces of the histogram: none of either after a verdict.
func MergeCounts(s beam.Scope, blocks, classes beam.PCollection, p MergeParams) (parts, pieces beam.PCollection) {
	s = s.Scope("transforms.MergeCounts")
	return beam.ParDo2(s, &mergeFn{Params: p}, beam.GroupByKey(s, blocks), beam.SideInput{Input: classes})
}

type mergeFn struct {
	Params MergeParams

	merged  beam.Counter
	classes *block.Classes // nil after a verdict
	workers *workers
	guard   *modelio.Guard
}

func (f *mergeFn) Setup() { f.merged = beam.NewCounter(CounterNamespace, CounterMerged) }

func (f *mergeFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte), func([]byte)) {
	f.abandon()
}

func (f *mergeFn) Teardown() { f.abandon() }

func (f *mergeFn) abandon() {
	f.workers.abandon()
	f.workers = nil
}

func (f *mergeFn) ProcessElement(ctx context.Context, shard int, next, classes func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	if f.workers == nil {
		var err error
		if f.classes, err = readClasses(classes); err != nil {
			return err
		}
		f.merged.Inc(ctx, 0) // a counter is created by its first use, which must not happen in two goroutines at once
		f.workers = startWorkers(ctx, f.Params.Threads)
		f.guard = modelio.NewGuard(f.Params.Output, f.Params.Run)
	}
	if f.classes == nil {
		return nil
	}
	keys := kernel.Config{HashBits: f.Params.HashBits, KeyBits: f.Params.KeyBits}.Keys()
	in, err := collect(f.Params.Area, keys, f.classes, next)
	if err != nil {
		return fmt.Errorf("shard %d: %w", shard, err)
	}
	return f.workers.do(func(ctx context.Context, emit func(int, []byte)) error {
		part, hist, err := f.write(ctx, shard, in)
		if err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		if err := in.done(); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		hist.Pack(MaxElement, func(b []byte) { emit(1, b) })
		return emitRecord(func(b []byte) { emit(0, b) }, part)
	}, emitPart, emitPairs)
}

func (f *mergeFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	defer f.abandon()
	return f.workers.finish(emitPart, emitPairs)
}

// shownFeatures is how many features are merged before the counter moves.
const shownFeatures = 10_000

// write writes the part of one shard.
func (f *mergeFn) write(ctx context.Context, shard int, in shardInput) (Part, *histogram.Histogram, error) {
	sources, err := in.open(shard)
	if err != nil {
		return Part{}, nil, err
	}
	labels := in.classes.Labels
	w, err := countio.CreatePart(ctx, f.Params.Output, shard, f.Params.Shards, labels, f.guard.Check)
	if err != nil {
		return Part{}, nil, err
	}
	defer w.Abort()
	var part Part
	sums := make([]ClassTotal, len(labels))
	hist := histogram.New()
	var classes []int32
	var counts []float64
	err = block.MergeSources(sources, len(labels), func(feat *block.Feature) error {
		if at := feature.Shard(feat.Key, f.Params.Shards); at != shard {
			return fmt.Errorf("a block holds %q, which belongs to shard %d", feat.Name, at)
		}
		if part.Features++; part.Features%shownFeatures == 0 {
			if ctx.Err() != nil { // the runner has given the bundle up
				return context.Cause(ctx)
			}
			f.merged.Inc(ctx, shownFeatures)
		}
		classes, counts = classes[:0], counts[:0]
		for _, c := range feat.Counts {
			sums[c.Class].Tokens += float64(c.Occurrences)
			sums[c.Class].Postings += float64(c.Documents)
			classes = append(classes, int32(c.Class))
			counts = append(counts, f.Params.Model.Count(float64(c.Occurrences), float64(c.Documents)))
		}
		hist.Add(classes, counts)
		return w.Add(feat.Name, feature.ID(feat.Key), feat.Counts)
	})
	if err != nil {
		return Part{}, nil, err
	}
	part.sum(sums)
	if ctx.Err() != nil {
		return Part{}, nil, context.Cause(ctx)
	}
	f.merged.Inc(ctx, part.Features%shownFeatures)
	part.FileSum, err = w.Commit()
	return part, hist, err
}
