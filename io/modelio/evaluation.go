package modelio

import (
	"cmp"
	"context"
	"strings"

	"github.com/sparsenb/sparsenb/io/tableio"
)

// EvaluationFile is the table of sparsenb evaluate.
const EvaluationFile = "evaluation.parquet"

// EvaluationRow is a figure about a decision: a row of evaluation.parquet. Rows are sorted by all columns but the value, in the
// order of Compare.
type EvaluationRow struct {
	Problem    string  `parquet:"problem,dict"` // of the model if there is one, otherwise the strategy
	Strategy   string  `parquet:"strategy,dict"`
	Classifier string  `parquet:"classifier,dict"`
	K          int64   `parquet:"k,dict"`
	KRequested string  `parquet:"k_requested,dict"` // as in PredictionRow
	Smoothing  float64 `parquet:"smoothing,dict"`
	Metric     string  `parquet:"metric,dict"`
	Class      string  `parquet:"class,dict"`     // that the figure is about; empty for all together
	Predicted  string  `parquet:"predicted,dict"` // of the confusion matrix, where Class is the true one; otherwise empty
	Value      float64 `parquet:"value"`
}

// Key is that of the decision. Decisions with other KRequested may have the same.
func (r EvaluationRow) Key() Key { return Key{r.Problem, r.Smoothing, r.K} }

// Compare orders rows by problem, smoothing, k, k_requested, classifier, metric, class and predicted class.
func (r EvaluationRow) Compare(o EvaluationRow) int {
	return cmp.Or(r.Key().Compare(o.Key()), cmp.Compare(r.KRequested, o.KRequested), cmp.Compare(r.Classifier, o.Classifier), cmp.Compare(r.Metric, o.Metric),
		cmp.Compare(r.Class, o.Class), cmp.Compare(r.Predicted, o.Predicted))
}

// WriteEvaluation writes evaluation.parquet into an output folder, while the guard allows it. Labels become valid UTF-8.
func WriteEvaluation(ctx context.Context, guard *Guard, dir string, rows []EvaluationRow) (sum tableio.FileSum, err error) {
	w, err := tableio.Create[EvaluationRow](ctx, dir, EvaluationFile, guard.Check)
	if err != nil {
		return sum, err
	}
	defer w.Abort()
	for _, row := range rows {
		row.Class, row.Predicted = strings.ToValidUTF8(row.Class, "\ufffd"), strings.ToValidUTF8(row.Predicted, "\ufffd")
		if err := w.Write(row); err != nil {
			return sum, err
		}
	}
	return w.Commit()
}

// ReadEvaluation reads evaluation.parquet of an output folder.
func ReadEvaluation(ctx context.Context, dir string) ([]EvaluationRow, error) {
	return readRows[EvaluationRow](ctx, dir, EvaluationFile)
}
