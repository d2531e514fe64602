package transforms

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// What crosses a shuffle is a count block (package block) or one of the records below, as bytes. Each is small, or is
// cut into pieces of at most MaxElement bytes: larger elements exhaust the heap of Flink and the memory of Prism.

// MaxElement is the size in bytes that no element between two steps exceeds, but for a single large record.
const MaxElement = 1 << 20

// Totals is what a worker has read besides the features. Totals add up in any order to the same, once they are in
// normal form.
type Totals struct {
	Classes  map[string]ClassTotal
	Drops    modelio.Drops
	Examples []corpusio.Rejection    // the first few, by file and place
	Spans    []corpusio.Span         // what was read
	Corrupt  []corpusio.CorruptError // the first few
}

// ClassTotal sums a class. The numbers are integers, which a float64 holds exactly up to 2⁵³, unless they come from a
// table of the user's own.
type ClassTotal struct {
	Documents int64
	Tokens    float64
	Postings  float64
}

// maxExamples is how many rejections, and corrupt files, are remembered.
const maxExamples = 10

func (t *Totals) add(o Totals) {
	if t.Classes == nil {
		t.Classes = map[string]ClassTotal{}
	}
	for label, c := range o.Classes {
		s := t.Classes[label]
		t.Classes[label] = ClassTotal{s.Documents + c.Documents, s.Tokens + c.Tokens, s.Postings + c.Postings}
	}
	if t.Drops.Lines == nil {
		t.Drops.Lines = map[corpusio.Reason]int64{}
	}
	for reason, n := range o.Drops.Lines {
		t.Drops.Lines[reason] += n
	}
	t.Drops.BlankLines += o.Drops.BlankLines
	t.Drops.StopWords += o.Drops.StopWords
	t.Drops.Overlong += o.Drops.Overlong
	t.Drops.Replaced += o.Drops.Replaced
	t.Examples = append(t.Examples, o.Examples...)
	t.Corrupt = append(t.Corrupt, o.Corrupt...)
	t.Spans = append(t.Spans, o.Spans...)
}

// normalise sorts the lists, joins spans that follow each other, and forgets all but the first few examples.
func (t *Totals) normalise() {
	slices.SortFunc(t.Examples, func(a, b corpusio.Rejection) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
	t.Examples = t.Examples[:min(len(t.Examples), maxExamples)]
	slices.SortFunc(t.Corrupt, func(a, b corpusio.CorruptError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
	t.Corrupt = t.Corrupt[:min(len(t.Corrupt), maxExamples)]
	slices.SortFunc(t.Spans, func(a, b corpusio.Span) int {
		return cmp.Or(cmp.Compare(a.File.Name, b.File.Name), cmp.Compare(a.Start, b.Start))
	})
	joined := t.Spans[:0]
	for _, s := range t.Spans {
		if n := len(joined); n > 0 {
			if both, ok := corpusio.Join(joined[n-1], s); ok {
				joined[n-1] = both
				continue
			}
		}
		joined = append(joined, s)
	}
	t.Spans = joined
}

// split cuts totals with very many classes into pieces.
func (t Totals) split() []Totals {
	const classes = 10_000
	pieces := []Totals{}
	rest := t
	rest.Classes = map[string]ClassTotal{}
	for label, c := range t.Classes {
		rest.Classes[label] = c
		if len(rest.Classes) == classes {
			pieces = append(pieces, rest)
			rest = Totals{Classes: map[string]ClassTotal{}}
		}
	}
	return append(pieces, rest)
}

// rejected is how many lines were no documents.
func (t Totals) rejected() (n int64) {
	for _, lines := range t.Drops.Lines {
		n += lines
	}
	return n
}

// Part is a part of the counts, written or read: its file and the sums over its rows.
type Part struct {
	countio.FileSum
	Features int64
	Classes  map[string]ClassTotal
	Damaged  string // what is wrong with it, if it cannot be used
}

// Audited is the outcome of Audit: all there is to know before anything is solved.
type Audited struct {
	Verdict  *modelio.Verdict // set if nothing is to be published
	Classes  []modelio.Class  // sorted by label
	Features int64            // m
	Inputs   []modelio.Input
	Drops    modelio.Drops
	Examples []corpusio.Rejection
	Files    []countio.FileSum // the parts that were written
	Warnings []string
}

// Solved is a piece of what Solve has found; each element has one of the fields.
type Solved struct {
	Verdict  *modelio.Verdict
	Solution *Solution
	Path     []modelio.PathRow
	Warnings []string
}

// Selected are features of one model, as a part has found them.
type Selected struct {
	Model    modelio.Key
	Features []Feature
}

// Feature is a selected feature with its counts on the sides of the problem.
type Feature struct {
	Name   string
	ID     int64
	Counts []float64
}

// NamedBuckets are the names of some of the selected buckets.
type NamedBuckets struct {
	Rows []modelio.BucketRow
}

func encode(record any) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(record); err != nil {
		return nil, fmt.Errorf("encoding a %T: %w", record, err)
	}
	return b.Bytes(), nil
}

func decode[T any](b []byte) (record T, err error) {
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&record); err != nil {
		return record, fmt.Errorf("decoding a %T: %w", record, err)
	}
	return record, nil
}

// each decodes every record of an iterator of Beam.
func each[T any](next func(*[]byte) bool, visit func(T) error) error {
	var b []byte
	for next(&b) {
		record, err := decode[T](b)
		if err != nil {
			return err
		}
		if err := visit(record); err != nil {
			return err
		}
	}
	return nil
}

// only returns the one record of an iterator.
func only[T any](next func(*[]byte) bool) (record T, err error) {
	n := 0
	err = each(next, func(r T) error { record = r; n++; return nil })
	if err == nil && n != 1 {
		err = fmt.Errorf("%d records of %T where one was expected", n, record)
	}
	return record, err
}

func emitRecord(emit func([]byte), record any) error {
	b, err := encode(record)
	if err == nil {
		emit(b)
	}
	return err
}
