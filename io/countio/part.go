package countio

import (
	"context"
	"fmt"
	"path"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Row is a feature in a class: a row of counts/part-NNNNN-of-NNNNN.parquet. Rows are sorted by feature_id, feature and
// class, within a part and from one part to the next.
//
// IDs grow in small steps, and classes and counts repeat: their encodings leave little to compress. Names are compressed.
// DELTA_LENGTH_BYTE_ARRAY stores their lengths separately: writing a part of bigrams takes 117 ns and 19.8 bytes a row,
// and 215 ns and 15.3 bytes with the lengths between the names.
type Row struct {
	Feature   string `parquet:"feature"` // DELTA_LENGTH_BYTE_ARRAY, see CreatePart
	FeatureID int64  `parquet:"feature_id,delta,uncompressed"`
	Class     string `parquet:"class,dict,uncompressed"`
	Count     int64  `parquet:"count,dict,uncompressed"`     // occurrences
	Documents int64  `parquet:"documents,dict,uncompressed"` // documents with at least one
}

// RealRow is a Row of a run that adds up real values: see --weights. A part has either.
type RealRow struct {
	Feature   string  `parquet:"feature"`
	FeatureID int64   `parquet:"feature_id,delta,uncompressed"`
	Class     string  `parquet:"class,dict,uncompressed"`
	Count     float64 `parquet:"count"` // a multiple of the run's unit
	Documents int64   `parquet:"documents,dict,uncompressed"`
}

// Column numbers.
const (
	featureAt = iota
	idAt
	classAt
	countAt
	documentsAt
)

// PartFolder is the folder of the parts, relative to the output folder.
const PartFolder = "counts"

// PartName returns the name of a part, relative to the output folder.
func PartName(part, parts int) string {
	return fmt.Sprintf(PartFolder+"/part-%05d-of-%05d.parquet", part, parts)
}

// ParsePartName is the inverse of [PartName].
func ParsePartName(name string) (part, parts int, err error) {
	if _, err := fmt.Sscanf(name, PartFolder+"/part-%d-of-%d.parquet", &part, &parts); err != nil || part < 0 || part >= parts || PartName(part, parts) != name {
		return 0, 0, fmt.Errorf("%s: is not the name of a part of the counts, such as %s", name, PartName(0, 64))
	}
	return part, parts, nil
}

// IsPart reports whether a name, relative to the output folder, is that of a part.
func IsPart(name string) bool {
	ok, err := path.Match(PartFolder+"/part-*-of-*.parquet", name)
	return ok && err == nil
}

// uniqueIDs is a key in the metadata of a part: "true" if no two features of the part have the same feature_id. A reader
// can then separate features without reading their names.
const uniqueIDs = "sparsenb.unique_feature_ids"

// PartWriter writes a part of the counts. It passes columns to parquet-go, which is faster than rows.
type PartWriter struct {
	out     *tableio.FileWriter
	labels  []parquet.Value
	table   partTable
	value   func(count int64) float64 // nil if the counts are integers
	batch   *batch
	rows    int64
	group   int64 // rows of the current row group
	bytes   int   // of names in the current row group
	started bool
	last    int64 // the ID of the last feature, if started
	shared  bool  // two features have the same ID
}

// partTable is the writer of a Row or a RealRow.
type partTable interface {
	ColumnWriters() []*parquet.ColumnWriter
	SetKeyValueMetadata(key, value string)
	Flush() error
	Close() error
}

// A batch ends at batchRows rows, or at batchBytes bytes of names.
const (
	batchRows  = 512
	batchBytes = 64 << 10
)

type batch struct {
	rows              int
	names             []byte         // of the features, concatenated
	starts, ends      [batchRows]int // of the names
	ids               [batchRows]int64
	classes           [batchRows]int // indexes into labels
	counts, documents [batchRows]int64
	values            [batchRows]parquet.Value // of one column
}

// batches are reused, because there are many small parts. Parquet writers are not: Reset of parquet-go v0.32.0 also clears
// the column names.
var batches = sync.Pool{New: func() any { return &batch{names: make([]byte, 0, batchBytes)} }}

// CreatePart starts to write part number part, from 0, under dir. held is checked again before the file appears.
func CreatePart(ctx context.Context, dir string, part, parts int, labels []string, held fileio.Held) (*PartWriter, error) {
	return createPart(ctx, dir, part, parts, labels, nil, held)
}

// CreateRealPart is CreatePart for a part with the values of counts.
func CreateRealPart(ctx context.Context, dir string, part, parts int, labels []string, value func(count int64) float64, held fileio.Held) (*PartWriter, error) {
	return createPart(ctx, dir, part, parts, labels, value, held)
}

func createPart(ctx context.Context, dir string, part, parts int, labels []string, value func(count int64) float64, held fileio.Held) (*PartWriter, error) {
	out, err := tableio.CreateFile(ctx, dir, PartName(part, parts), held)
	if err != nil {
		return nil, err
	}
	w := &PartWriter{out: out, value: value, batch: batches.Get().(*batch)}
	options := append(tableio.WriterOptions(),
		parquet.SortingWriterConfig(parquet.SortingColumns(
			parquet.Ascending("feature_id"), parquet.Ascending("feature"), parquet.Ascending("class"))),
		parquet.DataPageStatistics(false),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaLengthByteArray))
	if w.table = parquet.NewGenericWriter[Row](out, options...); value != nil {
		w.table = parquet.NewGenericWriter[RealRow](out, options...)
	}
	for _, label := range labels {
		w.labels = append(w.labels, parquet.ByteArrayValue([]byte(label)))
	}
	return w, nil
}

