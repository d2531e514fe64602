// Package preview reads a sample of documents, to show how a run would read them, what it would cost, and which mistakes are
// likely. It writes nothing and knows no Beam.
package preview

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Params say what to read, and how. They are the parameters of a run.
type Params struct {
	Files       []corpusio.File
	Reading     corpusio.Reading
	Counting    kernel.Config // Distinct and Admit are not used
	MaxClasses  int
	MaxRejected MaxRejected // default: any number
	SampleBytes int64       // about how many stored bytes to read; default 16 MiB
}

// MaxRejected is how many malformed records a run tolerates.
type MaxRejected struct {
	Text     string // as given
	Exceeded func(rejected, records int64) bool
}

// Preview is what a sample shows.
type Preview struct {
	Files      []corpusio.File
	Bytes      int64      // of all files, as they are stored
	Examples   []Example  // the first documents
	Sample     Sample     // what was read
	Estimate   Estimate   // of a run over all files
	Problems   []Problem  // the fatal ones first
	Classes    []Class    // of the sample, the largest first
	Rejections []Rejected // of the sample, the most frequent first
}

// Sample is how much was read.
type Sample struct {
	Documents, Rejected, Bytes int64
	Whole                      bool // all of the input
	Features                   int64
}

// Example is a document as it was read. Features are its first ones, in the order of the text.
type Example struct {
	Source   string
	Offset   int64
	Labels   []string
	Text     string // its start
	Features []string
	Total    int64 // features
}

// Class is a class of the sample.
type Class struct {
	Label     string
	Documents int64
}

// Rejected is why records were rejected.
type Rejected struct {
	Reason  corpusio.Reason
	Records int64
	Example corpusio.Rejection // the first one
	Place   string             // where it is in its file, such as "byte 17"
}

// Estimate is an extrapolation from the sample: exact if the sample is the whole input, otherwise within a factor of two in
// our experience.
type Estimate struct {
	Documents, Features int64
	Memory              int64 // bytes of the counting, if nothing is spilled
	Seconds             float64
}

// The sizes of a preview.
const (
	sampleBytes = 16 << 20
	sampleRange = 256 << 10 // of a plain file
	expansion   = 4         // of text; files that are compressed better are read less far
	examples    = 5
	textBytes   = 200 // of an example
	features    = 12  // of an example
)

// Take reads a sample of the files.
func Take(ctx context.Context, p Params) (*Preview, error) {
	if p.SampleBytes == 0 {
		p.SampleBytes = sampleBytes
	}
	ranges, total, err := choose(ctx, p)
	if err != nil {
		return nil, err
	}
	t := &taker{params: p, preview: &Preview{Files: p.Files, Bytes: total}, classes: map[string]int64{}, rejected: map[corpusio.Reason]*Rejected{}}
	config := p.Counting
	config.Distinct, config.Admit = &t.distinct, nil
	if slices.ContainsFunc(p.Files, corpusio.File.IsMatrix) { // with values that need not be integers
		config.Weights = kernel.Weights{Scheme: kernel.Binary}
	}
	t.counter = kernel.NewCounter(config)
	start := time.Now()
	for i, r := range ranges {
		if err := t.read(ctx, r, p.SampleBytes/int64(len(ranges))); err != nil {
			return nil, err
		}
		if i == (len(ranges)-1)/2 {
			t.half = growth{t.sample().Documents, t.distinct.Estimate()}
		}
	}
	t.finish(time.Since(start))
	return t.preview, nil
}

// choose returns ranges that are evenly spread over the input.
func choose(ctx context.Context, p Params) (ranges []corpusio.Range, total int64, err error) {
	for _, f := range p.Files {
		total += f.Size
	}
	files := spread(p.Files, int(max(1, p.SampleBytes/sampleRange)))
	perFile := int(max(1, p.SampleBytes/sampleRange/int64(max(1, len(files)))))
	for _, f := range files {
		all, err := corpusio.Split(ctx, f, max(sampleRange, f.Size/1000), p.Reading)
		if err != nil {
			return nil, 0, err
		}
		ranges = append(ranges, spread(all, perFile)...)
	}
	return ranges, total, nil
}

// spread returns at most n values: all, or some at equal distances.
func spread[T any](values []T, n int) []T {
	if len(values) <= n {
		return values
	}
	some := make([]T, n)
	for i := range some {
		some[i] = values[i*len(values)/n]
	}
	return some
}

// growth is how many distinct features a number of documents has.
type growth struct{ documents, features int64 }

type taker struct {
	params   Params
	preview  *Preview
	counter  *kernel.Counter
	distinct kernel.Sketch
	half     growth
	classes  map[string]int64
	rejected map[corpusio.Reason]*Rejected
	empty    int64          // of the first documents, those without features
	letters  kernel.Letters // of the first documents
	short    bool           // a range was not read to its end
	header   *corpusio.HeaderError
	corrupt  []corpusio.CorruptError
	skipped  []corpusio.CorruptError // of these files, the documents before the damage count
}

func (t *taker) sample() *Sample { return &t.preview.Sample }

