package modelio

// The files of tune: a table, and its chart.
const (
	TuningFile  = "tuning.parquet"
	TuningChart = "tuning.svg"
)

// TuningRow is how well a model of the grid fits the documents of a fold, or the mean of all folds: a row of tuning.parquet,
// sorted as the grid and by fold, the mean first.
type TuningRow struct {
	Model         string   `parquet:"model,dict"`
	Weights       string   `parquet:"weights,dict"`
	MinDF         string   `parquet:"min_df,dict"` // as given, or empty
	Smoothing     float64  `parquet:"smoothing"`
	KRequested    string   `parquet:"k_requested,dict"` // as given, such as 1%
	K             float64  `parquet:"k"`                // number of features; the mean if it differs
	Fold          *int64   `parquet:"fold,optional"`    // from 0; null in the row of the mean
	Documents     int64    `parquet:"documents"`
	Accuracy      float64  `parquet:"accuracy"`
	Balanced      float64  `parquet:"balanced_accuracy"`
	LogLoss       *float64 `parquet:"log_loss,optional"`                // null for ovo, which has no probabilities
	AccuracyError *float64 `parquet:"accuracy_standard_error,optional"` // of the mean, and so are the next two
	BalancedError *float64 `parquet:"balanced_accuracy_standard_error,optional"`
	LogLossError  *float64 `parquet:"log_loss_standard_error,optional"`
	Best          bool     `parquet:"best"`   // in the row of the mean: the best mean of the metric
	Chosen        bool     `parquet:"chosen"` // in the row of the mean: by the one-standard-error rule
}
