package transforms

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// A shuffle transports count blocks (package block) and the records below, as bytes. A record is small, or is cut into
// pieces of at most MaxElement bytes: larger elements exhaust the heap of Flink and the memory of Prism.

// MaxElement is the maximum size in bytes of an element between two steps, unless a single record is larger.
const MaxElement = 1 << 20

// Totals is what a worker has read besides the features. Their sum does not depend on the order, once it is normalized.
type Totals struct {
	Verdict *modelio.Verdict // of SumTotals; set if nothing is to be published

	Classes      map[string]ClassTotal
	Drops        modelio.Drops
	Examples     []corpusio.Rejection                 // the first few, by file and offset
	OtherLabels  corpusio.LabelCounts                 // of Drops.OtherClasses
	ByFile       map[string]map[corpusio.Reason]int64 // rejections
	Rejected     []modelio.RejectedRow                // the first, see Rejects
	RejectedFile *tableio.FileSum                     // where SumTotals wrote them
	Spans        []corpusio.Span                      // ranges that were read
	Skipped      []corpusio.CorruptError              // files of which only the start was counted
	Corrupt      []corpusio.CorruptError              // the first few

	MoreLabels int64 // that documents have beyond their first; Classes counts a document once for each of its labels

	Weight int64 // how often documents count beyond once, see corpusio.Reading.WeightColumn

	RoundingLost int64 // see kernel.Rounding; what was rounded to zero is in Drops

	// These end the reading at once; the other fields are then incomplete.
	TooMany  bool                   // classes
	TooLarge bool                   // the values of a class
	Headers  []corpusio.HeaderError // the first few
}

// ClassTotal is the sum of a class. The numbers are integers, exact up to 2⁵³, or multiples of the unit of
// CountParams.Weights, exact up to 2⁵³ units, unless they come from a custom table.
type ClassTotal struct {
	Documents int64
	Tokens    float64
	Postings  float64
}

// maxExamples is the number of rejections, of corrupt files and of headers that are kept.
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
	t.MoreLabels += o.MoreLabels
	t.Weight += o.Weight
	t.Drops.BlankLines += o.Drops.BlankLines
	t.Drops.Headers += o.Drops.Headers
	t.Drops.OtherRecords += o.Drops.OtherRecords
	t.Drops.StopWords += o.Drops.StopWords
	t.Drops.Overlong += o.Drops.Overlong
	t.Drops.Replaced += o.Drops.Replaced
	t.Drops.OtherClasses.Documents += o.Drops.OtherClasses.Documents
	t.OtherLabels.Merge(o.OtherLabels)
	t.Drops.RoundedToZero += o.Drops.RoundedToZero
	t.RoundingLost += o.RoundingLost
	t.Examples = append(t.Examples, o.Examples...)
	if t.ByFile == nil {
		t.ByFile = map[string]map[corpusio.Reason]int64{}
	}
	for file, reasons := range o.ByFile {
		if t.ByFile[file] == nil {
			t.ByFile[file] = map[corpusio.Reason]int64{}
		}
		for reason, n := range reasons {
			t.ByFile[file][reason] += n
		}
	}
	if t.Rejected = append(t.Rejected, o.Rejected...); len(t.Rejected) > 2*maxRejected {
		t.Rejected = firstRejected(t.Rejected)
	}
	if t.RejectedFile == nil {
		t.RejectedFile = o.RejectedFile
	}
	t.Skipped = append(t.Skipped, o.Skipped...)
	t.Corrupt = append(t.Corrupt, o.Corrupt...)
	t.Spans = append(t.Spans, o.Spans...)
	t.TooMany = t.TooMany || o.TooMany
	t.Headers = append(t.Headers, o.Headers...)
	t.TooLarge = t.TooLarge || o.TooLarge
	if t.Verdict == nil {
		t.Verdict = o.Verdict
	}
}

// normalize sorts the lists, joins adjacent spans, and drops all but the first few examples.
func (t *Totals) normalize() {
	slices.SortFunc(t.Examples, func(a, b corpusio.Rejection) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
	t.Examples = t.Examples[:min(len(t.Examples), maxExamples)]
	t.OtherLabels.Trim()
	t.Rejected = firstRejected(t.Rejected)
	slices.SortFunc(t.Skipped, compareCorrupt)
	slices.SortFunc(t.Corrupt, compareCorrupt)
	t.Corrupt = t.Corrupt[:min(len(t.Corrupt), maxExamples)]
	slices.SortFunc(t.Headers, func(a, b corpusio.HeaderError) int { return cmp.Compare(a.File, b.File) })
	t.Headers = t.Headers[:min(len(t.Headers), maxExamples)]
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

func compareCorrupt(a, b corpusio.CorruptError) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Cause, b.Cause))
}

