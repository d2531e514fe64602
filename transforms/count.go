package transforms

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func(int, []byte), func([]byte), error](&countFn{})
	register.Emitter2[int, []byte]()
}

// CountParams parameterise CountFeatures.
type CountParams struct {
	Analyzer       kernel.Analyzer
	HashBits       int      // as in kernel.Config
	StopWords      []string // in lower case
	Shards         int
	MaxRecordBytes int
	MaxClasses     int // 0 means any number
	Header         corpusio.Header

	// What follows changes how the work is done, not its result. Zero stands for the default.
	Threads     int    // goroutines that count in a bundle; default: as many as there are processors
	MemoryBytes int    // of all tables of a process before they are flushed; default 256 MiB for each goroutine
	BlockBytes  int    // of a count block; default MaxElement
	Area        string // the job's package spill.Area for runs of counts; "" sends the counts themselves
	TempDir     string // of the area

	// KeyBits narrows the keys and drops the checks, so that tests see them collide.
	KeyBits int
}

func (p CountParams) withDefaults() CountParams {
	if p.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
		if p.MemoryBytes > 0 {
			p.Threads = max(1, min(p.Threads, p.MemoryBytes/leastTables))
		}
	}
	if p.BlockBytes == 0 {
		p.BlockBytes = MaxElement
	}
	return p
}

func (p CountParams) kernelConfig() kernel.Config {
	config := kernel.Config{Analyzer: p.Analyzer, HashBits: p.HashBits, KeyBits: p.KeyBits}
	for _, word := range p.StopWords {
		config.StopWords = append(config.StopWords, []byte(word))
	}
	return config
}

// leastTables is how much memory a goroutine's tables should have: with less, they are flushed so often that the runs are
// more than a merge has memory for.
const leastTables = 32 << 20

// counting is how many goroutines of this process count.
var counting atomic.Int64

// share is how much memory the tables of one goroutine may take, if runs take some already. Tables have half of it at
// least, as runs do at most: with none they would be flushed after every document.
func (p CountParams) share(held int) int {
	if p.MemoryBytes == 0 {
		return 256 << 20
	}
	return max(p.MemoryBytes-held, p.MemoryBytes/2) / max(1, int(counting.Load()))
}

// Counters that move while a job runs, in the namespace CounterNamespace. That of features is an estimate.
const (
	CounterNamespace = "sparsenb"
	CounterBytes     = "bytes"
	CounterDocuments = "documents"
	CounterFeatures  = "features"
	CounterMerged    = "merged"
	CounterProblems  = "problems"
)

// CountFeatures counts, for every feature, how often it occurs in each class and in how many of its documents.
// It takes a PCollection<[]byte> of ranges and returns a PCollection<KV<int, []byte>> of count blocks, keyed by shard,
// and a PCollection<[]byte> of totals. Every shard gets a block, be it an empty one.
// Counts are integers and a merge is associative and commutative, so the result does not depend on how the input was
// split.
func CountFeatures(s beam.Scope, ranges beam.PCollection, p CountParams) (blocks, totals beam.PCollection) {
	s = s.Scope("transforms.CountFeatures")
	return beam.ParDo2(s, &countFn{Params: p}, ranges)
}

// countFn counts with several goroutines, whatever the number of bundles: a local runner makes one of all ranges.
// ProcessElement hands them ranges and passes on the blocks that they have ready; FinishBundle waits for the rest.
type countFn struct {
	Params CountParams

	only                       *kernel.Buckets // if it is not nil, the counting is that of NameBuckets, which moves no counter
	bytes, documents, features beam.Counter
	bundle                     *countBundle
}

func (f *countFn) Setup() {
	f.bytes = beam.NewCounter(CounterNamespace, CounterBytes)
	f.documents = beam.NewCounter(CounterNamespace, CounterDocuments)
	f.features = beam.NewCounter(CounterNamespace, CounterFeatures)
}

func (f *countFn) StartBundle(context.Context, func(int, []byte), func([]byte)) { f.abandon() }

func (f *countFn) Teardown() { f.abandon() }

// abandon ends the goroutines of a bundle that the runner has given up.
func (f *countFn) abandon() {
	if f.bundle != nil {
		f.bundle.fail(errAbandoned)
		for range f.bundle.blocks { // until no goroutine does anything any more
		}
		f.bundle = nil
	}
}

func (f *countFn) ProcessElement(ctx context.Context, element []byte, emitBlock func(int, []byte), _ func([]byte)) error {
	r, err := decode[corpusio.Range](element)
	if err != nil {
		return err
	}
	if f.bundle == nil {
		f.bundle = f.start(ctx)
		for shard := range f.Params.Shards {
			emitBlock(shard, block.Zero())
		}
	}
	for {
		select {
		case f.bundle.ranges <- &r:
			return nil
		case b, ok := <-f.bundle.blocks:
			if !ok { // all goroutines have ended, which they do only with an error
				return f.bundle.cause()
			}
			emitBlock(b.shard, b.bytes)
		case <-f.bundle.ctx.Done():
			return f.bundle.cause()
		}
	}
}

