package transforms

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

func init() {
	dofn.Register(&mergeFn{})
}

// MergeParams are the parameters of MergeCounts.
type MergeParams struct {
	Job      spill.Params // required, as in CountParams
	Run      modelio.Run  // required
	Output   string       // required; a folder
	Shards   int          // required, as in CountParams
	HashBits int          // as in CountParams

	Weights   kernel.Weights // as in CountParams
	Documents bool           // the histogram has documents; default: occurrences

	Threads int // goroutines that merge in a bundle, each one shard at a time; default: one for each processor
}

// Validate returns an error that names the first invalid field.
func (p MergeParams) Validate() error {
	switch err := p.Job.Validate(); {
	case err != nil:
		return err
	case p.Run.ID == "" || p.Output == "":
		return errors.New("missing Run or Output")
	case p.Shards < 1:
		return fmt.Errorf("invalid Shards: %d; it must be at least 1", p.Shards)
	case p.HashBits < 0 || p.HashBits > kernel.MaxHashBits:
		return fmt.Errorf("invalid HashBits: %d; it must be 0 to %d", p.HashBits, kernel.MaxHashBits)
	case p.Threads < 0:
		return errors.New("invalid Threads: they must not be negative")
	}
	return nil
}

// MergeCounts adds up the blocks of each shard and writes them as counts/part-NNNNN-of-NNNNN.parquet.
// It takes a PCollection<KV<int, []byte>> of count blocks, and as side input one of ClassLists, and returns a
// PCollection<[]byte> of Parts and a PCollection<[]byte> of pieces of the histogram. Both are empty after a verdict.
// It panics if p is invalid.
func MergeCounts(s beam.Scope, blocks, classes beam.PCollection, p MergeParams) (parts, pieces beam.PCollection) {
	s = s.Scope("transforms.MergeCounts")
	mustBeValid("transforms.MergeCounts", p)
	return beam.ParDo2(s, &mergeFn{Params: p}, beam.GroupByKey(s, blocks), beam.SideInput{Input: classes})
}

type mergeFn struct {
	Params MergeParams

	merged  beam.Counter
	job     *spill.Job
	classes *block.Classes // nil after a verdict
	workers *pool.Pool[shardInput]
	guard   *modelio.Guard
}

func (f *mergeFn) Setup() {
	f.merged = beam.NewCounter(CounterNamespace, CounterMerged)
	f.job = spill.Open(f.Params.Job)
}

func (f *mergeFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte), func([]byte)) {
	f.abandon()
}

func (f *mergeFn) Teardown() { f.abandon() }

func (f *mergeFn) abandon() {
	f.workers.Abandon()
	f.workers = nil
}

func (f *mergeFn) ProcessElement(ctx context.Context, shard int, next, classes func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	if f.workers == nil {
		var err error
		if f.classes, err = readClasses(classes); err != nil {
			return err
		}
		f.merged.Inc(ctx, 0) // the first use creates a counter, which two goroutines must not do at once
		f.guard = modelio.NewGuard(f.Params.Output, f.Params.Run)
		f.workers = pool.Start(ctx, f.Params.Threads, pool.Each(f.merge))
	}
	if f.classes == nil {
		return nil
	}
	in, err := collect(f.job, shard, kernel.Keys(f.Params.HashBits), f.classes, next)
	if err != nil {
		return fmt.Errorf("shard %d: %w", shard, err)
	}
	return f.workers.Do(in, pool.Outputs(emitPart, emitPairs))
}

func (f *mergeFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emitPart, emitPairs func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emitPart, emitPairs))
}

func (f *mergeFn) merge(ctx context.Context, in shardInput, emit pool.Emitter) error {
	part, hist, err := f.write(ctx, in)
	if err == nil {
		err = in.done()
	}
	if err != nil {
		return fmt.Errorf("shard %d: %w", in.shard, err)
	}
	hist.Pack(MaxElement, func(b []byte) { emit(1, b) })
	return emitRecord(func(b []byte) { emit(0, b) }, part)
}

func (f *mergeFn) create(ctx context.Context, shard int, labels []string) (*countio.PartWriter, error) {
	p := f.Params
	if p.Weights.Real() && p.Weights.Exponent != 0 { // else they are integers
		return countio.CreateRealPart(ctx, p.Output, shard, p.Shards, labels, p.Weights.Value, f.guard.Check)
	}
	return countio.CreatePart(ctx, p.Output, shard, p.Shards, labels, f.guard.Check)
}

// shownFeatures is how many features are merged between two moves of the counter.
const shownFeatures = 10_000

// write merges the counts of one shard into its part.
func (f *mergeFn) write(ctx context.Context, in shardInput) (Part, *histogram.Histogram, error) {
	sources, err := in.open()
	if err != nil {
		return Part{}, nil, err
	}
	labels := in.classes.Labels
	w, err := f.create(ctx, in.shard, labels)
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
		if at := feature.Shard(feat.Key, f.Params.Shards); at != in.shard {
			return fmt.Errorf("a block has feature %q, which belongs to shard %d", feat.Name, at)
		}
		if part.Features++; part.Features%shownFeatures == 0 {
			if ctx.Err() != nil { // the runner has abandoned the bundle
				return context.Cause(ctx)
			}
			f.merged.Inc(ctx, shownFeatures)
		}
		classes, counts = classes[:0], counts[:0]
		occurrences := int64(0)
		for _, c := range feat.Counts {
			value, documents := f.Params.Weights.Value(c.Occurrences), float64(c.Documents)
			occurrences += int64(c.Occurrences)
			sums[c.Class].Tokens += value
			sums[c.Class].Postings += documents
			classes = append(classes, int32(c.Class))
			if f.Params.Documents {
				counts = append(counts, documents)
			} else {
				counts = append(counts, value)
			}
		}
		part.Letters.Add(feat.Name, occurrences)
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