// pieces cuts the totals into pieces that add up to them.
func (t Totals) pieces() ([]Totals, error) {
	rest := t
	rest.Classes, rest.Spans, rest.OtherLabels.ByName, rest.ByFile, rest.Rejected, rest.Skipped = nil, nil, nil, nil, nil, nil
	classes, err := cut(slices.Sorted(maps.Keys(t.Classes)), func(labels []string) Totals {
		piece := Totals{Classes: map[string]ClassTotal{}}
		for _, label := range labels {
			piece.Classes[label] = t.Classes[label]
		}
		return piece
	})
	if err != nil {
		return nil, err
	}
	others, err := cut(slices.Sorted(maps.Keys(t.OtherLabels.ByName)), func(labels []string) Totals {
		piece := Totals{OtherLabels: corpusio.LabelCounts{ByName: map[string]int64{}}}
		for _, label := range labels {
			piece.OtherLabels.ByName[label] = t.OtherLabels.ByName[label]
		}
		return piece
	})
	if err != nil {
		return nil, err
	}
	files, err := cut(slices.Sorted(maps.Keys(t.ByFile)), func(files []string) Totals {
		piece := Totals{ByFile: map[string]map[corpusio.Reason]int64{}}
		for _, file := range files {
			piece.ByFile[file] = t.ByFile[file]
		}
		return piece
	})
	if err != nil {
		return nil, err
	}
	rejected, err := cut(t.Rejected, func(rows []modelio.RejectedRow) Totals { return Totals{Rejected: rows} })
	if err != nil {
		return nil, err
	}
	skipped, err := cut(t.Skipped, func(list []corpusio.CorruptError) Totals { return Totals{Skipped: list} })
	if err != nil {
		return nil, err
	}
	spans, err := cut(t.Spans, func(spans []corpusio.Span) Totals { return Totals{Spans: spans} })
	return slices.Concat([]Totals{rest}, classes, others, files, rejected, skipped, spans), err
}

func (t Totals) rejected() (n int64) {
	for _, lines := range t.Drops.Lines {
		n += lines
	}
	return n
}

// ClassList is a piece of the list of all classes. A class is numbered by its index in the sorted list.
type ClassList struct {
	Verdict   bool // the totals have one, and nothing is to be merged
	Labels    []string
	Documents int64 // of all classes; 0 in all pieces but one
}

// readClasses joins the pieces of a list. It returns nil after a verdict.
func readClasses(next func(*[]byte) bool) (*block.Classes, error) {
	classes, _, err := readClassesAndDocuments(next)
	return classes, err
}

func readClassesAndDocuments(next func(*[]byte) bool) (classes *block.Classes, documents int64, err error) {
	var all ClassList
	err = each(next, func(l ClassList) error {
		all.Verdict = all.Verdict || l.Verdict
		all.Labels = append(all.Labels, l.Labels...)
		all.Documents += l.Documents
		return nil
	})
	if err != nil || all.Verdict {
		return nil, 0, err
	}
	slices.Sort(all.Labels)
	classes, err = block.NewClasses(all.Labels)
	return classes, all.Documents, err
}

// Part is a part of the counts: its file and the sums of its rows.
type Part struct {
	tableio.FileSum
	Features int64

	// The numbers of the classes with counts in this part, and their sums.
	Classes []int32
	Sums    []ClassTotal

	Letters kernel.Letters // of its features; zero if the counts were read from files
	Damaged string         // the error, if it cannot be used

	// Of WriteEvaluation: why the data cannot be used, in which case there is no file, and what is to be said about them.
	Refused  string
	Warnings []string
}

// sum sets the sums, given those of all classes.
func (p *Part) sum(sums []ClassTotal) {
	for class, s := range sums {
		if s != (ClassTotal{}) {
			p.Classes, p.Sums = append(p.Classes, int32(class)), append(p.Sums, s)
		}
	}
}

