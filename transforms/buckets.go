package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

func init() {
	dofn.Register(&nameFn{})
	dofn.Register(&mergeNamesFn{})
}

// NameBuckets reads the documents again and finds the names of the features in the selected buckets. It takes a
// PCollection<[]byte> of ranges, and as side inputs one of Selected and one of ClassLists, and returns a
// PCollection<[]byte> of NamedBuckets. The parameters are those of CountFeatures, with HashBits. It panics if p is invalid.
func NameBuckets(s beam.Scope, ranges, selected, classes beam.PCollection, p CountParams) beam.PCollection {
	s = s.Scope("transforms.NameBuckets")
	mustBeValid("transforms.NameBuckets", p)
	names := &nameFn{Params: p, HashBits: p.HashBits}
	names.Params.HashBits = 0
	// The names of a bucket must be in one shard, so a shard is a range of buckets: their number is a power of two.
	for names.Params.Shards = 1; names.Params.Shards < min(p.Shards, 1<<p.HashBits); names.Params.Shards *= 2 {
	}
	blocks := beam.ParDo(s, names, ranges, beam.SideInput{Input: selected})
	return beam.ParDo(s, &mergeNamesFn{HashBits: p.HashBits, Job: p.Job}, beam.GroupByKey(s, blocks), beam.SideInput{Input: classes})
}

// nameFn is countFn for the features of the selected buckets, by name.
type nameFn struct {
	Params   CountParams
	HashBits int

	count countFn
}

func (f *nameFn) Setup() {
	f.count.Params, f.count.again = f.Params, true
	f.count.Setup()
}

func (f *nameFn) StartBundle(context.Context, func(*[]byte) bool, func(int, []byte)) {
	f.count.abandon()
}

func (f *nameFn) Teardown() { f.count.abandon() }

func (f *nameFn) ProcessElement(ctx context.Context, element []byte, selected func(*[]byte) bool, emit func(int, []byte)) error {
	if f.count.only == nil {
		f.count.only = kernel.NewBuckets(f.HashBits)
		err := each(selected, func(s selection.Selected) error {
			for _, feat := range s.Features {
				f.count.only.Add(feature.Key(feat.ID))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if f.count.only.Empty() {
		return nil
	}
	return f.count.ProcessElement(ctx, element, emit, nil)
}

func (f *nameFn) FinishBundle(ctx context.Context, _ func(*[]byte) bool, emit func(int, []byte)) error {
	return f.count.FinishBundle(ctx, emit, func([]byte) {}) // the totals are known
}

// mergeNamesFn finds the most frequent names of each bucket.
type mergeNamesFn struct {
	HashBits int
	Job      spill.Params

	job *spill.Job
}

func (f *mergeNamesFn) Setup() { f.job = spill.Open(f.Job) }

func (f *mergeNamesFn) ProcessElement(_ context.Context, shard int, next, lists func(*[]byte) bool, emit func([]byte)) error {
	classes, err := readClasses(lists)
	if err != nil || classes == nil {
		return err
	}
	in, err := collect(f.job, shard, block.FullKeys, classes, next)
	if err == nil {
		err = f.merge(in, emit)
	}
	if err != nil {
		return fmt.Errorf("names of shard %d: %w", shard, err)
	}
	return nil
}

// merge emits the names of the buckets of a shard, in pieces.
func (f *mergeNamesFn) merge(in shardInput, emit func([]byte)) error {
	sources, err := in.open()
	if err != nil {
		return err
	}
	var out NamedBuckets
	var b selection.Bucket
	size := 0 // of out, about
	endBucket := func() error {
		rows := b.Rows(f.HashBits)
		for _, row := range rows {
			size += len(row.Name) + 64
		}
		b, out.Rows = selection.Bucket{}, append(out.Rows, rows...)
		if size < MaxElement/2 {
			return nil
		}
		err := emitRecord(emit, out)
		out, size = NamedBuckets{}, 0
		return err
	}
	mask := block.KeyMask(f.HashBits)
	err = block.MergeSources(sources, len(in.classes.Labels), func(feat *block.Feature) error {
		if !b.Empty() && b.Key != feat.Key&mask {
			if err := endBucket(); err != nil {
				return err
			}
		}
		b.Key = feat.Key & mask
		b.Add(feat)
		return nil
	})
	if err == nil && !b.Empty() {
		err = endBucket()
	}
	if err != nil {
		return err
	}
	if err := in.done(); err != nil {
		return err
	}
	return emitRecord(emit, out)
}
