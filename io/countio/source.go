package countio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/solver"
)

// Source is where counts are: the parts of a run under a folder, or a table of the user's own.
type Source struct {
	Dir string // of the run; empty for a table of the user's own
	Own string // the name of the table

	Rehash bool // the ids of the run are of an older hash
}

// IDOf returns the id that a feature with a name has in the tables that are written now.
func (s Source) IDOf(f *Feature, name []byte) int64 {
	if s.Rehash {
		return identityOf(string(name)).featureID()
	}
	return f.ID
}

// Each visits every feature of a part of the run, or of the table.
func (s Source) Each(ctx context.Context, part string, classes *Classes, visit func(*Feature) error) error {
	if s.Own != "" {
		return ReadOwn(ctx, s.Own, classes, visit)
	}
	return readPart(ctx, s.Dir, part, classes, visit)
}

// Check holds that a part is the file that was published. It reads all of it, and hashes 1.3 GB a second.
func (s Source) Check(ctx context.Context, part FileSum) error {
	name := fileio.Join(s.Dir, part.Name)
	got, err := Identify(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DamagedError{name, errors.New("is missing")}
	case err != nil:
		return err
	case got.Size != part.Size:
		return &DamagedError{name, fmt.Errorf("has %d bytes, and %d were published", got.Size, part.Size)}
	case got.SHA256 != part.SHA256:
		return &DamagedError{name, errors.New("is not the file that was published: its checksum differs")}
	}
	return nil
}

// Identify returns the size and the checksum of a file.
func Identify(ctx context.Context, name string) (sum FileSum, err error) {
	err = fileio.With(ctx, name, func(f fileio.File, info fileio.Info) error {
		hash := sha256.New()
		_, err := io.Copy(hash, io.NewSectionReader(f, 0, info.Size))
		sum = FileSum{Name: name, Size: info.Size, SHA256: hex.EncodeToString(hash.Sum(nil))}
		return err
	})
	return sum, err
}

// DamagedError is a part of a run that is not what a run writes. No other attempt will help.
type DamagedError struct {
	File string
	Err  error
}

// Error names the file.
func (e *DamagedError) Error() string { return fmt.Sprintf("%s: %v", e.File, e.Err) }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// Classes are the classes of features that are visited, numbered as they come.
type Classes struct {
	Labels  []string
	numbers map[string]int32
}

// ClassesOf numbers labels by their places in a list. Others that come are numbered after them.
func ClassesOf(labels []string) *Classes {
	c := &Classes{}
	for _, label := range labels {
		c.Number(label)
	}
	return c
}

// Number returns the number of a class, which it gets if it has none yet.
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

// Feature is a feature with its counts in the classes in which it has any, which come in the order of their labels. It
// is valid during a visit only.
type Feature struct {
	ID                     int64
	Classes                []int32
	Occurrences, Documents []float64 // by class; most tables of the user's own have one count for both
	DocumentsKnown         bool      // Documents are not the Occurrences again

	name  []byte
	names *partNames // where the name is, if it has not been read
	group int
	row   int64
	named bool
}

// Name returns the name, which is valid during the visit too. In a part of a run it may have to be read.
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

// Counts appends the counts that a model counts.
func (f *Feature) Counts(counts []float64, model solver.Model) []float64 {
	for i := range f.Classes {
		counts = append(counts, model.Count(f.Occurrences[i], f.Documents[i]))
	}
	return counts
}

func (f *Feature) start(name []byte, id int64) {
	f.name, f.named = append(f.name[:0], name...), true
	f.clear(id)
}

// startAt starts with a feature whose name is in a row.
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
