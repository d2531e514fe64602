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
)

// partReader reads a part by column. Names are most of it, and few of them are asked for: their pages are read then.
type partReader struct {
	name    string
	file    *parquetio.File
	classes *Classes
	visit   func(*Feature) error
	unique  bool // no two features have one id
	at      [documentsAt + 1]int
	groups  []parquet.RowGroup
	feature Feature
	started bool
}

func readPart(ctx context.Context, dir, part string, classes *Classes, visit func(*Feature) error) error {
	return fileio.With(ctx, fileio.Join(dir, part), func(f fileio.File, info fileio.Info) error {
		return readPartOf(ctx, f, info, classes, visit)
	})
}

func readPartOf(ctx context.Context, f fileio.File, info fileio.Info, classes *Classes, visit func(*Feature) error) error {
	r := partReader{name: info.Name, classes: classes, visit: visit, feature: Feature{DocumentsKnown: true}}
	if err := r.open(f, info.Size); err != nil {
		return err
	}
	defer r.feature.names.close()
	for group := range r.groups {
		if err := r.readGroup(ctx, group); err != nil {
			return err
		}
	}
	return r.show()
}

// open looks at the columns.
func (r *partReader) open(f fileio.File, size int64) (err error) {
	if r.file, err = parquetio.Open(f, size); err != nil {
		return unreadable(r.name, err)
	}
	if err := r.file.Do(r.findColumns); err != nil {
		return unreadable(r.name, err)
	}
	note, _ := r.file.Lookup(uniqueIDs) // missing in parts that were written before there was one
	r.unique = note == "true"
	r.groups = r.file.RowGroups()
	r.feature.names = &partNames{name: r.name, file: r.file, column: r.at[featureAt], group: -1}
	return nil
}

func (r *partReader) findColumns() error {
	for i, column := range parquet.SchemaOf(Row{}).Fields() {
		found, ok := r.file.Schema().Lookup(column.Name())
		if !ok {
			return fmt.Errorf("it has no column %q", column.Name())
		}
		if !found.Node.Required() || found.Node.Type().Kind() != column.Type().Kind() {
			return fmt.Errorf("the column %q is a %s", column.Name(), found.Node)
		}
		r.at[i] = found.ColumnIndex
	}
	return nil
}

func (r *partReader) readGroup(ctx context.Context, group int) error {
	var ids, counts, documents *partColumn[int64]
	var classes *partColumn[int32]
	err := r.file.Do(func() error {
		chunks := r.groups[group].ColumnChunks()
		ids, classes = newIntColumn(chunks[r.at[idAt]]), newClassColumn(chunks[r.at[classAt]], r.classes)
		counts, documents = newIntColumn(chunks[r.at[countAt]]), newIntColumn(chunks[r.at[documentsAt]])
		return nil
	})
	if err != nil {
		return unreadable(r.name, err)
	}
	defer func() { ids.close(); classes.close(); counts.close(); documents.close() }()
	fill := func() error { return cmp.Or(ids.fill(), classes.fill(), counts.fill(), documents.fill()) }
	for row, rows := int64(0), r.groups[group].NumRows(); row < rows; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.file.Do(fill); err != nil {
			return unreadable(r.name, err)
		}
		n := int(min(int64(len(ids.rest)), int64(len(classes.rest)), int64(len(counts.rest)), int64(len(documents.rest)), rows-row))
		if err := r.readRows(group, row, ids.take(n), classes.take(n), counts.take(n), documents.take(n)); err != nil {
			return err
		}
		row += int64(n)
	}
	return nil
}

