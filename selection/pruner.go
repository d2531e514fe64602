package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// PruningPlan has what a pruning needs to know of all counts. With it, a feature is left or not by its own name and counts.
type PruningPlan struct {
	Least, Most float64 // documents of a feature; Most is +Inf without a limit
	Cut         *Cut    // of MaxFeatures; nil if all features of the other rules are left
}

// Cut is the last feature that MaxFeatures leaves. Features are sorted by occurrences in all classes, descending, then by the
// feature_id of the counts, ascending, then by name.
type Cut struct {
	Occurrences float64
	ID          int64
	Name        *string // nil if no other feature has the same occurrences and ID
}

// Plan returns the plan for classes, without a cut. The error is a [modelio.Error].
func (p Pruning) Plan(classes []modelio.Class) (PruningPlan, error) {
	plan := PruningPlan{Most: math.Inf(1)}
	var documents int64
	if _, ofClasses := p.NeedsDocuments(); ofClasses {
		for _, c := range classes {
			if c.Documents == nil {
				return plan, modelio.Usagef("--min_df and --max_df as a share need the number of documents: --class_documents=%s=n,…", ListLabels([]string{c.Label}))
			}
			documents += *c.Documents
		}
	}
	if p.MinDF.Text != "" {
		plan.Least = p.MinDF.of(documents)
	}
	if p.MaxDF.Text != "" {
		plan.Most = p.MaxDF.of(documents)
	}
	return plan, nil
}

// Pruner applies a pruning to the features of counts. It is not changed by its methods. A nil Pruner leaves all features.
type Pruner struct {
	rules               Pruning
	plan                PruningPlan
	vocabulary, exclude *nameSet
}

// NewPruner reads the files of names that did not travel with the job. It returns nil if there are no rules.
func NewPruner(ctx context.Context, rules Pruning, plan PruningPlan) (p *Pruner, err error) {
	if !rules.Any() {
		return nil, nil
	}
	p = &Pruner{rules: rules, plan: plan}
	if p.vocabulary, err = rules.Vocabulary.load(ctx); err != nil {
		return nil, fmt.Errorf("--vocabulary: %w", err)
	}
	if p.exclude, err = rules.Exclude.load(ctx); err != nil {
		return nil, fmt.Errorf("--exclude: %w", err)
	}
	return p, nil
}

// Keep reports whether a feature is left; if not, rule is the first rule that leaves it out. id is its feature_id in the counts,
// key the key of its name. occurrences and documents are those in all classes. name is called only if it decides.
func (p *Pruner) Keep(id int64, key uint64, name func() ([]byte, error), occurrences, documents float64) (keep bool, rule string, err error) {
	if p == nil {
		return true, "", nil
	}
	if p.vocabulary != nil {
		if at, err := p.vocabulary.find(key, name); err != nil || at < 0 {
			return false, ruleVocabulary, err
		}
	}
	if p.exclude != nil {
		if at, err := p.exclude.find(key, name); err != nil || at >= 0 {
			return false, ruleExclude, err
		}
	}
	switch {
	case documents < p.plan.Least:
		return false, ruleMinDF, nil
	case documents > p.plan.Most:
		return false, ruleMaxDF, nil
	case occurrences < float64(p.rules.MinCount):
		return false, ruleMinCount, nil
	case p.plan.Cut == nil:
		return true, "", nil
	}
	if keep, err = p.plan.Cut.keeps(id, name, occurrences); !keep {
		rule = ruleMaxFeatures
	}
	return keep, rule, err
}

func (c *Cut) keeps(id int64, name func() ([]byte, error), occurrences float64) (bool, error) {
	switch order := cmp.Or(cmp.Compare(c.Occurrences, occurrences), cmp.Compare(id, c.ID)); {
	case order != 0:
		return order < 0, nil
	case c.Name == nil:
		return true, nil
	}
	b, err := name()
	return string(b) <= *c.Name, err
}

// KeepFeature is Keep for a feature of a source.
func (p *Pruner) KeepFeature(source countio.Source, f *countio.Feature) (keep bool, rule string, err error) {
	if p == nil {
		return true, "", nil
	}
	id := f.ID
	if source.Rehash && (p.vocabulary != nil || p.exclude != nil) {
		name, err := f.Name()
		if err != nil {
			return false, "", err
		}
		id = source.IDOf(f, name)
	}
	return p.Keep(f.ID, feature.Key(id), f.Name, solver.Sum(f.Occurrences), solver.Sum(f.Documents))
}

// PartVisitor is called with the features of a part.
type PartVisitor struct {
	Left    func(f *countio.Feature) error              // required
	LeftOut func(f *countio.Feature, rule string) error // may be nil
	Absent  func(f *countio.Feature) error              // names of the vocabulary that the counts do not have, and that are left; nil: Left
}

