package transforms

import (
	"context"
	"errors"
	"sync"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

// unusableError is a document that a step cannot use. It is a fault of the file.
type unusableError struct{ cause error }

func (e *unusableError) Error() string { return e.cause.Error() }

// readRange calls visit for every document of a range, and show every thousand documents and at the end. It returns what else
// it found. A file with wrong content is not an error, because a retry would not help: Totals.Corrupt and Totals.Headers have
// it. So has an *unusableError of visit; other errors of visit end the reading.
func readRange(ctx context.Context, r corpusio.Range, reading corpusio.Reading, rejects Rejects, visit func(*corpusio.Document) error, show func(bytes, documents int64)) (Totals, error) {
	var read Totals
	options := rejects.collect(&read)
	options.Reading = reading
	reader, err := corpusio.Open(ctx, r, options)
	if err != nil {
		return read, err
	}
	documents, shown := int64(0), int64(0)
	var d corpusio.Document
	for reader.Next(&d) {
		var unusable *unusableError
		if err := visit(&d); errors.As(err, &unusable) {
			read.Corrupt = append(read.Corrupt, *r.File.Fault(d.Offset, err.Error()))
			return read, reader.Abandon()
		} else if err != nil {
			return read, errors.Join(err, reader.Abandon())
		}
		if documents++; documents == 1000 {
			show(reader.BytesRead()-shown, documents)
			shown, documents = reader.BytesRead(), 0
			if err := context.Cause(ctx); err != nil {
				return read, errors.Join(err, reader.Abandon())
			}
		}
	}
	err = reader.Close()
	show(r.End-r.Start-shown, documents)
	var header *corpusio.HeaderError
	if errors.As(err, &header) {
		read.Headers = append(read.Headers, *header)
		return read, nil
	}
	var corrupt *corpusio.CorruptError
	if errors.As(err, &corrupt) {
		if reading.Skips(r.File) {
			read.Skipped = append(read.Skipped, *corrupt)
		} else {
			read.Corrupt = append(read.Corrupt, *corrupt)
		}
		err = nil
	}
	if err != nil {
		return read, err
	}
	read.Spans = []corpusio.Span{reader.Span()}
	skipped := reader.Skipped()
	read.Drops.BlankLines, read.Drops.Headers, read.Drops.OtherRecords = skipped.Blank, skipped.Headers, skipped.Records
	read.Drops.OtherClasses.Documents, read.OtherLabels = skipped.OtherClasses, skipped.OtherLabels
	return read, nil
}

// LabelsOf returns the labels of a document as counts and models have them; none if it has no label.
func LabelsOf(d *corpusio.Document) (labels []string) {
	if len(d.Label) == 0 {
		return nil
	}
	labels = append(labels, kernel.CleanLabel(d.Label))
	for _, label := range d.MoreLabels {
		labels = append(labels, kernel.CleanLabel(label))
	}
	return labels
}

// sums are the totals of the workers of one bundle.
type sums struct {
	mu      sync.Mutex
	totals  Totals
	refused *Totals // why the reading has ended early, if it has
}

func (s *sums) add(t Totals) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals.add(t)
}

// refuse ends the reading of an input that is wrong. Reconcile reports why, so it is not an error of the bundle.
func (s *sums) refuse(t Totals) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil {
		s.refused = &Totals{}
	}
	s.refused.add(t)
	return pool.ErrStop
}

// emit emits the totals in pieces, after the last worker has ended.
func (s *sums) emit(emit func([]byte)) error {
	totals := s.totals
	if s.refused != nil {
		totals = *s.refused
	}
	totals.normalize()
	pieces, err := totals.pieces()
	return emitRecords(emit, pieces, err)
}
