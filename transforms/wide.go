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

// WidePrefix is before the name of a feature's column that would otherwise have the name of another column.
const WidePrefix = "feature:"

// wideName returns the name of the column of a feature. No two features have the same.
func wideName(feature string) string {
	if slices.Contains(modelio.WideColumns, feature) || strings.HasPrefix(feature, WidePrefix) {
		return WidePrefix + feature
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

// wideBytes limits the memory of a row group.
const wideBytes = 32 << 20

func writeWide(ctx context.Context, guard *modelio.Guard, output, name string, pieces [][]byte, features []string) (sum tableio.FileSum, documents int64, err error) {
	out, err := tableio.CreateFile(ctx, output, name, guard.Check)
	if err != nil {
		return sum, 0, err
	}
	defer out.Abort()
	n := len(modelio.WideColumns) + len(features)
	w := parquet.NewWriter(out, append(tableio.WriterOptions(), wideSchema(features),
		parquet.MaxRowsPerRowGroup(int64(min(tableio.RowsPerGroup, wideBytes/8/n))), parquet.PageBufferSize(min(64<<10, wideBytes/n)))...)
	values := make(parquet.Row, n)
	documents, err = eachPiece(ctx, pieces, func(at place, rows matrixRows) error {
		return rows.each(func(i int, row kernel.Vector) error {
			values[0] = parquet.ByteArrayValue([]byte(at.File)).Level(0, 0, 0)
			values[1] = parquet.Int64Value(rows.Offsets[i]).Level(0, 0, 1)
			values[2], values[3] = parquet.NullValue().Level(0, 0, 2), parquet.NullValue().Level(0, 0, 3)
			if rows.IDs != nil {
				values[2] = parquet.ByteArrayValue([]byte(rows.IDs[i])).Level(0, 1, 2)
			}
			if rows.Labels[i] != "" {
				values[3] = parquet.ByteArrayValue([]byte(rows.Labels[i])).Level(0, 1, 3)
			}
			for c := range features {
				values[4+c] = parquet.DoubleValue(0).Level(0, 0, 4+c)
			}
			for j, c := range row.Columns {
				values[4+c] = parquet.DoubleValue(row.Values[j]).Level(0, 0, 4+int(c))
			}
			_, err := w.WriteRows([]parquet.Row{values})
			return err
		})
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return sum, 0, err
	}
	sum, err = out.Commit(documents)
	return sum, documents, err
}
