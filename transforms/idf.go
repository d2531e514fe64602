package transforms

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

func init() {
	dofn.Register(&idfFn{})
	dofn.Register(&weighFn{})
}

// WriteIDF adds up in how many documents each feature occurs, and writes the inverse document frequencies as
// idf/part-NNNNN-of-NNNNN.parquet. It takes a PCollection<KV<int, []byte>> of count blocks, and as side input one of
// ClassLists. It returns a PCollection<[]byte> of Parts, which have no features and no sums. It is empty after a verdict. Of
// the parameters it uses those that MergeCounts has, too, and Weights, which are those of the second reading. It panics if p
// is invalid.
func WriteIDF(s beam.Scope, blocks, classes beam.PCollection, p MergeParams) beam.PCollection {
	s = s.Scope("transforms.WriteIDF")
	mustBeValid("transforms.WriteIDF", p)
	return beam.ParDo(s, &idfFn{Params: p}, beam.GroupByKey(s, blocks), beam.SideInput{Input: classes})
}

type idfFn struct {
	Params MergeParams

	job       *spill.Job
	classes   *block.Classes // nil after a verdict
	documents int64          // of all classes
	workers   *pool.Pool[shardInput]
	guard     *modelio.Guard
}

func (f *idfFn) Setup() { f.job = spill.Open(f.Params.Job) }

func (f *idfFn) StartBundle(context.Context, func(*[]byte) bool, func([]byte)) { f.abandon() }

func (f *idfFn) Teardown() { f.abandon() }

func (f *idfFn) abandon() {
	f.workers.Abandon()
	f.workers = nil
}

func (f *idfFn) ProcessElement(ctx context.Context, shard int, next, classes func(*[]byte) bool, emit func([]byte)) error {
	if f.workers == nil {
		var err error
		if f.classes, f.documents, err = readClassesAndDocuments(classes); err != nil {
			return err
		}
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
	return f.workers.Do(in, pool.Outputs(emit))
}

func (f *idfFn) FinishBundle(_ context.Context, _ func(*[]byte) bool, emit func([]byte)) error {
	defer f.abandon()
	return f.workers.Finish(pool.Outputs(emit))
}

func (f *idfFn) merge(ctx context.Context, in shardInput, emit pool.Emitter) error {
	sum, err := f.write(ctx, in)
	if err == nil {
		err = in.done()
	}
	if err != nil {
		return fmt.Errorf("shard %d: %w", in.shard, err)
	}
	return emitRecord(func(b []byte) { emit(0, b) }, Part{FileSum: sum})
}

func (f *idfFn) write(ctx context.Context, in shardInput) (sum tableio.FileSum, err error) {
	sources, err := in.open()
	if err != nil {
		return sum, err
	}
	w, err := tableio.Create[countio.IDFRow](ctx, f.Params.Output, countio.IDFName(in.shard, f.Params.Shards), f.guard.Check)
	if err != nil {
		return sum, err
	}
	defer w.Abort()
	err = block.MergeSources(sources, len(in.classes.Labels), func(feat *block.Feature) error {
		row := countio.IDFRow{Feature: string(feat.Name), FeatureID: feature.ID(feat.Key)}
		for _, c := range feat.Counts {
			row.Documents += c.Documents
		}
		if !f.keep(row.Documents) {
			return nil
		}
		row.IDF = f.Params.Weights.IDF(row.Documents, f.documents)
		return w.Write(row)
	})
	if err != nil {
		return sum, err
	}
	if ctx.Err() != nil {
		return sum, context.Cause(ctx)
	}
	return w.Commit()
}

// keep reports whether a feature that is in so many documents gets a value. Other features are left out of the second
// reading, and of the norms.
func (f *idfFn) keep(documents int64) bool { return documents > 0 }

// WeighFeatures reads the documents again and adds up the values of their features. It takes a PCollection<[]byte> of
// ranges, and as side input one of the Parts of WriteIDF, and returns what CountFeatures returns. Its totals have only what
// those of CountFeatures with ForIDF lack. It panics if p is invalid.
func WeighFeatures(s beam.Scope, ranges, idf beam.PCollection, output string, p CountParams) (blocks, totals beam.PCollection) {
	s = s.Scope("transforms.WeighFeatures")
	mustBeValid("transforms.WeighFeatures", p)
	return beam.ParDo2(s, &weighFn{Params: p, Output: output}, ranges, beam.SideInput{Input: idf})
}

// weighFn is countFn for the values of features that have an inverse document frequency.
type weighFn struct {
	Params CountParams
	Output string

	count countFn
}

func (f *weighFn) Setup() {
	f.count.Params, f.count.again = f.Params, true
	f.count.Setup()
}

func (f *weighFn) StartBundle(context.Context, func(*[]byte) bool, func(int, []byte), func([]byte)) {
	f.count.abandon()
}

func (f *weighFn) Teardown() { f.count.abandon() }

func (f *weighFn) ProcessElement(ctx context.Context, element []byte, idf func(*[]byte) bool, emitBlock func(int, []byte), emitTotals func([]byte)) error {
	if f.count.workers == nil {
		var names []string
		if err := each(idf, func(p Part) error { names = append(names, p.Name); return nil }); err != nil {
			return err
		}
		if len(names) == 0 { // after a verdict
			return nil
		}
		table, err := f.count.job.Load(func() (any, int, error) { return f.load(ctx, names) })
		if err != nil {
			return err
		}
		f.count.idf = table.(*kernel.IDF)
	}
	return f.count.ProcessElement(ctx, element, emitBlock, emitTotals)
}

// load reads the inverse document frequencies.
func (f *weighFn) load(ctx context.Context, names []string) (table *kernel.IDF, bytes int, err error) {
	table = kernel.NewIDF()
	for _, name := range names {
		name = fileio.Join(f.Output, name)
		err := tableio.Read(ctx, name, func(row *countio.IDFRow) error {
			if row.Documents < 1 || !(row.IDF > 0) {
				return errors.New("a feature without documents, or without an idf above 0")
			}
			return table.Add([]byte(row.Feature), row.IDF)
		})
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	return table, table.Bytes(), nil
}

func (f *weighFn) FinishBundle(ctx context.Context, _ func(*[]byte) bool, emitBlock func(int, []byte), emitTotals func([]byte)) error {
	return f.count.FinishBundle(ctx, emitBlock, emitTotals)
}

// IDFNames returns the names of the files that WriteIDF writes.
func IDFNames(shards int) []string {
	names := make([]string, shards)
	for i := range names {
		names[i] = countio.IDFName(i, shards)
	}
	return names
}
