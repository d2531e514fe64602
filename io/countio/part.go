package countio

import (
	"context"
	"fmt"
	"path"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// Row is a feature in a class: a row of counts/part-NNNNN-of-NNNNN.parquet. Rows are sorted by feature_id, feature and
// class, within a part and from one part to the next.
//
// Ids grow in small steps, and classes and counts repeat: their encodings leave little for a compressor. Names are
// compressed. DELTA_LENGTH_BYTE_ARRAY has their lengths apart: to write a part of bigrams took 117 ns a row and 19.8
// bytes, where it took 215 ns and 15.3 bytes with the lengths among the names.
type Row struct {
	Feature   string `parquet:"feature"` // DELTA_LENGTH_BYTE_ARRAY, see CreatePart
	FeatureID int64  `parquet:"feature_id,delta,uncompressed"`
	Class     string `parquet:"class,dict,uncompressed"`
	Count     int64  `parquet:"count,dict,uncompressed"`     // occurrences
	Documents int64  `parquet:"documents,dict,uncompressed"` // documents with at least one
}

// The places of the columns.
const (
	featureAt = iota
	idAt
	classAt
	countAt
	documentsAt
)

// PartFolder is the folder of the parts, under the output folder.
const PartFolder = "counts"

// PartName is the name of a part under the output folder.
func PartName(part, parts int) string {
	return fmt.Sprintf(PartFolder+"/part-%05d-of-%05d.parquet", part, parts)
}

// IsPart reports whether a file under an output folder is a part, by its name.
func IsPart(name string) bool {
	ok, err := path.Match(PartFolder+"/part-*-of-*.parquet", name)
	return ok && err == nil
}

// uniqueIDs is the key of a note in the metadata of a part: whether each feature_id in it is that of one feature only.
// Where it is, a reader knows the features without their names.
const uniqueIDs = "sparsenb.unique_feature_ids"

// PartWriter writes a part of the counts. It hands parquet-go columns, of which it makes pages, rather than rows.
type PartWriter struct {
	out     *output
	labels  []parquet.Value
	table   *parquet.GenericWriter[Row]
	batch   *batch
	group   int64 // rows of the row group so far
	bytes   int   // of the names in it
	started bool
	last    int64 // the id of the last feature, if there is one
	shared  bool  // two features have one id
}

// Rows go to parquet-go in batches of so many rows, or of fewer if their names have so many bytes.
const (
	batchRows  = 512
	batchBytes = 64 << 10
)

// batch are rows that parquet-go does not have yet, by column.
type batch struct {
	rows              int
	names             []byte         // of the features, side by side
	starts, ends      [batchRows]int // of the names
	ids               [batchRows]int64
	classes           [batchRows]int // places among the labels
	counts, documents [batchRows]int64
	values            [batchRows]parquet.Value // of one column, as parquet-go wants them
}

// batches are kept from one part to the next, of which there are many small ones. A writer of parquet-go is not: Reset
// of v0.32.0 clears the names of the columns too.
var batches = sync.Pool{New: func() any { return &batch{names: make([]byte, 0, batchBytes)} }}

// CreatePart starts to write a part of the counts under dir, while that is held.
func CreatePart(ctx context.Context, dir string, part, parts int, labels []string, held fileio.Held) (*PartWriter, error) {
	out, err := create(ctx, dir, PartName(part, parts), held)
	if err != nil {
		return nil, err
	}
	w := &PartWriter{out: out, batch: batches.Get().(*batch)}
	w.table = parquet.NewGenericWriter[Row](out, append(WriterOptions(),
		parquet.SortingWriterConfig(parquet.SortingColumns(
			parquet.Ascending("feature_id"), parquet.Ascending("feature"), parquet.Ascending("class"))),
		parquet.DataPageStatistics(false),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaLengthByteArray))...)
	for _, label := range labels {
		w.labels = append(w.labels, parquet.ByteArrayValue([]byte(label)))
	}
	return w, nil
}

// Add adds a feature, which comes after those before it, with its counts, whose classes are places among the labels and
// come in the order of these.
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

// flush hands over the batch.
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
			setInts(values, &b.counts)
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
	w.out.sum.Rows += n
	if w.group += n; w.group >= rowsPerGroup || w.bytes >= bytesPerGroup {
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

// Commit finishes the part and puts it in its place, where one of the same bytes may be.
func (w *PartWriter) Commit() (FileSum, error) {
	if err := w.flush(); err != nil {
		return FileSum{}, err
	}
	batches.Put(w.batch)
	w.batch = nil
	w.table.SetKeyValueMetadata(uniqueIDs, fmt.Sprint(!w.shared))
	if err := w.table.Close(); err != nil {
		return FileSum{}, err
	}
	return w.out.commit()
}

// Abort leaves nothing behind. After Commit it does nothing.
func (w *PartWriter) Abort() { w.out.file.Abort() }