// Each calls the visitor with every feature of a part that is left, and with those that are left out. Names of the vocabulary
// that the counts do not have come last, each in the part that would have it.
func (p *Pruner) Each(ctx context.Context, source countio.Source, part string, classes *countio.Classes, v PartVisitor) error {
	if p == nil {
		return source.Each(ctx, part, classes, v.Left)
	}
	absent, err := p.newAbsent(source, part)
	if err != nil {
		return err
	}
	err = source.Each(ctx, part, classes, func(f *countio.Feature) error {
		if err := absent.see(f); err != nil {
			return err
		}
		keep, rule, err := p.KeepFeature(source, f)
		switch {
		case err != nil:
			return err
		case keep:
			return v.Left(f)
		case v.LeftOut != nil:
			return v.LeftOut(f, rule)
		}
		return nil
	})
	if err != nil || absent == nil {
		return err
	}
	if v.Absent == nil {
		v.Absent = v.Left
	}
	for f := range absent.features {
		keep, _, err := p.KeepFeature(source, f)
		if err == nil && keep {
			err = v.Absent(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// absentNames finds the names of a vocabulary that a part does not have. A nil *absentNames is of a pruning without one.
type absentNames struct {
	set       *nameSet
	from      int    // in the entries of the set
	seen      []bool // of the entries from there
	documents bool   // the features of the part have documents
}

func (p *Pruner) newAbsent(source countio.Source, part string) (*absentNames, error) {
	if p.vocabulary == nil {
		return nil, nil
	}
	a := &absentNames{set: p.vocabulary, documents: source.Table == ""}
	if source.Table != "" {
		a.seen = make([]bool, len(a.set.entries))
		return a, nil
	}
	shard, shards, err := countio.ParsePartName(part)
	if err != nil {
		return nil, err
	}
	from, to := a.set.shard(shard, shards)
	a.from, a.seen = from, make([]bool, to-from)
	return a, nil
}

func (a *absentNames) see(f *countio.Feature) error {
	if a == nil {
		return nil
	}
	a.documents = f.DocumentsKnown
	at, err := a.set.find(feature.Key(f.ID), f.Name)
	if err == nil && at >= a.from && at < a.from+len(a.seen) {
		a.seen[at-a.from] = true
	}
	return err
}

// features yields the absent names as features without counts.
func (a *absentNames) features(yield func(*countio.Feature) bool) {
	for i, seen := range a.seen {
		if e := a.set.entries[a.from+i]; !seen && !yield(countio.NewFeature(a.set.name(e), feature.ID(e.key), a.documents)) {
			return
		}
	}
}

// PartTotals counts the features of a part that the rules before MaxFeatures leave, by their occurrences in all classes.
type PartTotals struct {
	Part   string
	Totals []Total // by occurrences, descending
}

// Total is a number of features with the same occurrences in all classes.
type Total struct {
	Occurrences float64
	Features    int64
}

// Totals counts the features of a part by their occurrences. The pruner must have a plan without a cut.
func (p *Pruner) Totals(ctx context.Context, source countio.Source, part string) (t PartTotals, err error) {
	counts := map[float64]int64{}
	err = p.Each(ctx, source, part, &countio.Classes{}, PartVisitor{Left: func(f *countio.Feature) error {
		counts[solver.Sum(f.Occurrences)]++
		return nil
	}})
	t.Part = part
	for occurrences, n := range counts {
		t.Totals = append(t.Totals, Total{occurrences, n})
	}
	slices.SortFunc(t.Totals, func(a, b Total) int { return cmp.Compare(b.Occurrences, a.Occurrences) })
	return t, err
}

// FindCut returns the cut that leaves MaxFeatures features of the parts, or nil if there are no more than these. parts are in the
// order of their names, and a part may be divided. It reads at most one part, and needs memory for the IDs of those of its
// features that are as frequent as the last one left.
func (p *Pruner) FindCut(ctx context.Context, source countio.Source, parts []PartTotals) (*Cut, error) {
	all := map[float64]int64{}
	var features int64
	for _, part := range parts {
		for _, t := range part.Totals {
			all[t.Occurrences] += t.Features
			features += t.Features
		}
	}
	if p.rules.MaxFeatures == 0 || features <= p.rules.MaxFeatures {
		return nil, nil
	}
	// The cut is the feature number left, from 1, of those with the occurrences of the cut.
	left, cut := p.rules.MaxFeatures, Cut{}
	totals := make([]float64, 0, len(all))
	for occurrences := range all {
		totals = append(totals, occurrences)
	}
	slices.Sort(totals)
	for _, occurrences := range slices.Backward(totals) {
		if n := all[occurrences]; n < left {
			left -= n
			continue
		}
		cut.Occurrences = occurrences
		break
	}
	// IDs of one part are below those of the next.
	for _, part := range parts {
		i := slices.IndexFunc(part.Totals, func(t Total) bool { return t.Occurrences == cut.Occurrences })
		if i < 0 {
			continue
		}
		if n := part.Totals[i].Features; n < left {
			left -= n
			continue
		}
		return p.findTie(ctx, source, part.Part, cut, left)
	}
	return nil, fmt.Errorf("the totals of the parts do not have the %d features that were counted", features)
}

// findTie returns the cut at feature number n, from 1, of the features of a part with the occurrences of the cut.
func (p *Pruner) findTie(ctx context.Context, source countio.Source, part string, cut Cut, n int64) (*Cut, error) {
	each := func(visit func(f *countio.Feature) error) error {
		return p.Each(ctx, source, part, &countio.Classes{}, PartVisitor{Left: func(f *countio.Feature) error {
			if solver.Sum(f.Occurrences) != cut.Occurrences {
				return nil
			}
			return visit(f)
		}})
	}
	var ids []int64
	if err := each(func(f *countio.Feature) error { ids = append(ids, f.ID); return nil }); err != nil {
		return nil, err
	}
	if n > int64(len(ids)) {
		return nil, fmt.Errorf("%s: has %d features with %v occurrences, but %d were counted before", part, len(ids), cut.Occurrences, n)
	}
	slices.Sort(ids)
	cut.ID = ids[n-1]
	first, found := slices.BinarySearch(ids, cut.ID)
	if last := first + 1; !found || last == len(ids) || ids[last] != cut.ID {
		return &cut, nil
	}
	var names []string
	err := each(func(f *countio.Feature) error {
		if f.ID != cut.ID {
			return nil
		}
		name, err := f.Name()
		names = append(names, string(name))
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	cut.Name = &names[n-1-int64(first)]
	return &cut, nil
}
