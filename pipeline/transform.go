package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

// Matrix says which features become columns, and how the rows are written.
type Matrix struct {
	Model  transforms.ModelParams
	Layout transforms.Layout
}

// Options returns the options of a run that say so.
func (m Matrix) Options() map[string]string { return map[string]string{"layout": string(m.Layout)} }

// Transform turns documents into rows of a matrix, whose columns are the features that a model has selected, and publishes it
// in the folder output. Of d it needs what Predict needs. It panics if the parameters are invalid.
func Transform(s beam.Scope, run modelio.Run, output string, d Documents, m Matrix) {
	params := transforms.MatrixParams{
		Scan: d.scanParams(), Model: m.Model, Layout: m.Layout,
		Rows: transforms.RowsParams{Run: run, Output: output, Shards: d.Shards},
	}
	ranges, audit := d.begin(s, run, output, m.Layout.Table())
	audit.Parts = append(audit.Parts, m.Layout.Tables()...)
	pieces, totals := transforms.Vectorize(s, ranges, params)
	sum, classes := transforms.SumTotals(s, totals, audit)
	parts := transforms.WriteMatrix(s, pieces, classes, params)
	commitApplied(s, run, output, transforms.Reconcile(s, sum, parts, audit), m.Model)
}
