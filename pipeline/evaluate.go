package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

// Evaluate applies a model to labeled documents and publishes the metrics in the folder output. against is a model to compare
// it with, or nil. Of d it needs Files, Reading, MaxRejected, Rejects and Tuning, and one shard. It panics if the parameters are
// invalid.
func Evaluate(s beam.Scope, run modelio.Run, output string, d Documents, m transforms.ModelParams, against *transforms.ModelParams) {
	params := transforms.EvaluateParams{Run: run, Output: output, Scan: d.scanParams(), Model: m, Against: against}
	ranges, audit := d.begin(s, run, output, modelio.EvaluationFile)
	pieces, totals := transforms.Evaluate(s, ranges, params)
	sum, classes := transforms.SumTotals(s, totals, audit)
	part := transforms.WriteEvaluation(s, pieces, classes, params)
	unseen := []string{m.Dir}
	if against != nil {
		unseen = append(unseen, against.Dir)
	}
	commitApplied(s, run, output, transforms.Reconcile(s, sum, part, audit), m, unseen...)
}
