package pipeline

import (
	"maps"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/tuning"
)

// TuneParams say what Tune compares, and how.
type TuneParams struct {
	Grid   tuning.Grid
	Folds  tuning.Folds
	Metric tuning.Metric
}

// Validate returns an error that names the flag, with modelio.ExitUsage.
func (p TuneParams) Validate(d Documents) error {
	if d.Weights.Scheme == kernel.TFIDF {
		return modelio.Usagef("--weights=tfidf cannot be used with tune: the inverse document frequencies are different in each fold; use count, binary or log")
	}
	if p.Folds.ByGroup != (d.Reading.GroupColumn != "") {
		return modelio.Usagef("--group_column: required for folds by group")
	}
	if err := p.Grid.Validate(p.Folds.Number); err != nil {
		return err
	}
	_, err := tuning.ParseMetric(string(p.Metric), p.Grid.Settings[0].Strategy)
	return err
}

// options returns the options of a run that say so.
func (p TuneParams) options() map[string]string {
	options := p.Grid.Options()
	options["folds"], options["metric"] = strconv.Itoa(p.Folds.Number), string(p.Metric)
	return options
}

// Tune compares models by cross-validation and publishes the comparison in the folder output, beside the counts by class and
// fold. It reads the documents twice. It panics if the parameters are invalid.
func Tune(s beam.Scope, run modelio.Run, output string, d Documents, p TuneParams) {
	mustBeValid("pipeline.Tune", d.Validate(), p.Validate(d))
	audit := d.reconcileParams(run)
	audit.Selection, audit.Strategy, audit.Folds = true, p.Grid.Settings[0].Strategy, true
	counting := d.countParams(run)
	counting.Folds = p.Folds
	params := transforms.TuneParams{
		Run: run, Output: output, Grid: p.Grid, Folds: p.Folds, Metric: p.Metric, Counting: counting, Scan: d.scanAgain(), Analyzer: d.analyzer(),
	}
	counts := countWith(s, run, output, d, counting, false, audit)
	audited := transforms.Reconcile(s, counts.totals, counts.files, audit)
	plan, tuned := transforms.SolveFolds(s, audited, params)
	tallies := transforms.ScoreFolds(s, counts.ranges, plan, params)
	transforms.CommitTuning(s, audited, tuned, tallies, params)
}

// NewTuneRun returns a run of tune, with a new id.
func NewTuneRun(version string, d Documents, p TuneParams) modelio.Run {
	options := p.options()
	maps.Copy(options, d.options())
	options["weights"] = p.Grid.Options()["weights"]
	return newRun("tune", version, options, d.Files)
}
