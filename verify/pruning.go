package verify

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
)

// pruning repeats the pruning of a run.
type pruning struct {
	source countio.Source
	rules  selection.Pruning
	plan   selection.PruningPlan
	pruner *selection.Pruner // nil if nothing was pruned
	tally  selection.PruningTally
}

// newPruning reads the rules from the options of the run, and the files of names from where the run read them.
func newPruning(ctx context.Context, m modelio.Manifest, source countio.Source, files []tableio.FileSum) (*pruning, error) {
	p := &pruning{source: source}
	var err error
	if p.rules, err = selection.ParsePruning(m.Options); err != nil {
		return nil, err
	}
	if p.rules.Any() != (m.Pruning != nil) {
		return nil, fmt.Errorf("%s has the rules of a pruning without the result, or the result without the rules", modelio.ManifestFile)
	}
	if m.Pruning == nil {
		return p, nil
	}
	p.rules.Vocabulary.File, p.rules.Exclude.File = m.Pruning.Vocabulary, m.Pruning.Exclude
	if p.plan, err = p.rules.Plan(m.Classes); err != nil {
		return nil, err
	}
	if p.pruner, err = selection.NewPruner(ctx, p.rules, p.plan); err != nil || p.rules.MaxFeatures == 0 {
		return p, err
	}
	var parts []selection.PartTotals
	for _, file := range files {
		totals, err := p.pruner.Totals(ctx, source, file.Name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, totals)
	}
	slices.SortFunc(parts, func(a, b selection.PartTotals) int { return cmp.Compare(a.Part, b.Part) })
	if p.plan.Cut, err = p.pruner.FindCut(ctx, source, parts); err != nil {
		return nil, err
	}
	p.pruner, err = selection.NewPruner(ctx, p.rules, p.plan)
	return p, err
}

// each passes the features of a part to r: all of them, and then those that are left.
func (p *pruning) each(ctx context.Context, file string, r *countsReader) error {
	v := p.tally.Visitor(r.keep)
	left, leftOut := v.Left, v.LeftOut
	v.Left = func(f *countio.Feature) error { return cmp.Or(r.add(file, f), left(f)) }
	v.LeftOut = func(f *countio.Feature, rule string) error { return cmp.Or(r.add(file, f), leftOut(f, rule)) }
	return p.pruner.Each(ctx, p.source, file, r.classes, v)
}

// compare compares what was left out with the manifest, and adds it to the finding about the counts.
func (p *pruning) compare(m modelio.Manifest, finding string) (string, error) {
	if m.Pruning == nil {
		return finding, nil
	}
	if want := p.tally.Result(p.rules, p.plan); !reflect.DeepEqual(m.Pruning, want) {
		return "", fmt.Errorf("the pruning leaves %d features with %v occurrences in the manifest, but recomputed %d with %v, or differs in what a rule leaves out",
			m.Pruning.Features, m.Pruning.Occurrences, want.Features, want.Occurrences)
	}
	return finding + fmt.Sprintf("; pruning leaves %s", humanize.Comma(m.Pruning.Features)), nil
}
