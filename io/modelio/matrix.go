package modelio

// The tables of transform. The first two are the matrix in different layouts; with several shards each is a folder, see
// ShardName. The others describe its columns, and the numbers of the classes in SVMlight.
const (
	RowsFile     = "rows.parquet"
	SVMlightFile = "rows.svmlight"
	ColumnsFile  = "columns.parquet"
	ClassesFile  = "classes.parquet"
)

// MatrixRow is a document as a sparse row: a row of rows.parquet with --layout=lists, sorted by source and offset.
type MatrixRow struct {
	Source  string    `parquet:"source,dict"`    // the file
	Offset  int64     `parquet:"offset"`         // of the record, in bytes, in the decompressed content
	ID      *string   `parquet:"id,optional"`    // with --id_column
	Label   *string   `parquet:"label,optional"` // of the document, if it has one
	Indices []int32   `parquet:"indices,list"`   // the columns whose values are not 0, ascending
	Values  []float64 `parquet:"values,list"`    // of these columns
}

// WideColumns are the columns of rows.parquet before those of the features with --layout=wide.
var WideColumns = []string{"source", "offset", "id", "label"}

// ColumnRow is a column of the matrix: a row of columns.parquet. Columns are sorted by the bytes of the feature.
type ColumnRow struct {
	Column    int32  `parquet:"column"` // from 0
	Feature   string `parquet:"feature"`
	FeatureID int64  `parquet:"feature_id"`
}

// ClassRow is the number of a class in rows.svmlight: a row of classes.parquet.
type ClassRow struct {
	Number int32  `parquet:"number"` // from 0, in the order of the classes' bytes
	Class  string `parquet:"class"`
}
