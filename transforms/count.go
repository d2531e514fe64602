package transforms

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/pool"
	"github.com/sparsenb/sparsenb/transforms/spill"
	"github.com/sparsenb/sparsenb/tuning"
)

func init() {
	dofn.Register(&countFn{})
}

// CountParams are the parameters of CountFeatures and NameBuckets.
type CountParams struct {
	Job        spill.Params     // required
	Shards     int              // required; the number of partitions of the features
	Reading    corpusio.Reading // MaxRecordBytes is required
	Analyzer   kernel.Analyzer  // default: single words
	HashBits   int              // features are counted in 2^HashBits buckets; default: by name
	Rejects    Rejects          // which rejected records are kept
	StopWords  []string         // in lower case, if features are words or n-grams of words; default: none
	Weights    kernel.Weights   // what is added up; default: occurrences. Real values need features by name
	ForIDF     bool             // the documents are read again, by WeighFeatures, whose totals have the tokens and postings
	MaxClasses int              // reading ends when there are more; default: no limit
	Folds      tuning.Folds     // documents are counted by class and fold, see tuning.AppendLabel; default: by class

	// These change how the work is done, not its result.
	Threads    int // goroutines that count in a bundle; default: one for each processor, if the job's memory suffices
	BlockBytes int // of a count block; default: MaxElement
}

// Validate returns an error that names the first invalid field.
func (p CountParams) Validate() error {
	least, most := p.Analyzer.Sizes()
	switch err := p.Job.Validate(); {
	case err != nil:
		return err
	case p.Analyzer.Validate() != nil:
		return fmt.Errorf("invalid Analyzer: %w", p.Analyzer.Validate())
	case p.Shards < 1:
		return fmt.Errorf("invalid Shards: %d; it must be at least 1", p.Shards)
	case p.Reading.MaxRecordBytes < 1:
		return fmt.Errorf("invalid Reading.MaxRecordBytes: %d; it must be at least 1", p.Reading.MaxRecordBytes)
	case least > most:
		return fmt.Errorf("invalid Analyzer: n-grams of %d to %d", least, most)
	case p.Analyzer.NameBytes(p.Reading.MaxRecordBytes) > kernel.MaxNameBytes:
		return errors.New("invalid Reading.MaxRecordBytes: the Analyzer allows more than 2 GB of names in a document")
	case p.HashBits < 0 || p.HashBits > kernel.MaxHashBits:
		return fmt.Errorf("invalid HashBits: %d; it must be 0 to %d", p.HashBits, kernel.MaxHashBits)
	case len(p.StopWords) > 0 && p.Analyzer.Unit.Characters():
		return errors.New("invalid StopWords: they need an Analyzer of words")
	case p.Weights.Real() && p.HashBits > 0:
		return errors.New("invalid Weights: they need features by name")
	case p.Weights.Validate() != nil:
		return fmt.Errorf("invalid Weights: %w", p.Weights.Validate())
	case p.Folds.Number < 0 || p.Folds.Number > tuning.MaxFolds:
		return fmt.Errorf("invalid Folds.Number: %d; it must be at most %d", p.Folds.Number, tuning.MaxFolds)
	case p.MaxClasses < 0 || p.Threads < 0 || p.BlockBytes < 0:
		return errors.New("invalid MaxClasses, Threads or BlockBytes: they must not be negative")
	}
	return nil
}

// minTables is how much memory the tables of a goroutine should have: with less, they are flushed so often that a merge
// has more runs than it has memory for.
const minTables = 32 << 20

func (p CountParams) withDefaults() CountParams {
	if p.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
		if p.Job.MemoryBytes > 0 {
			p.Threads = max(1, min(p.Threads, p.Job.MemoryBytes/minTables))
		}
	}
	if p.BlockBytes == 0 {
		p.BlockBytes = MaxElement
	}
	return p
}

// Counters that move while a job runs, in the namespace CounterNamespace. CounterFeatures is an estimate.
const (
	CounterNamespace = "sparsenb"
	CounterBytes     = "bytes"
	CounterDocuments = "documents"
	CounterFeatures  = "features"
	CounterMerged    = "merged"
	CounterProblems  = "problems"
)

// CountFeatures counts, for every feature, how often it occurs in each class and in how many documents of the class.
// It takes a PCollection<[]byte> of ranges and returns a PCollection<KV<int, []byte>> of count blocks, keyed by shard,
// and a PCollection<[]byte> of totals. Every shard gets a block, even if it is empty.
// Counts are integers and their merge is associative and commutative, so the result does not depend on how the input was
// split. It panics if p is invalid.
func CountFeatures(s beam.Scope, ranges beam.PCollection, p CountParams) (blocks, totals beam.PCollection) {
	s = s.Scope("transforms.CountFeatures")
	mustBeValid("transforms.CountFeatures", p)
	return beam.ParDo2(s, &countFn{Params: p}, ranges)
}

// mustBeValid panics if a program builds a graph with invalid parameters.
func mustBeValid(name string, params interface{ Validate() error }) {
	if err := params.Validate(); err != nil {
		panic(name + ": " + err.Error())
	}
}