// Add adds a feature. Features must be sorted by ID and name, and counts by class label; Class is an index into labels.
func (w *PartWriter) Add(name []byte, id int64, counts []feature.Count) error {
	if w.started && id == w.last {
		w.shared = true
	}
	w.started, w.last = true, id
	b := w.batch
	if len(b.names)+len(name) > batchBytes {
		if err := w.flush(); err != nil {
			return err
		}
	}
	b.names = append(b.names, name...)
	for _, c := range counts {
		if b.rows == batchRows {
			if err := w.flush(); err != nil {
				return err
			}
			b.names = append(b.names, name...)
		}
		b.starts[b.rows], b.ends[b.rows] = len(b.names)-len(name), len(b.names)
		b.ids[b.rows] = id
		b.classes[b.rows] = c.Class
		b.counts[b.rows], b.documents[b.rows] = c.Occurrences, c.Documents
		b.rows++
	}
	return nil
}

func (w *PartWriter) flush() error {
	b := w.batch
	values := b.values[:b.rows]
	for at, column := range w.table.ColumnWriters() {
		switch at {
		case featureAt:
			for i := range values {
				values[i] = parquet.ByteArrayValue(b.names[b.starts[i]:b.ends[i]])
			}
		case idAt:
			setInts(values, &b.ids)
		case classAt:
			for i := range values {
				values[i] = w.labels[b.classes[i]]
			}
		case countAt:
			if w.value == nil {
				setInts(values, &b.counts)
				break
			}
			for i := range values {
				values[i] = parquet.DoubleValue(w.value(b.counts[i]))
			}
		case documentsAt:
			setInts(values, &b.documents)
		}
		if _, err := column.WriteRowValues(values); err != nil {
			return err
		}
	}
	n := int64(b.rows)
	w.bytes += len(b.names)
	b.rows, b.names = 0, b.names[:0]
	w.rows += n
	if w.group += n; w.group >= tableio.RowsPerGroup || w.bytes >= tableio.BytesPerGroup {
		w.group, w.bytes = 0, 0
		return w.table.Flush()
	}
	return nil
}

func setInts(values []parquet.Value, from *[batchRows]int64) {
	for i := range values {
		values[i] = parquet.Int64Value(from[i])
	}
}

// Commit finishes the part and makes it visible, as [tableio.FileWriter.Commit] does.
func (w *PartWriter) Commit() (tableio.FileSum, error) {
	if err := w.flush(); err != nil {
		return tableio.FileSum{}, err
	}
	batches.Put(w.batch)
	w.batch = nil
	w.table.SetKeyValueMetadata(uniqueIDs, fmt.Sprint(!w.shared))
	if err := w.table.Close(); err != nil {
		return tableio.FileSum{}, err
	}
	return w.out.Commit(w.rows)
}

// Abort removes what was written. After Commit it does nothing.
func (w *PartWriter) Abort() { w.out.Abort() }
