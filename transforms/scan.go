package transforms

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

// ScanParams say how documents are read by a step that does not count them.
type ScanParams struct {
	Reading corpusio.Reading // MaxRecordBytes is required
	Rejects Rejects          // which rejected records are kept
	Threads int              // goroutines that read in a bundle; default: one for each processor
}

// Validate returns an error that names the first invalid field.
func (p ScanParams) Validate() error {
	switch {
	case p.Reading.MaxRecordBytes < 1:
		return fmt.Errorf("invalid Reading.MaxRecordBytes: %d; it must be at least 1", p.Reading.MaxRecordBytes)
	case p.Threads < 0:
		return errors.New("invalid Threads: they must not be negative")
	}
	return nil
}

// visitor is what one goroutine does with documents. An error ends the work of all.
type visitor interface {
	// document takes a document, which is valid during the call. An *unusableError is a fault of the file.
	document(r corpusio.Range, d *corpusio.Document) error

	// endRange is called after the documents of each range, and end after the last range.
	endRange() error
	end() error
}

// scan is the part of a DoFn that reads ranges in several goroutines, each with a visitor of its own. Its totals have the
// documents, and as many tokens, in the class "". A step that writes returns Parts with the same sums.
type scan struct {
	again bool // the ranges are read a second time: no counter moves

	bytes, documents beam.Counter
	workers          *pool.Pool[corpusio.Range]
	sums             *sums
}

func (s *scan) setup() {
	s.bytes = beam.NewCounter(CounterNamespace, CounterBytes)
	s.documents = beam.NewCounter(CounterNamespace, CounterDocuments)
}

// abandon ends the work of a bundle. StartBundle and Teardown call it.
func (s *scan) abandon() {
	s.workers.Abandon()
	s.workers = nil
}

// process hands a range to the visitors. begin is called before the first range of a bundle, and start in each goroutine.
func (s *scan) process(ctx context.Context, p ScanParams, element []byte, begin func() error, start func(emit pool.Emitter) visitor, emit pool.Emitter) error {
	r, err := decode[corpusio.Range](element)
	if err != nil {
		return err
	}
	if s.workers == nil {
		if !s.again { // the first use creates a counter, which two goroutines must not do at once
			s.bytes.Inc(ctx, 0)
			s.documents.Inc(ctx, 0)
		}
		if err := begin(); err != nil {
			return err
		}
		s.sums = &sums{}
		s.workers = pool.Start(ctx, p.Threads, func(ctx context.Context, ranges iter.Seq[corpusio.Range], emit pool.Emitter) error {
			return s.read(ctx, p, ranges, start(emit))
		})
	}
	return s.workers.Do(r, emit)
}

// finish waits for the visitors and emits the totals.
func (s *scan) finish(emit pool.Emitter, emitTotals func([]byte)) error {
	if s.workers == nil {
		return nil
	}
	defer s.abandon()
	if err := s.workers.Finish(emit); err != nil {
		return err
	}
	return s.sums.emit(emitTotals)
}

// read is the work of one goroutine.
func (s *scan) read(ctx context.Context, p ScanParams, ranges iter.Seq[corpusio.Range], v visitor) error {
	documents := int64(0)
	var totals Totals
	for r := range ranges {
		read, err := readRange(ctx, r, p.Reading, p.Rejects, func(d *corpusio.Document) error {
			documents++
			return v.document(r, d)
		}, func(bytes, documents int64) {
			if !s.again {
				s.bytes.Inc(ctx, bytes)
				s.documents.Inc(ctx, documents)
			}
		})
		if err != nil {
			return err
		}
		if len(read.Headers) > 0 {
			return s.sums.refuse(Totals{Headers: read.Headers})
		}
		totals.add(read)
		if err := v.endRange(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := v.end(); err != nil {
		return err
	}
	totals.add(Totals{Classes: scanned(documents)})
	s.sums.add(totals)
	return nil
}

// scanned is how many documents were read. compareSums finds documents that are lost on the way: tokens are compared.
func scanned(documents int64) map[string]ClassTotal {
	return map[string]ClassTotal{"": {Documents: documents, Tokens: float64(documents)}}
}

// scannedPart sets the sums of a part that has so many of the documents.
func (p *Part) scanned(documents int64) {
	p.Classes, p.Sums = []int32{0}, []ClassTotal{{Tokens: float64(documents)}}
}