func (f *countFn) FinishBundle(_ context.Context, emitBlock func(int, []byte), emitTotals func([]byte)) error {
	if f.bundle == nil {
		return nil
	}
	defer f.abandon()
	close(f.bundle.ranges)
	for b := range f.bundle.blocks {
		emitBlock(b.shard, b.bytes)
	}
	if err := f.bundle.cause(); err != nil {
		return err
	}
	totals := f.bundle.totals
	if f.bundle.refused != nil {
		totals = *f.bundle.refused
	}
	totals.normalise()
	pieces, err := totals.pieces()
	return emitRecords(emitTotals, pieces, err)
}

// countBundle is what the goroutines of one bundle share.
type countBundle struct {
	ranges chan *corpusio.Range
	blocks chan shardBlock
	ctx    context.Context // ends when a goroutine has failed, or the bundle was given up
	fail   context.CancelCauseFunc

	mu       sync.Mutex
	totals   Totals
	distinct kernel.Sketch
	reported int64 // features that the counter shows
	labels   map[string]bool
	refused  *Totals // what has ended the reading, if it is at fault
}

// errRefused ends the goroutines of a bundle whose documents are not worth reading on. It is no error of the bundle: what
// was found goes to the audit.
var errRefused = errors.New("the input is refused")

// refuse ends the reading.
func (b *countBundle) refuse(t Totals) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused == nil {
		b.refused = &Totals{}
	}
	b.refused.add(t)
	return errRefused
}

// admit reports whether there is room for a class. Each goroutine asks once about each label.
func (b *countBundle) admit(label string, most int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.labels[label] && len(b.labels) == most {
		return false
	}
	b.labels[label] = true
	return true
}

// cause is why the bundle has ended early, if that is an error.
func (b *countBundle) cause() error {
	if err := causeOf(b.ctx); !errors.Is(err, errRefused) {
		return err
	}
	return nil
}

type shardBlock struct {
	shard int
	bytes []byte
}

func (f *countFn) start(ctx context.Context) *countBundle {
	if f.only == nil { // a counter is created by its first use, which must not happen in two goroutines at once
		f.bytes.Inc(ctx, 0)
		f.documents.Inc(ctx, 0)
		f.features.Inc(ctx, 0)
	}
	ctx, fail := context.WithCancelCause(ctx)
	p := f.Params.withDefaults()
	b := &countBundle{
		ranges: make(chan *corpusio.Range, queueSize(p.Threads)), blocks: make(chan shardBlock), ctx: ctx, fail: fail, labels: map[string]bool{},
	}
	counting.Add(int64(p.Threads))
	var area *spill.Area
	if p.Area != "" {
		area = spill.Enter(p.Area, p.TempDir)
	}
	var wg sync.WaitGroup
	for range p.Threads {
		wg.Go(func() {
			defer catchPanic(b.fail)
			w := countWorker{fn: f, params: p, bundle: b, area: area}
			if err := w.run(ctx); err != nil {
				b.fail(err)
			}
		})
	}
	go func() {
		wg.Wait()
		counting.Add(-int64(p.Threads))
		close(b.blocks)
	}()
	return b
}

// next returns a range to read, and false if there are no more or the bundle has ended.
func (b *countBundle) next() (r *corpusio.Range, ok bool) {
	select {
	case <-b.ctx.Done():
		return r, false
	case r, ok = <-b.ranges:
		return r, ok
	}
}

// countWorker is one goroutine: it reads ranges and counts their documents in tables of its own.
type countWorker struct {
	fn      *countFn
	params  CountParams
	bundle  *countBundle
	counter *kernel.Counter
	totals  Totals

	area *spill.Area // nil if the counts themselves are sent
	file *spill.File

	tooMany bool // classes
}