type countFn struct {
	Params CountParams

	again                      bool            // the ranges are read a second time: no counter moves
	only                       *kernel.Buckets // of NameBuckets, which counts only their features; else nil
	idf                        *kernel.IDF     // of WeighFeatures; else nil
	bytes, documents, features beam.Counter
	job                        *spill.Job
	workers                    *pool.Pool[corpusio.Range]
	found                      *found
}

// found is what the workers of one bundle have found together.
type found struct {
	sums
	distinct kernel.Sketch
	shown    int64 // by the counter of features
	labels   map[string]bool
}

func (f *countFn) Setup() {
	f.Params = f.Params.withDefaults()
	f.job = spill.Open(f.Params.Job)
	f.bytes = beam.NewCounter(CounterNamespace, CounterBytes)
	f.documents = beam.NewCounter(CounterNamespace, CounterDocuments)
	f.features = beam.NewCounter(CounterNamespace, CounterFeatures)
}

func (f *countFn) StartBundle(context.Context, func(int, []byte), func([]byte)) { f.abandon() }

func (f *countFn) Teardown() { f.abandon() }

func (f *countFn) abandon() {
	f.workers.Abandon()
	f.workers = nil
}

func (f *countFn) ProcessElement(ctx context.Context, element []byte, emitBlock func(int, []byte), _ func([]byte)) error {
	r, err := decode[corpusio.Range](element)
	if err != nil {
		return err
	}
	if f.workers == nil {
		if !f.again { // the first use creates a counter, which two goroutines must not do at once
			f.bytes.Inc(ctx, 0)
			f.documents.Inc(ctx, 0)
			f.features.Inc(ctx, 0)
		}
		f.found = &found{labels: map[string]bool{}}
		f.job.AddWorkers(f.Params.Threads) // before any starts: they share the memory
		f.workers = pool.Start(ctx, f.Params.Threads, f.count)
		for shard := range f.Params.Shards {
			emitBlock(shard, block.Zero())
		}
	}
	return f.workers.Do(r, emitBlock)
}

func (f *countFn) FinishBundle(_ context.Context, emitBlock func(int, []byte), emitTotals func([]byte)) error {
	if f.workers == nil {
		return nil
	}
	defer f.abandon()
	if err := f.workers.Finish(emitBlock); err != nil {
		return err
	}
	return f.found.emit(emitTotals)
}

// admit reports whether there may be a class of this label. Each worker asks once for each label.
func (f *found) admit(label string, most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.labels[label] && len(f.labels) == most {
		return false
	}
	f.labels[label] = true
	return true
}

// countWorker is the state of one goroutine: it counts documents in its own tables.
type countWorker struct {
	*countFn
	ctx     context.Context
	emit    pool.Emitter
	counter *kernel.Counter
	totals  Totals
	file    *spill.File
	tooMany bool // classes

	folded     [][]byte // labels with the fold of the document
	foldLabels []byte   // their bytes
}

