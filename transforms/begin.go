// Package transforms has the steps of the pipelines, one in each file. In the order of the data:
//
//	Begin           claims the output and splits the files into ranges
//	CountFeatures   ranges → count blocks by shard, and totals
//	SumTotals       totals → their sum, the list of all classes, and a verdict on the input
//	MergeCounts     count blocks → counts/part-NNNNN, and a histogram of counts
//	ReadCounts      existing counts → the same, without writing
//	Reconcile       totals and parts → a verdict, or the problems to solve
//	Solve           histogram → models
//	SelectFeatures  parts and models → the features of the supports
//	NameBuckets     ranges, read again → the names of the selected buckets, with --hash_bits
//	Commit          all of it → the other files, the manifest, and _SUCCESS
//
// Steps exchange bytes: count blocks, and the records of records.go. Only SumTotals, Reconcile, Solve and Commit run on one
// worker, and they see selected features only. A step writes below the output folder, which all workers share, under names
// that do not depend on the attempt; writing is idempotent.
package transforms

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/dofn"
)

func init() {
	dofn.Register(&beginFn{})
}

// BeginParams are the parameters of Begin.
type BeginParams struct {
	Run        modelio.Run
	Output     string
	RangeBytes int64 // the size of a range of an uncompressed file
	Reading    corpusio.Reading
}

// Begin claims the output folder for the run, so that nothing is written into another run's folder, and splits the files
// into ranges. It returns a PCollection<[]byte> of ranges, distributed over the workers.
func Begin(s beam.Scope, files []corpusio.File, p BeginParams) beam.PCollection {
	s = s.Scope("transforms.Begin")
	return beam.Reshuffle(s, beam.ParDo(s, &beginFn{p}, createChunks(s, files)))
}

// createChunks creates a PCollection<[]byte> of lists of at most a thousand values each.
func createChunks[T any](s beam.Scope, values []T) beam.PCollection {
	chunks, err := chunks(values)
	if err != nil {
		panic("transforms.createChunks: " + err.Error())
	}
	return beam.CreateList(s, chunks)
}

func chunks[T any](values []T) (chunks [][]byte, err error) {
	for some := range slices.Chunk(values, 1000) {
		lists, err := cut(some, func(list []T) []T { return list })
		if err != nil {
			return nil, err
		}
		for _, list := range lists {
			b, err := encode(list)
			if err != nil {
				return nil, err
			}
			chunks = append(chunks, b)
		}
	}
	return chunks, nil
}

type beginFn struct {
	Params BeginParams
}

func (f *beginFn) ProcessElement(ctx context.Context, chunk []byte, emit func([]byte)) error {
	if err := modelio.Claim(ctx, f.Params.Output, f.Params.Run); err != nil {
		return err
	}
	files, err := decode[[]corpusio.File](chunk)
	if err != nil {
		return err
	}
	for _, file := range files {
		ranges, err := corpusio.Split(ctx, file, f.Params.RangeBytes, f.Params.Reading)
		if err != nil {
			return err
		}
		for _, r := range ranges {
			if err := emitRecord(emit, r); err != nil {
				return err
			}
		}
	}
	return nil
}
