package countio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/parquetio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/solver"
)

// partReader reads a part by column. Names are most of a part and few are asked for, so their pages are read on demand.
type partReader struct {
	ctx      context.Context
	fileName string
	file     *parquetio.File
	classes  *Classes
	unique   bool // no two features have the same ID
	real     bool // the counts are a RealRow's
	at       [documentsAt + 1]int
	groups   []parquet.RowGroup

	group   int   // of the batch; -1 before the first
	left    int64 // rows of the group after the batch
	columns *partColumns
	batch   partBatch
	row     int // the next of the batch
	feature Feature
}

// partBatch is a run of rows that are in one page of every column. first is the number of its first row in the row group.
type partBatch struct {
	first                  int64
	ids, counts, documents []int64
	reals                  []float64 // in place of counts
	classes                []int32
}

// partColumns are the columns of a row group.
type partColumns struct {
	ids, counts, documents *partColumn[int64]
	reals                  *partColumn[float64] // in place of counts
	classes                *partColumn[int32]
}

func (r *partReader) open(f fileio.File, info fileio.Info) (err error) {
	r.fileName = info.Name
	if r.file, err = tableio.Open(f, info.Size); err != nil {
		return unreadable(r.fileName, err)
	}
	if err := r.file.Do(r.findColumns); err != nil {
		return unreadable(r.fileName, err)
	}
	note, _ := r.file.Lookup(uniqueIDs) // older parts do not have it
	r.unique = note == "true"
	r.group, r.groups = -1, r.file.RowGroups()
	r.feature = Feature{DocumentsKnown: true, names: &partNames{name: r.fileName, file: r.file, column: r.at[featureAt], group: -1}}
	return nil
}

func (r *partReader) findColumns() error {
	for i, column := range parquet.SchemaOf(Row{}).Fields() {
		found, ok := r.file.Schema().Lookup(column.Name())
		if !ok {
			return fmt.Errorf("column %q is missing", column.Name())
		}
		kind := found.Node.Type().Kind()
		if i == countAt && kind == parquet.Double {
			r.real, kind = true, parquet.Int64
		}
		if !found.Node.Required() || kind != column.Type().Kind() {
			return fmt.Errorf("column %q has the type %s", column.Name(), found.Node)
		}
		r.at[i] = found.ColumnIndex
	}
	return nil
}

