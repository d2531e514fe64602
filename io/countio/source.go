// Package countio reads and writes counts of features by class: the parts of a run ([CreatePart]), and custom tables, which
// users supply ([ValidateTable]). A [Source] reads both.
package countio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Source is where counts are: the parts of a run, or a custom table.
type Source struct {
	Dir   string // the output folder of the run; empty for a custom table
	Table string // the name of the custom table

	Rehash bool // the run has an older table format, whose feature_id uses another hash
}

// IDOf returns the feature_id of a feature in the current table format.
func (s Source) IDOf(f *Feature, name []byte) int64 {
	if s.Rehash {
		return identityOf(string(name)).featureID()
	}
	return f.ID
}

// Each calls visit with every feature of a part, or of the custom table, in the order of [Source.Open].
func (s Source) Each(ctx context.Context, part string, classes *Classes, visit func(*Feature) error) (err error) {
	r, err := s.Open(ctx, part, classes)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	for {
		f, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(f); err != nil {
			return err
		}
	}
}

// Open opens a part, whose features are sorted by feature_id and name, or the custom table, whose features come as the
// table has them. New classes are added to classes. Wide tables are streamed, long tables are held in memory.
func (s Source) Open(ctx context.Context, part string, classes *Classes) (*Reader, error) {
	return s.open(ctx, part, classes, false)
}

// OpenSorted is Open, but a custom table is sorted like a part, in memory. Sources can then be merged by feature_id and
// name, unless one of them has the Rehash flag.
func (s Source) OpenSorted(ctx context.Context, part string, classes *Classes) (*Reader, error) {
	return s.open(ctx, part, classes, true)
}

func (s Source) open(ctx context.Context, part string, classes *Classes, sorted bool) (*Reader, error) {
	if s.Table == "" {
		return openReader(ctx, fileio.Join(s.Dir, part), &partReader{ctx: ctx, classes: classes})
	}
	return openReader(ctx, s.Table, &tableReader{numbered: classes, sorted: sorted})
}

// Reader reads features one by one. It is used by one goroutine.
type Reader struct {
	file     fileio.File
	features featureReader
}

// featureReader reads the features of one kind of file.
type featureReader interface {
	open(f fileio.File, info fileio.Info) error
	next() (*Feature, error)
	close()
}

func openReader(ctx context.Context, name string, features featureReader) (*Reader, error) {
	store, err := fileio.For(name)
	if err != nil {
		return nil, err
	}
	f, err := store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &Reader{f, features}
	info, err := f.Info()
	if err == nil {
		err = features.open(f, info)
	}
	if err != nil {
		_ = r.Close() // the first error is the cause
		return nil, err
	}
	return r, nil
}

// Next returns the next feature, which is valid until the next call, or [io.EOF]. After any other error there is no next
// feature. Damaged parts are a [*DamagedError], unusable custom tables a [*TableError].
func (r *Reader) Next() (*Feature, error) { return r.features.next() }

// Close closes the file.
func (r *Reader) Close() error {
	r.features.close()
	return r.file.Close()
}

// VerifyPart compares the size and the checksum of a part with those that were published. It reads the whole file, and
// hashes 1.3 GB/s.
func (s Source) VerifyPart(ctx context.Context, part tableio.FileSum) error {
	name := fileio.Join(s.Dir, part.Name)
	got, err := tableio.Checksum(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DamagedError{name, errors.New("the file is missing")}
	case err != nil:
		return err
	case got.Size != part.Size:
		return &DamagedError{name, fmt.Errorf("the file has %d bytes, but %d were published", got.Size, part.Size)}
	case got.SHA256 != part.SHA256:
		return &DamagedError{name, errors.New("checksum mismatch: the file has changed since it was published")}
	}
	return nil
}

// DamagedError is a part that does not have what a run writes. A retry does not help.
type DamagedError struct {
	File string
	Err  error
}

// Error names the file.
func (e *DamagedError) Error() string { return fmt.Sprintf("%s: %v", e.File, e.Err) }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// Classes numbers class labels from 0, in the order in which they appear.
type Classes struct {
	Labels  []string
	numbers map[string]int32
}

// ClassesOf numbers labels in the order of the list.
func ClassesOf(labels []string) *Classes {
	c := &Classes{}
	for _, label := range labels {
		c.Number(label)
	}
	return c
}

// Number returns the number of a class. A new class gets the next number.
func (c *Classes) Number(label string) int32 {
	number, ok := c.numbers[label]
	if !ok {
		if c.numbers == nil {
			c.numbers = map[string]int32{}
		}
		number = int32(len(c.Labels))
		c.numbers[label] = number
		c.Labels = append(c.Labels, label)
	}
	return number
}

// Feature is a feature and its counts by class. Classes, Occurrences and Documents are parallel, sorted by class label.
// Classes without counts may be absent.
type Feature struct {
	ID                     int64
	Classes                []int32
	Occurrences, Documents []float64
	DocumentsKnown         bool // false: the source has one count, which is in Documents too

	name  []byte
	named bool
	names *partNames // has the name of a feature that is not named yet
	group int
	row   int64
}

// Name returns the name, which is valid as long as the feature. In a part the name may have to be read first.
func (f *Feature) Name() ([]byte, error) {
	if !f.named {
		name, err := f.names.at(f.group, f.row)
		if err != nil {
			return nil, err
		}
		f.name, f.named = append(f.name[:0], name...), true
	}
	return f.name, nil
}

// Counts appends the occurrences, or the documents.
func (f *Feature) Counts(counts []float64, documents bool) []float64 {
	if documents {
		return append(counts, f.Documents...)
	}
	return append(counts, f.Occurrences...)
}

// NewFeature returns a feature without counts.
func NewFeature(name []byte, id int64, documentsKnown bool) *Feature {
	f := &Feature{DocumentsKnown: documentsKnown}
	f.start(name, id)
	return f
}

func (f *Feature) start(name []byte, id int64) {
	f.name, f.named = append(f.name[:0], name...), true
	f.clear(id)
}

// startAt starts a feature of a part, whose name is read on demand.
func (f *Feature) startAt(group int, row int64, id int64) {
	f.group, f.row, f.named = group, row, false
	f.clear(id)
}

func (f *Feature) clear(id int64) {
	f.ID, f.Classes, f.Occurrences, f.Documents = id, f.Classes[:0], f.Occurrences[:0], f.Documents[:0]
}

func (f *Feature) add(class int32, occurrences, documents float64) {
	f.Classes = append(f.Classes, class)
	f.Occurrences = append(f.Occurrences, occurrences)
	f.Documents = append(f.Documents, documents)
}
