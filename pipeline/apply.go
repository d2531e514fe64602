package pipeline

import (
	"maps"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

// Predict applies a model to documents and publishes the predictions in the folder output. Of d it needs Files, Reading,
// MaxRejected, Rejects, Shards and Tuning. It panics if the parameters are invalid.
func Predict(s beam.Scope, run modelio.Run, output string, d Documents, p Predictions) {
	params := transforms.PredictParams{
		Scan: d.scanParams(), Model: p.Model, Reasons: p.Reasons,
		Rows: transforms.RowsParams{Run: run, Output: output, Shards: d.Shards},
	}
	ranges, audit := d.begin(s, run, output, modelio.PredictionsFile)
	pieces, totals := transforms.Predict(s, ranges, params)
	sum, classes := transforms.SumTotals(s, totals, audit)
	parts := transforms.WritePredictions(s, pieces, classes, params)
	commitApplied(s, run, output, transforms.Reconcile(s, sum, parts, audit), p.Model)
}

// Predictions say what to predict.
type Predictions struct {
	Model   transforms.ModelParams
	Reasons int // how many features to list that weighed most in a decision; default none
}

// Options returns the options of a run that say so.
func (p Predictions) Options() map[string]string {
	options := map[string]string{}
	if p.Reasons > 0 {
		options["explain"] = strconv.Itoa(p.Reasons)
	}
	return options
}

// begin returns the ranges of the documents, and how a run that applies a model to them is checked. It writes a table.
func (d Documents) begin(s beam.Scope, run modelio.Run, output, table string) (beam.PCollection, transforms.ReconcileParams) {
	mustBeValid("pipeline", d.Validate())
	audit := d.reconcileParams(run)
	audit.Output, audit.Scanned, audit.Parts = output, true, nil
	for shard := range d.Shards {
		audit.Parts = append(audit.Parts, modelio.ShardName(table, shard, d.Shards))
	}
	files, _ := d.splitEmpty()
	ranges := transforms.Begin(s, files, transforms.BeginParams{Run: run, Output: output, RangeBytes: d.Tuning.rangeBytes(), Reading: d.Reading})
	return ranges, audit
}

func (d Documents) scanParams() transforms.ScanParams {
	return transforms.ScanParams{Reading: d.Reading, Rejects: d.Rejects, Threads: d.Tuning.Threads}
}

// scanAgain is for documents that are read a second time: rejected records are known.
func (d Documents) scanAgain() transforms.ScanParams {
	p := d.scanParams()
	p.Rejects = transforms.Rejects{}
	return p
}

// commitApplied publishes a run that applied a model. It warns of inputs that the runs in the folders unseen have read, too.
func commitApplied(s beam.Scope, run modelio.Run, output string, reconciled beam.PCollection, m transforms.ModelParams, unseen ...string) {
	transforms.CommitCounts(s, reconciled, transforms.CommitParams{
		Run: run, Output: output, Model: &modelio.Counts{Name: m.Dir, SHA256: m.SHA256}, Unseen: unseen,
	})
}

// NewApplyRun returns a run of a command that applies a model to documents, with a new id. options are those of the command.
// against are more models.
func NewApplyRun(verb, version string, d Documents, m transforms.ModelParams, options map[string]string, against ...transforms.ModelParams) modelio.Run {
	all := maps.Clone(options)
	maps.Copy(all, d.readingOptions())
	all["model_dir"] = m.Dir
	from := []any{d.Files, m}
	for _, m := range against {
		from = append(from, m)
	}
	return newRun(verb, version, all, from)
}