// read reads at most limit bytes of a range.
func (t *taker) read(ctx context.Context, r corpusio.Range, limit int64) error {
	reader, err := corpusio.Open(ctx, r, corpusio.Options{Reading: t.params.Reading, Reject: func(x corpusio.Rejection) { t.reject(r.File, x) }})
	if err != nil {
		return err
	}
	whole, text := true, int64(0)
	var d corpusio.Document
	for whole && reader.Next(&d) {
		if err := t.add(r.File, &d); err != nil {
			return errors.Join(err, reader.Abandon())
		}
		text += int64(len(d.Text))
		whole = max(reader.BytesRead(), text/expansion) <= max(limit, sampleRange)
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), reader.Abandon())
		}
	}
	read := reader.BytesRead()
	if !whole {
		t.short = true
		err = reader.Abandon()
	} else {
		err = reader.Close()
		read = r.End - r.Start
	}
	t.sample().Bytes += read
	var header *corpusio.HeaderError
	var corrupt *corpusio.CorruptError
	switch {
	case errors.As(err, &header):
		t.header = header
		return nil
	case errors.As(err, &corrupt) && t.params.Reading.Skips(r.File):
		t.skipped = append(t.skipped, *corrupt)
		return nil
	case errors.As(err, &corrupt):
		t.corrupt = append(t.corrupt, *corrupt)
		return nil
	}
	return err
}

func (t *taker) reject(f corpusio.File, r corpusio.Rejection) {
	t.sample().Rejected++
	if t.rejected[r.Reason] == nil {
		t.rejected[r.Reason] = &Rejected{Reason: r.Reason, Example: r, Place: f.Place(r.Offset)}
	}
	t.rejected[r.Reason].Records++
}

func (t *taker) add(f corpusio.File, d *corpusio.Document) error {
	t.sample().Documents++
	labels := []string{string(d.Label)}
	for _, label := range d.MoreLabels {
		labels = append(labels, string(label))
	}
	for _, label := range labels {
		t.classes[label]++
	}
	if i, ok := t.room(labels[0]); ok {
		t.preview.Examples = append(slices.Delete(t.preview.Examples, i, min(i+1, len(t.preview.Examples))), t.example(f, d, labels))
	}
	if d.Features != nil {
		return t.counter.AddFeatures(d.Label, d.Features)
	}
	if t.sample().Documents <= inspected {
		n := 0
		if kernel.EachFeature(t.params.Counting, d.Text, func(name []byte) { n++; t.letters.Add(name, 1) }); n == 0 {
			t.empty++
		}
	}
	t.counter.Add(d.Label, d.Text)
	return nil
}

// inspected is how many documents are checked for features.
const inspected = 1000

// room returns which example a document of this label replaces: none while there are few, and later one of a label that has
// several, so that the examples are of many classes.
func (t *taker) room(label string) (i int, ok bool) {
	list := t.preview.Examples
	if len(list) < examples {
		return len(list), true
	}
	if t.classes[label] > 1 {
		return 0, false
	}
	for i := len(list) - 1; i >= 0; i-- {
		if slices.ContainsFunc(list[:i], func(e Example) bool { return e.Labels[0] == list[i].Labels[0] }) {
			return i, true
		}
	}
	return 0, false
}

func (t *taker) example(f corpusio.File, d *corpusio.Document, labels []string) Example {
	e := Example{Source: f.Name, Offset: d.Offset, Labels: labels, Text: string(d.Text[:min(len(d.Text), textBytes)])}
	for _, v := range d.Features {
		if e.Total++; len(e.Features) < features {
			e.Features = append(e.Features, string(v.Name))
		}
	}
	if d.Features == nil {
		kernel.EachFeature(t.params.Counting, d.Text, func(name []byte) {
			if e.Total++; len(e.Features) < features {
				e.Features = append(e.Features, string(name))
			}
		})
	}
	return e
}

// finish extrapolates, and looks for mistakes.
func (t *taker) finish(elapsed time.Duration) {
	p, s := t.preview, t.sample()
	s.Features = t.distinct.Estimate()
	s.Whole = !t.short && s.Bytes >= p.Bytes && t.header == nil && len(t.corrupt) == 0
	t.summarize()
	factor := 1.0
	if !s.Whole && s.Bytes > 0 {
		factor = max(1, float64(p.Bytes)/float64(s.Bytes))
	}
	p.Estimate.Documents = int64(float64(s.Documents) * factor)
	vocabulary := math.Pow(factor, t.exponent())
	p.Estimate.Features = int64(float64(s.Features) * vocabulary)
	threads := float64(runtime.GOMAXPROCS(0))
	p.Estimate.Memory = baseMemory + int64(threads*float64(t.counter.Bytes())*vocabulary)
	p.Estimate.Seconds = startSeconds + elapsed.Seconds()*factor/threads
	p.Problems = t.problems()
}

// What a run takes without any document, as measured.
const (
	baseMemory   = 64 << 20
	startSeconds = 0.2
)

// exponent returns b of Heaps' law, by which n documents have about nᵇ distinct features, as the second half of the sample
// shows it.
func (t *taker) exponent() float64 {
	documents, features := t.sample().Documents, t.sample().Features
	if t.half.documents == 0 || t.half.features == 0 || documents <= t.half.documents {
		return 1
	}
	b := math.Log(float64(features)/float64(t.half.features)) / math.Log(float64(documents)/float64(t.half.documents))
	return min(max(b, 0), 1)
}
