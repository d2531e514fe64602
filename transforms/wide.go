package transforms

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// widePrefix is before the name of a feature's column that would otherwise have the name of another column.
const widePrefix = "feature:"

// wideName returns the name of the column of a feature. No two features have the same.
func wideName(feature string) string {
	same := func(column string) bool { return strings.EqualFold(column, feature) } // for many programs they are
	if slices.ContainsFunc(modelio.WideColumns, same) || strings.HasPrefix(feature, widePrefix) {
		return widePrefix + feature
	}
	return feature
}

// orderedGroup is a parquet.Group whose fields are not sorted by name.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// GoType is not used, because rows have no Go type. That of a Group panics if a name has a comma.
func (g orderedGroup) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

func wideSchema(features []string) *parquet.Schema {
	text := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	value := parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
	group := parquet.Group{"source": text, "offset": parquet.Leaf(parquet.Int64Type), "id": parquet.Optional(parquet.String()), "label": parquet.Optional(text)}
	order := slices.Clone(modelio.WideColumns)
	for _, name := range features {
		name = wideName(name)
		group[name], order = value, append(order, name)
	}
	byName := map[string]parquet.Field{}
	for _, field := range group.Fields() {
		byName[field.Name()] = field
	}
	ordered := orderedGroup{Group: group}
	for _, name := range order {
		ordered.fields = append(ordered.fields, byName[name])
	}
	return parquet.NewSchema("row", ordered)
}

const (
	wideBytes = 32 << 20 // of a row group in memory, at most
	wideBatch = 64       // rows that are written at once: one at a time takes twice as long
)

// fill sets the values of a document with all columns.
func (rows matrixRows) fill(values parquet.Row, file string, i int, row kernel.Vector) {
	values[0] = parquet.ByteArrayValue([]byte(file)).Level(0, 0, 0)
	values[1] = parquet.Int64Value(rows.Offsets[i]).Level(0, 0, 1)
	values[2], values[3] = parquet.NullValue().Level(0, 0, 2), parquet.NullValue().Level(0, 0, 3)
	if rows.IDs != nil {
		values[2] = parquet.ByteArrayValue([]byte(rows.IDs[i])).Level(0, 1, 2)
	}
	if rows.Labels[i] != "" {
		values[3] = parquet.ByteArrayValue([]byte(rows.Labels[i])).Level(0, 1, 3)
	}
	features := values[len(modelio.WideColumns):]
	for c := range features {
		features[c] = parquet.DoubleValue(0).Level(0, 0, len(modelio.WideColumns)+c)
	}
	for j, c := range row.Columns {
		features[c] = parquet.DoubleValue(row.Values[j]).Level(0, 0, len(modelio.WideColumns)+int(c))
	}
}

func writeWide(ctx context.Context, guard *modelio.Guard, output, name string, pieces [][]byte, features []string) (sum tableio.FileSum, documents int64, err error) {
	out, err := tableio.CreateFile(ctx, output, name, guard.Check)
	if err != nil {
		return sum, 0, err
	}
	defer out.Abort()
	n := len(modelio.WideColumns) + len(features)
	w := parquet.NewWriter(out, append(tableio.WriterOptions(), wideSchema(features),
		parquet.MaxRowsPerRowGroup(int64(min(tableio.RowsPerGroup, wideBytes/8/n))), parquet.PageBufferSize(min(64<<10, wideBytes/n)))...)
	batch := make([]parquet.Row, 0, wideBatch)
	documents, err = eachPiece(ctx, pieces, func(at place, rows matrixRows) error {
		return rows.each(func(i int, row kernel.Vector) error {
			if len(batch) == cap(batch) {
				if _, err := w.WriteRows(batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
			batch = batch[:len(batch)+1]
			values := &batch[len(batch)-1]
			if *values == nil {
				*values = make(parquet.Row, n)
			}
			rows.fill(*values, at.File, i, row)
			return nil
		})
	})
	if err == nil {
		_, err = w.WriteRows(batch)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return sum, 0, err
	}
	sum, err = out.Commit(documents)
	return sum, documents, err
}
