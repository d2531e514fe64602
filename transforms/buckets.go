package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func(*[]byte) bool, func(int, []byte), error](&nameFn{})
	register.DoFn5x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func([]byte), error](&mergeNamesFn{})
}

// NameBuckets finds the names of the features whose buckets were selected, by reading the documents again. It takes a
// PCollection<[]byte> of ranges, and as side inputs one of Selected and one of ClassLists, and returns a
// PCollection<[]byte> of NamedBuckets.
func NameBuckets(s beam.Scope, ranges, selected, classes beam.PCollection, p CountParams) beam.PCollection {
	s = s.Scope("transforms.NameBuckets")
	names := &nameFn{Params: p, HashBits: p.HashBits}
	names.Params.HashBits = 0
	// A bucket's names are to meet, so that a shard is some of the buckets.
	for names.Params.Shards = 1; names.Params.Shards < min(p.Shards, 1<<p.HashBits); names.Params.Shards *= 2 {
	}
	blocks := beam.ParDo(s, names, ranges, beam.SideInput{Input: selected})
	return beam.ParDo(s, &mergeNamesFn{p.HashBits, p.Area}, beam.GroupByKey(s, blocks), beam.SideInput{Input: classes})
}

// nameFn is countFn for the features of some buckets, by name.
type nameFn struct {
	Params   CountParams
	HashBits int

	count countFn
}

func (f *nameFn) Setup() { f.count.Params = f.Params }

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
	Area     string
}

func (f *mergeNamesFn) ProcessElement(_ context.Context, shard int, next, lists func(*[]byte) bool, emit func([]byte)) error {
	classes, err := readClasses(lists)
	if err != nil || classes == nil {
		return err
	}
	in, err := collect(f.Area, block.FullKeys, classes, next)
	if err != nil {
		return fmt.Errorf("names of shard %d: %w", shard, err)
	}
	sources, err := in.open(shard)
	if err != nil {
		return fmt.Errorf("names of shard %d: %w", shard, err)
	}
	out := NamedBuckets{}
	size := 0
	var b selection.Bucket
	flush := func() error {
		rows := b.Rows(f.HashBits)
		for _, row := range rows {
			size += len(row.Name) + 64
		}
		if out.Rows = append(out.Rows, rows...); size < MaxElement/2 {
			return nil
		}
		err := emitRecord(emit, out)
		out, size = NamedBuckets{}, 0
		return err
	}
	mask := block.KeyMask(f.HashBits)
	err = block.MergeSources(sources, len(classes.Labels), func(feat *block.Feature) error {
		if key := feat.Key & mask; !b.Empty() && b.Key != key {
			if err := flush(); err != nil {
				return err
			}
			b = selection.Bucket{}
		}
		b.Key = feat.Key & mask
		b.Add(feat)
		return nil
	})
	if err != nil {
		return fmt.Errorf("names of shard %d: %w", shard, err)
	}
	if !b.Empty() {
		if err := flush(); err != nil {
			return err
		}
	}
	if err := in.done(); err != nil {
		return err
	}
	return emitRecord(emit, out)
}