// count is the work of one goroutine.
func (f *countFn) count(ctx context.Context, ranges iter.Seq[corpusio.Range], emit pool.Emitter) error {
	defer f.job.AddWorkers(-1)
	w := &countWorker{countFn: f, ctx: ctx, emit: emit, file: f.job.NewFile()}
	w.counter = w.newCounter()
	for r := range ranges {
		if err := w.read(ctx, r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := w.finish(); err != nil {
		return err
	}
	w.addCounted(w.counter.TakeTotals())
	f.found.add(w.totals)
	return nil
}

// addCounted adds the totals of the counter. Those of the two readings of WeighFeatures add up to one.
func (w *countWorker) addCounted(counted kernel.Totals) {
	if w.idf != nil {
		w.totals = Totals{Corrupt: w.totals.Corrupt} // such as values without a logarithm, which the first reading does not take
	}
	w.totals.add(Totals{Classes: map[string]ClassTotal{}})
	for label, c := range counted.Classes {
		total := ClassTotal{c.Documents, w.Params.Weights.Value(c.Tokens), float64(c.Postings)}
		if w.Params.ForIDF {
			total.Tokens, total.Postings = 0, 0
		} else if w.idf != nil {
			total.Documents = 0
		}
		w.totals.Classes[label] = total
	}
	if !w.Params.ForIDF {
		w.totals.Drops.RoundedToZero += counted.Rounding.Zero
		w.totals.RoundingLost += counted.Rounding.Lost
	}
	if w.idf == nil {
		w.totals.Drops.Replaced += counted.Replaced
		w.totals.Drops.Overlong += counted.Overlong
		w.totals.Drops.StopWords += counted.Stopped
	}
}

func (w *countWorker) newCounter() *kernel.Counter {
	config := kernel.Config{
		Analyzer: w.Params.Analyzer, HashBits: w.Params.HashBits, Only: w.only, MemoryBytes: w.job.TableBytes,
		Weights: w.Params.Weights, IDF: w.idf,
	}
	for _, word := range w.Params.StopWords {
		config.StopWords = append(config.StopWords, []byte(word))
	}
	if !w.again {
		config.Distinct = &w.found.distinct
	}
	if w.Params.MaxClasses > 0 {
		config.Admit = func(label string) bool {
			if w.Params.Folds.Number > 0 {
				label = tuning.LabelOf(label)
			}
			w.tooMany = !w.found.admit(label, w.Params.MaxClasses)
			return !w.tooMany
		}
	}
	return kernel.NewCounter(config)
}

// read counts the documents of one range.
func (w *countWorker) read(ctx context.Context, r corpusio.Range) error {
	read, err := readRange(ctx, r, w.Params.Reading, w.Params.Rejects, w.document, func(bytes, documents int64) { w.show(ctx, bytes, documents) })
	if err != nil {
		return err
	}
	if len(read.Headers) > 0 {
		return w.found.refuse(Totals{Headers: read.Headers})
	}
	w.totals.add(read)
	return nil
}

// document counts a document.
func (w *countWorker) document(d *corpusio.Document) error {
	if w.Params.Folds.Number > 0 {
		w.fold(d)
	}
	if d.Weight != 1 {
		if err := w.addWeighted(d); err != nil {
			return err
		}
	} else if err := w.add(d); errors.Is(err, kernel.ErrOverflow) {
		return w.found.refuse(Totals{TooLarge: true})
	} else if err != nil { // its values cannot be counted
		return &unusableError{err}
	}
	if w.counter.Full() {
		return w.makeRoom()
	}
	return nil
}

// fold adds the fold of a document to its labels.
func (w *countWorker) fold(d *corpusio.Document) {
	fold := w.Params.Folds.Of(d)
	w.folded, w.foldLabels = w.folded[:0], w.foldLabels[:0]
	for i := range 1 + len(d.MoreLabels) {
		label := d.Label
		if i > 0 {
			label = d.MoreLabels[i-1]
		}
		start := len(w.foldLabels)
		w.foldLabels = tuning.AppendLabel(w.foldLabels, fold, label)
		w.folded = append(w.folded, w.foldLabels[start:])
	}
	d.Label, d.MoreLabels = w.folded[0], w.folded[1:]
}

// add counts a document in each of its classes.
func (w *countWorker) add(d *corpusio.Document) error {
	w.totals.MoreLabels += int64(len(d.MoreLabels))
	if d.Features == nil {
		w.counter.Add(d.Label, d.Text)
		for _, label := range d.MoreLabels {
			w.counter.Add(label, d.Text)
		}
		return w.counter.Err()
	}
	err := w.counter.AddFeatures(d.Label, d.Features)
	for _, label := range d.MoreLabels {
		if err == nil {
			err = w.counter.AddFeatures(label, d.Features)
		}
	}
	return err
}

// addWeighted counts a document as often as its weight says.
func (w *countWorker) addWeighted(d *corpusio.Document) error {
	w.totals.Weight += int64(d.Weight) - 1
	w.totals.MoreLabels += int64(d.Weight) * int64(len(d.MoreLabels))
	for _, label := range append([][]byte{d.Label}, d.MoreLabels...) {
		for left := int64(d.Weight); left > 0; {
			n := min(left, w.counter.MaxWeight(d.Text))
			w.counter.AddWeighted(label, d.Text, n)
			if left -= n; left > 0 && w.counter.Full() {
				if err := w.makeRoom(); err != nil {
					return err
				}
			}
			if err := context.Cause(w.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *countWorker) show(ctx context.Context, bytes, documents int64) {
	if w.again {
		return
	}
	w.bytes.Inc(ctx, bytes)
	w.documents.Inc(ctx, documents)
	w.found.mu.Lock()
	defer w.found.mu.Unlock()
	if n := w.found.distinct.Estimate(); n > w.found.shown {
		w.features.Inc(ctx, n-w.found.shown)
		w.found.shown = n
	}
}

// makeRoom empties the tables, which are full, unless there are too many classes.
func (w *countWorker) makeRoom() error {
	if w.tooMany {
		return w.found.refuse(Totals{TooMany: true})
	}
	return w.flush()
}

// flush empties the tables: into blocks, or into a run in a temporary file.
func (w *countWorker) flush() error {
	if !w.job.Local() {
		return w.counter.Flush(w.Params.Shards, w.Params.BlockBytes, false, w.send)
	}
	run, err := w.file.Write(w.Params.Shards, w.counter.Keys(), func(emit func(int, []byte) error) error {
		return w.counter.Flush(w.Params.Shards, spill.BlockBytes, true, emit)
	})
	if err != nil {
		return err
	}
	return w.refer(run)
}

// finish sends what is in the tables. They stay in memory, as a run, if the job has room for it.
func (w *countWorker) finish() error {
	if !w.job.Local() || !w.job.Reserve(w.counter.Bytes()) {
		return w.flush()
	}
	return w.refer(w.counter.Take(w.Params.Shards))
}

// refer sends a reference to a run to every shard.
func (w *countWorker) refer(run spill.Run) error {
	reference := w.job.Add(run, w.Params.Shards)
	for shard := range w.Params.Shards {
		if err := w.send(shard, reference); err != nil {
			return err
		}
	}
	return nil
}

func (w *countWorker) send(shard int, b []byte) error {
	w.emit(shard, b)
	return context.Cause(w.ctx)
}
