package modelio

import (
	"fmt"
	"path"
	"strings"
)

// PredictionsFile is the table of predict. With several shards it is the folder of the same name without the extension, as
// ShardName says.
const PredictionsFile = "predictions.parquet"

// PredictionRow is what a decision says about a document: a row of predictions.parquet, sorted by source and offset, then as
// the decisions of the model.
type PredictionRow struct {
	Source         string   `parquet:"source,dict"`    // the file
	Offset         int64    `parquet:"offset"`         // of the record, in bytes, in the decompressed content
	ID             *string  `parquet:"id,optional"`    // with --id_column
	Label          *string  `parquet:"label,optional"` // of the document, if it has one
	Problem        string   `parquet:"problem,dict"`   // of the model, or the strategy if several models decide together
	K              int64    `parquet:"k,dict"`
	KRequested     string   `parquet:"k_requested,dict"` // as given, such as auto:knee, which may be a different k for each problem
	Smoothing      float64  `parquet:"smoothing,dict"`
	Predicted      string   `parquet:"predicted,dict"`           // the label
	Score          float64  `parquet:"score"`                    // of the predicted class
	LogProbability *float64 `parquet:"log_probability,optional"` // of the predicted class; null if the classifier has none
}

// ExplainedRow is a PredictionRow with the features that weighed most.
type ExplainedRow struct {
	PredictionRow
	Reasons []ReasonRow `parquet:"reasons,list"`
}

// ReasonRow is a feature of a document that weighed much in a decision.
type ReasonRow struct {
	Feature string  `parquet:"feature"`
	Value   float64 `parquet:"value"`  // in the document
	Weight  float64 `parquet:"weight"` // in favor of the predicted class
	Effect  float64 `parquet:"effect"` // value · weight
}

// ShardName returns the name of a file of a table: the table itself if there is one shard, otherwise a file in a folder.
func ShardName(table string, shard, shards int) string {
	if shards == 1 {
		return table
	}
	name, extension, _ := strings.Cut(table, ".")
	return fmt.Sprintf("%s/part-%05d-of-%05d.%s", name, shard, shards, extension)
}

// isShard reports whether name is that of a file in the folder of a table.
func isShard(table, name string) bool {
	folder, extension, _ := strings.Cut(table, ".")
	ok, err := path.Match(folder+"/part-*-of-*."+extension, name)
	return ok && err == nil
}