// Reconciled is the result of Reconcile: the classes, totals and files of the counts, or a verdict. It is sent in Pieces
// pieces, whose lists are joined in the order of Piece.
type Reconciled struct {
	Piece, Pieces int

	Verdict  *modelio.Verdict // not nil if nothing is published
	Classes  []modelio.Class  // sorted by label
	Folds    []modelio.Class  // the classes by fold, see ReconcileParams.Folds
	Features int64            // of the counts; m unless features are pruned
	Inputs   []modelio.Input
	Drops    modelio.Drops
	Examples []corpusio.Rejection
	Rejected *tableio.FileSum        // of the rejected records
	Corrupt  []corpusio.CorruptError // the files of which only the start was counted
	Files    []tableio.FileSum       // the parts that were written
	Warnings []string

	MoreLabels int64 // see Totals
	Documents  int64 // with ReconcileParams.Scanned

	// Of PruneFeatures, which sets the plan first.
	Plan    *selection.PruningPlan
	Pruning *modelio.Pruning
}

// m returns the number of features to select from.
func (a Reconciled) m() int64 { return modelio.Manifest{Features: a.Features, Pruning: a.Pruning}.M() }

// pieces cuts the result into pieces, for joinReconciled.
func (a Reconciled) pieces() ([]Reconciled, error) {
	rest := a
	rest.Folds = nil
	rest.Classes, rest.Inputs, rest.Files, rest.Warnings, rest.Corrupt = nil, nil, nil, nil, nil
	classes, err := cut(a.Classes, func(list []modelio.Class) Reconciled { return Reconciled{Classes: list} })
	if err != nil {
		return nil, err
	}
	folds, err := cut(a.Folds, func(list []modelio.Class) Reconciled { return Reconciled{Folds: list} })
	if err != nil {
		return nil, err
	}
	inputs, err := cut(a.Inputs, func(list []modelio.Input) Reconciled { return Reconciled{Inputs: list} })
	if err != nil {
		return nil, err
	}
	files, err := cut(a.Files, func(list []tableio.FileSum) Reconciled { return Reconciled{Files: list} })
	if err != nil {
		return nil, err
	}
	corrupt, err := cut(a.Corrupt, func(list []corpusio.CorruptError) Reconciled { return Reconciled{Corrupt: list} })
	if err != nil {
		return nil, err
	}
	warnings, err := cut(a.Warnings, func(list []string) Reconciled { return Reconciled{Warnings: list} })
	all := slices.Concat([]Reconciled{rest}, classes, folds, inputs, files, corrupt, warnings)
	for i := range all {
		all[i].Piece, all[i].Pieces = i, len(all)
	}
	return all, err
}

// errNotReconciled is the error of a step that was run although Reconcile has failed, or whose input was lost.
var errNotReconciled = errors.New("received no reconciled totals")

// joinReconciled joins the pieces of one result, in any order.
func joinReconciled(next func(*[]byte) bool) (a Reconciled, err error) {
	var pieces []Reconciled
	if err := each(next, func(p Reconciled) error { pieces = append(pieces, p); return nil }); err != nil {
		return a, err
	}
	slices.SortFunc(pieces, func(a, b Reconciled) int { return cmp.Compare(a.Piece, b.Piece) })
	for i, p := range pieces {
		if p.Piece != i || p.Pieces != len(pieces) {
			return a, fmt.Errorf("received %d of %d pieces of the reconciled totals", len(pieces), p.Pieces)
		}
		if i == 0 {
			a = p
			continue
		}
		a.Classes, a.Inputs = append(a.Classes, p.Classes...), append(a.Inputs, p.Inputs...)
		a.Files, a.Warnings = append(a.Files, p.Files...), append(a.Warnings, p.Warnings...)
		a.Corrupt, a.Folds = append(a.Corrupt, p.Corrupt...), append(a.Folds, p.Folds...)
	}
	if len(pieces) == 0 {
		return a, errNotReconciled
	}
	return a, nil
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

// cut divides a list into records of at most MaxElement bytes each, unless a single value is larger.
func cut[T, R any](values []T, record func([]T) R) ([]R, error) {
	if len(values) == 0 {
		return nil, nil
	}
	r := record(values)
	b, err := encode(r)
	if err != nil || len(b) <= MaxElement || len(values) == 1 {
		return []R{r}, err
	}
	first, err := cut(values[:len(values)/2], record)
	if err != nil {
		return nil, err
	}
	second, err := cut(values[len(values)/2:], record)
	return append(first, second...), err
}

// emitRecords emits records, or returns err, the error of making them.
func emitRecords[T any](emit func([]byte), records []T, err error) error {
	for _, r := range records {
		if err == nil {
			err = emitRecord(emit, r)
		}
	}
	return err
}

func emitRecord(emit func([]byte), record any) error {
	b, err := encode(record)
	if err == nil {
		emit(b)
	}
	return err
}