// readRows reads rows of a group, of which row is the first.
func (r *partReader) readRows(group int, row int64, ids []int64, classes []int32, counts, documents []int64) error {
	f := &r.feature
	classes, counts, documents = classes[:len(ids)], counts[:len(ids)], documents[:len(ids)]
	for i, id := range ids {
		class, count, docs := classes[i], counts[i], documents[i]
		if count <= 0 || docs <= 0 || docs > count {
			name, err := f.names.at(group, row+int64(i))
			if err != nil {
				return err
			}
			return r.damaged("the feature %q has %d occurrences in %d documents of %s", name, count, docs, r.classes.Labels[class])
		}
		next := !r.started || id != f.ID
		if !r.unique {
			name, err := f.names.at(group, row+int64(i))
			if err != nil {
				return err
			}
			if next = next || !bytes.Equal(name, f.name); next {
				if err := r.show(); err != nil {
					return err
				}
				f.start(name, id)
			}
		} else if next {
			if err := r.show(); err != nil {
				return err
			}
			f.startAt(group, row+int64(i), id)
		}
		if r.started = true; !next && r.classes.Labels[f.Classes[len(f.Classes)-1]] >= r.classes.Labels[class] {
			return r.damaged("the classes of the feature with id %d are not in order", id)
		}
		f.add(class, float64(count), float64(docs))
	}
	return nil
}

// damaged is what is wrong with the part.
func (r *partReader) damaged(format string, args ...any) error {
	return &DamagedError{r.name, fmt.Errorf(format, args...)}
}

// unreadable is a damaged part, unless the storage failed.
func unreadable(name string, err error) error {
	if errors.As(err, new(*parquetio.InvalidError)) {
		return &DamagedError{name, err}
	}
	return named(name, err)
}

// show visits the feature, if there is one.
func (r *partReader) show() error {
	if !r.started {
		return nil
	}
	return r.visit(&r.feature)
}

// partColumn is what is left of a page of a column.
type partColumn[T any] struct {
	pages  parquet.Pages
	page   parquet.Page
	rest   []T
	decode func(parquet.Page) ([]T, error)
}

// fill goes to the next page, if nothing is left of this one.
func (c *partColumn[T]) fill() (err error) {
	for len(c.rest) == 0 {
		parquet.Release(c.page)
		if c.page, err = c.pages.ReadPage(); err == io.EOF {
			return io.ErrUnexpectedEOF // there are rows left
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
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *partColumn[T]) close() {
	parquet.Release(c.page)
	_ = c.pages.Close() // it was read only
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

func newClassColumn(chunk parquet.ColumnChunk, classes *Classes) *partColumn[int32] {
	var buffer, numbers []int32 // of the classes, by their places in the dictionary of the column
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

// lookUp appends what stands at the given places of a dictionary.
func lookUp[T any](values []T, places []int32, dictionary []T) ([]T, error) {
	values = slices.Grow(values, len(places))
	for _, at := range places {
		if uint(at) >= uint(len(dictionary)) {
			return nil, fmt.Errorf("a page names value %d of a dictionary of %d", at, len(dictionary))
		}
		values = append(values, dictionary[at])
	}
	return values, nil
}

// partNames reads names, a page at a time, of rows that are asked for in their order.
type partNames struct {
	name   string // of the file
	file   *parquetio.File
	column int
	group  int // of the page; -1 before the first
	pages  *parquet.FilePages
	page   parquet.Page
	first  int64 // row of the page
	names  []byte
	ends   []uint32 // of the names; the first is the start
}

// at returns the name in a row, which is valid until the next is asked for.
func (n *partNames) at(group int, row int64) (name []byte, err error) {
	if i := row - n.first; group != n.group || i+1 >= int64(len(n.ends)) {
		if err := n.read(group, row); err != nil {
			return nil, unreadable(n.name, err)
		}
	}
	i := row - n.first
	return n.names[n.ends[i]:n.ends[i+1]], nil
}

// read reads the page that has the row.
func (n *partNames) read(group int, row int64) (err error) {
	n.close()
	n.group, n.first, n.ends = group, row, nil
	if n.pages, err = n.file.Seek(group, n.column, row); err != nil {
		return err
	}
	return n.file.Do(func() (err error) {
		if n.page, err = n.pages.ReadPage(); err == io.EOF {
			return io.ErrUnexpectedEOF // there is the row
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
				return fmt.Errorf("a page of names is damaged")
			}
		}
		n.names, n.ends = names, ends
		return nil
	})
}

func (n *partNames) close() {
	parquet.Release(n.page)
	if n.page = nil; n.pages != nil {
		_ = n.pages.Close() // it was read only
		n.pages = nil
	}
}