func (w *countWorker) run(ctx context.Context) error {
	config := w.params.kernelConfig()
	if config.Only = w.fn.only; config.Only == nil {
		config.Distinct = &w.bundle.distinct
	}
	if w.area != nil {
		w.file = w.area.NewFile()
	}
	config.MemoryBytes = func() int { return w.params.share(w.held()) }
	if w.params.MaxClasses > 0 {
		config.Admit = func(label string) bool {
			w.tooMany = !w.bundle.admit(label, w.params.MaxClasses)
			return !w.tooMany
		}
	}
	w.counter = kernel.NewCounter(config)
	for r, ok := w.bundle.next(); ok; r, ok = w.bundle.next() {
		if err := w.count(ctx, *r); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	counted := w.counter.TakeTotals()
	w.totals.add(Totals{Classes: map[string]ClassTotal{}})
	for label, c := range counted.Classes {
		w.totals.Classes[label] = ClassTotal{c.Documents, float64(c.Tokens), float64(c.Postings)}
	}
	w.totals.Drops.Replaced += counted.Replaced
	w.totals.Drops.Overlong += counted.Overlong
	w.totals.Drops.StopWords += counted.Stopped
	w.bundle.mu.Lock()
	defer w.bundle.mu.Unlock()
	w.bundle.totals.add(w.totals)
	return nil
}

// count reads one range. A file whose content is at fault is no error of the run's machinery: to try again would not
// help, so it goes to the audit as something found.
func (w *countWorker) count(ctx context.Context, r corpusio.Range) error {
	var read Totals
	rejected := map[corpusio.Reason]int64{}
	reader, err := corpusio.Open(ctx, r, corpusio.Options{
		MaxRecordBytes: w.params.MaxRecordBytes, Header: w.params.Header,
		Reject: func(rejection corpusio.Rejection) {
			if rejected[rejection.Reason]++; len(read.Examples) < maxExamples {
				read.Examples = append(read.Examples, rejection)
			}
		},
	})
	if err != nil {
		return err
	}
	documents, shown := int64(0), int64(0)
	var d corpusio.Document
	for reader.Next(&d) {
		w.counter.Add(d.Label, d.Text)
		if w.counter.Full() {
			if err := w.makeRoom(); err != nil {
				return errors.Join(err, reader.Abandon())
			}
		}
		if documents++; documents == 1000 {
			w.show(ctx, reader.BytesRead()-shown, documents)
			shown, documents = reader.BytesRead(), 0
			if err := context.Cause(ctx); err != nil {
				return errors.Join(err, reader.Abandon())
			}
		}
	}
	err = reader.Close()
	w.show(ctx, r.End-r.Start-shown, documents)
	var header *corpusio.HeaderError
	if errors.As(err, &header) {
		return w.bundle.refuse(Totals{Headers: []corpusio.HeaderError{*header}})
	}
	var corrupt *corpusio.CorruptError
	if errors.As(err, &corrupt) {
		read.Corrupt = append(read.Corrupt, *corrupt)
		err = nil
	}
	if err != nil {
		return err
	}
	read.Spans = []corpusio.Span{reader.Span()}
	read.Drops.Lines = rejected
	skipped := reader.Skipped()
	read.Drops.BlankLines, read.Drops.Headers = skipped.Blank, skipped.Headers
	w.totals.add(read)
	return nil
}

// show moves the counters.
func (w *countWorker) show(ctx context.Context, bytes, documents int64) {
	if w.fn.only != nil {
		return
	}
	w.fn.bytes.Inc(ctx, bytes)
	w.fn.documents.Inc(ctx, documents)
	w.bundle.mu.Lock()
	defer w.bundle.mu.Unlock()
	if n := w.bundle.distinct.Estimate(); n > w.bundle.reported {
		w.fn.features.Inc(ctx, n-w.bundle.reported)
		w.bundle.reported = n
	}
}

// makeRoom empties the tables, which are full, unless there is no room for more classes.
func (w *countWorker) makeRoom() error {
	if w.tooMany {
		return w.bundle.refuse(Totals{TooMany: true})
	}
	return w.flush()
}

// flush empties the tables.
func (w *countWorker) flush() error {
	p := w.params
	if w.area == nil {
		return w.counter.Flush(p.Shards, p.BlockBytes, false, w.send)
	}
	run, err := w.file.Write(p.Shards, p.kernelConfig().Keys(), func(emit func(int, []byte) error) error {
		return w.counter.Flush(p.Shards, spill.BlockBytes, true, emit)
	})
	if err != nil {
		return err
	}
	return w.refer(run)
}

// held is how much memory runs take already.
func (w *countWorker) held() int {
	if w.area == nil {
		return 0
	}
	return w.area.Held()
}

// finish is the last flush. Tables stay in memory as long as they leave half of it to another bundle: Prism makes one more
// when it finds the first slow.
func (w *countWorker) finish() error {
	if w.area == nil || !w.area.Reserve(w.counter.Bytes(), w.keep()) {
		return w.flush()
	}
	return w.refer(w.counter.Take(w.params.Shards))
}

// keep is how much memory runs may take.
func (w *countWorker) keep() int {
	if w.params.MemoryBytes == 0 {
		return math.MaxInt
	}
	return w.params.MemoryBytes / 2
}

// refer sends a reference to a run to every shard.
func (w *countWorker) refer(run spill.Run) error {
	reference := w.area.Add(run, w.params.Shards)
	for shard := range w.params.Shards {
		if err := w.send(shard, reference); err != nil {
			return err
		}
	}
	return nil
}

func (w *countWorker) send(shard int, b []byte) error {
	select {
	case w.bundle.blocks <- shardBlock{shard, b}:
		return nil
	case <-w.bundle.ctx.Done():
		return context.Cause(w.bundle.ctx)
	}
}