// next returns the next feature: all consecutive rows with its ID and, unless IDs are unique, its name.
func (r *partReader) next() (*Feature, error) {
	f, b, started := &r.feature, &r.batch, false
	for {
		for i := r.row; i < len(b.ids); i++ {
			id, same := b.ids[i], false
			if r.unique {
				if same = started && id == f.ID; started && !same {
					r.row = i
					return f, nil
				}
				if !started {
					f.startAt(r.group, b.first+int64(i), id)
				}
			} else {
				name, err := r.name(i)
				if err != nil {
					return nil, err
				}
				if same = started && id == f.ID && bytes.Equal(name, f.name); started && !same {
					r.row = i
					return f, nil
				}
				if !started {
					f.start(name, id)
				}
			}
			if started = true; same && r.classes.Labels[f.Classes[len(f.Classes)-1]] >= r.classes.Labels[b.classes[i]] {
				return nil, r.damaged("the classes of the feature with ID %d are not sorted", id)
			}
			count, documents := r.count(i), b.documents[i]
			if !(count > 0) || documents <= 0 || !r.real && float64(documents) > count || r.real && !solver.InRange(count) {
				name, err := r.name(i)
				if err != nil {
					return nil, err
				}
				return nil, r.damaged("feature %q has %v occurrences in %d documents of class %s", name, count, documents, r.classes.Labels[b.classes[i]])
			}
			f.add(b.classes[i], count, float64(documents))
		}
		if err := r.readBatch(); err == io.EOF && started {
			return f, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// count returns the count in a row of the batch.
func (r *partReader) count(i int) float64 {
	if r.real {
		return r.batch.reals[i]
	}
	return float64(r.batch.counts[i])
}

// name returns the name in a row of the batch.
func (r *partReader) name(i int) ([]byte, error) {
	return r.feature.names.at(r.group, r.batch.first+int64(i))
}

func (r *partReader) readBatch() error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	first := r.batch.first + int64(len(r.batch.ids))
	r.row = len(r.batch.ids)
	for r.left == 0 {
		if r.group+1 == len(r.groups) {
			return io.EOF
		}
		r.group++
		r.left, first = r.groups[r.group].NumRows(), 0
		if err := r.file.Do(r.openColumns); err != nil {
			return unreadable(r.fileName, err)
		}
	}
	c := r.columns
	err := r.file.Do(func() error {
		return cmp.Or(c.ids.fill(), c.classes.fill(), c.counts.fill(), c.reals.fill(), c.documents.fill())
	})
	if err != nil {
		return unreadable(r.fileName, err)
	}
	n := int(min(int64(len(c.ids.rest)), int64(len(c.classes.rest)), int64(c.lenCounts()), int64(len(c.documents.rest)), r.left))
	r.left -= int64(n)
	r.batch = partBatch{
		first: first, ids: c.ids.take(n), counts: c.counts.take(n), reals: c.reals.take(n), documents: c.documents.take(n),
		classes: c.classes.take(n),
	}
	r.row = 0
	return nil
}

func (r *partReader) openColumns() error {
	r.closeColumns()
	chunks := r.groups[r.group].ColumnChunks()
	c := &partColumns{
		ids: newIntColumn(chunks[r.at[idAt]]), documents: newIntColumn(chunks[r.at[documentsAt]]),
		classes: newClassColumn(chunks[r.at[classAt]], r.classes),
	}
	if count := chunks[r.at[countAt]]; r.real {
		c.reals = newRealColumn(count)
	} else {
		c.counts = newIntColumn(count)
	}
	r.columns = c
	return nil
}

// lenCounts is the number of counts that are left of the page.
func (c *partColumns) lenCounts() int {
	if c.reals != nil {
		return len(c.reals.rest)
	}
	return len(c.counts.rest)
}

func (r *partReader) closeColumns() {
	if c := r.columns; c != nil {
		c.ids.close()
		c.counts.close()
		c.reals.close()
		c.documents.close()
		c.classes.close()
		r.columns = nil
	}
}

func (r *partReader) close() {
	r.closeColumns()
	if r.feature.names != nil {
		r.feature.names.close()
	}
}

func (r *partReader) damaged(format string, args ...any) error {
	return &DamagedError{r.fileName, fmt.Errorf(format, args...)}
}

// unreadable returns a *DamagedError, or the error of storage as it is: that one names the file, and a retry may help.
func unreadable(name string, err error) error {
	if errors.As(err, new(*parquetio.InvalidError)) || errors.As(err, new(*tableio.VersionError)) {
		return &DamagedError{name, err}
	}
	return err
}

// partColumn reads a column page by page; rest is the unread rest of the page. A nil column has no values.
type partColumn[T any] struct {
	pages  parquet.Pages
	page   parquet.Page
	rest   []T
	decode func(parquet.Page) ([]T, error)
}

// fill reads the next page if nothing is left of the current one.
func (c *partColumn[T]) fill() (err error) {
	if c == nil {
		return nil
	}
	for len(c.rest) == 0 {
		parquet.Release(c.page)
		if c.page, err = c.pages.ReadPage(); err == io.EOF {
			return io.ErrUnexpectedEOF // the row group has more rows
		}
		if err != nil {
			return err
		}
		if c.rest, err = c.decode(c.page); err != nil {
			return err
		}
		if n := c.page.NumValues(); n < int64(len(c.rest)) {
			c.rest = c.rest[:n]
		}
	}
	return nil
}

func (c *partColumn[T]) take(n int) []T {
	if c == nil {
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *partColumn[T]) close() {
	if c == nil {
		return
	}
	parquet.Release(c.page)
	_ = c.pages.Close() // it is only read
}

func newIntColumn(chunk parquet.ColumnChunk) *partColumn[int64] {
	var buffer []int64
	return &partColumn[int64]{pages: chunk.Pages(), decode: func(page parquet.Page) ([]int64, error) {
		data := page.Data()
		if page.Dictionary() == nil {
			return data.Int64(), nil
		}
		dictionary := page.Dictionary().Page().Data()
		var err error
		buffer, err = lookUp(buffer[:0], data.Int32(), dictionary.Int64())
		return buffer, err
	}}
}

func newRealColumn(chunk parquet.ColumnChunk) *partColumn[float64] {
	var buffer []float64
	return &partColumn[float64]{pages: chunk.Pages(), decode: func(page parquet.Page) ([]float64, error) {
		data := page.Data()
		if page.Dictionary() == nil {
			return data.Double(), nil
		}
		dictionary := page.Dictionary().Page().Data()
		var err error
		buffer, err = lookUp(buffer[:0], data.Int32(), dictionary.Double())
		return buffer, err
	}}
}

func newClassColumn(chunk parquet.ColumnChunk, classes *Classes) *partColumn[int32] {
	var buffer, numbers []int32 // numbers: of the classes, by dictionary index
	return &partColumn[int32]{pages: chunk.Pages(), decode: func(page parquet.Page) ([]int32, error) {
		data := page.Data()
		if page.Dictionary() == nil {
			buffer = classes.appendNumbers(buffer[:0], data)
			return buffer, nil
		}
		if numbers == nil {
			numbers = classes.appendNumbers(nil, page.Dictionary().Page().Data())
		}
		var err error
		buffer, err = lookUp(buffer[:0], data.Int32(), numbers)
		return buffer, err
	}}
}

// appendNumbers appends the numbers of labels.
func (c *Classes) appendNumbers(numbers []int32, labels encoding.Values) []int32 {
	data, ends := labels.ByteArray()
	for i := 1; i < len(ends); i++ {
		numbers = append(numbers, c.Number(string(data[ends[i-1]:ends[i]])))
	}
	return numbers
}

// lookUp appends the dictionary values with the given indexes.
func lookUp[T any](values []T, indexes []int32, dictionary []T) ([]T, error) {
	values = slices.Grow(values, len(indexes))
	for _, at := range indexes {
		if uint(at) >= uint(len(dictionary)) {
			return nil, fmt.Errorf("a page has the dictionary index %d, but the dictionary has %d values", at, len(dictionary))
		}
		values = append(values, dictionary[at])
	}
	return values, nil
}

// partNames reads names of rows in ascending order, a page at a time.
type partNames struct {
	name   string // of the file
	file   *parquetio.File
	column int
	group  int // of the page; -1 before the first
	pages  *parquet.FilePages
	page   parquet.Page
	first  int64 // the row of the first name
	names  []byte
	ends   []uint32 // of the names; the first element is the start of the first name
}

// at returns the name in a row, which is valid until the next call.
func (n *partNames) at(group int, row int64) (name []byte, err error) {
	if i := row - n.first; group != n.group || i+1 >= int64(len(n.ends)) {
		if err := n.read(group, row); err != nil {
			return nil, unreadable(n.name, err)
		}
	}
	i := row - n.first
	return n.names[n.ends[i]:n.ends[i+1]], nil
}

// read reads the page with the row.
func (n *partNames) read(group int, row int64) (err error) {
	n.close()
	n.group, n.first, n.ends = group, row, nil
	if n.pages, err = n.file.Seek(group, n.column, row); err != nil {
		return err
	}
	return n.file.Do(func() (err error) {
		if n.page, err = n.pages.ReadPage(); err == io.EOF {
			return io.ErrUnexpectedEOF // the row exists
		}
		if err != nil {
			return err
		}
		data := n.page.Data()
		names, ends := data.ByteArray()
		if len(ends) < 2 {
			return io.ErrUnexpectedEOF
		}
		for i := 1; i < len(ends); i++ {
			if ends[i] < ends[i-1] || int(ends[i]) > len(names) {
				return fmt.Errorf("a page of names has invalid offsets")
			}
		}
		n.names, n.ends = names, ends
		return nil
	})
}

func (n *partNames) close() {
	parquet.Release(n.page)
	if n.page = nil; n.pages != nil {
		_ = n.pages.Close() // it is only read
		n.pages = nil
	}
}
