package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// PruningTally counts the features that a pruning leaves and leaves out.
type PruningTally struct {
	rules  map[string]*ruleTally // "" has what is left
	absent int64
	names  []string // the first absent names, by their bytes
}

type ruleTally struct {
	features    int64
	occurrences countio.Sum
}

// maxAbsentNames is the number of absent names that a message lists.
const maxAbsentNames = 3

// Visitor returns a visitor that counts every feature, and then calls left with those that are left.
func (t *PruningTally) Visitor(left func(f *countio.Feature) error) PartVisitor {
	return PartVisitor{
		Left: func(f *countio.Feature) error {
			t.of("").add(f)
			return left(f)
		},
		LeftOut: func(f *countio.Feature, rule string) error {
			t.of(rule).add(f)
			return nil
		},
		Absent: func(f *countio.Feature) error {
			name, err := f.Name()
			if err != nil {
				return err
			}
			t.of("").add(f)
			t.absent++
			t.addName(string(name))
			return left(f)
		},
	}
}

func (t *PruningTally) of(rule string) *ruleTally {
	if t.rules[rule] == nil {
		if t.rules == nil {
			t.rules = map[string]*ruleTally{}
		}
		t.rules[rule] = &ruleTally{}
	}
	return t.rules[rule]
}

func (r *ruleTally) add(f *countio.Feature) {
	r.features++
	r.occurrences.Add(solver.Sum(f.Occurrences))
}

func (t *PruningTally) addName(name string) {
	if len(t.names) == maxAbsentNames && name >= t.names[maxAbsentNames-1] {
		return
	}
	at, _ := slices.BinarySearch(t.names, name)
	t.names = slices.Insert(t.names, at, name)
	t.names = t.names[:min(len(t.names), maxAbsentNames)]
}

// PruningRecord is a PruningTally that can cross a shuffle.
type PruningRecord struct {
	Rules  []RuleRecord
	Absent int64
	Names  []string
}

// RuleRecord is the number of features that a rule leaves out; of the empty rule, that are left.
type RuleRecord struct {
	Rule        string
	Features    int64
	Occurrences float64
}

// Record returns the tally as a record.
func (t *PruningTally) Record() PruningRecord {
	r := PruningRecord{Absent: t.absent, Names: t.names}
	for rule, n := range t.rules {
		r.Rules = append(r.Rules, RuleRecord{rule, n.features, n.occurrences.Value()})
	}
	slices.SortFunc(r.Rules, func(a, b RuleRecord) int { return cmp.Compare(a.Rule, b.Rule) })
	return r
}

// Add adds the tally of another part.
func (t *PruningTally) Add(r PruningRecord) {
	for _, rule := range r.Rules {
		n := t.of(rule.Rule)
		n.features += rule.Features
		n.occurrences.Add(rule.Occurrences)
	}
	t.absent += r.Absent
	for _, name := range r.Names {
		t.addName(name)
	}
}

// Counted returns the number of features that the counts have.
func (t *PruningTally) Counted() (n int64) {
	for _, rule := range t.rules {
		n += rule.features
	}
	return n - t.absent
}

// Result returns the tally for the manifest.
func (t *PruningTally) Result(rules Pruning, plan PruningPlan) *modelio.Pruning {
	result := &modelio.Pruning{
		Features: t.of("").features, Occurrences: t.of("").occurrences.Value(), Absent: t.absent,
		Vocabulary: rules.Vocabulary.File, Exclude: rules.Exclude.File,
	}
	options := rules.options()
	for _, rule := range pruningRules {
		value, ok := options[rule]
		if !ok {
			continue
		}
		out := modelio.LeftOut{Rule: rule, Value: value, Features: t.of(rule).features, Occurrences: t.of(rule).occurrences.Value()}
		switch rule {
		case ruleMinDF:
			out.Documents = &plan.Least
		case ruleMaxDF:
			out.Documents = &plan.Most
		}
		result.LeftOut = append(result.LeftOut, out)
	}
	return result
}

// Warnings returns what is probably a mistake in a pruning.
func (t *PruningTally) Warnings() (list []string) {
	if t.absent == 0 {
		return nil
	}
	var names []string
	for _, name := range t.names {
		names = append(names, strconv.Quote(name))
	}
	if more := t.absent - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %s more", humanize.Comma(more)))
	}
	return []string{fmt.Sprintf("names of the vocabulary that do not occur count as features with counts of 0; here %s: %s",
		humanize.Comma(t.absent), strings.Join(names, ", "))}
}

// ExplainEmpty says why a pruning leaves no features.
func ExplainEmpty(counted int64, p *modelio.Pruning) string {
	var reasons []string
	for _, out := range p.LeftOut {
		if out.Features == 0 {
			continue
		}
		value := out.Value
		switch out.Rule {
		case ruleVocabulary:
			value = p.Vocabulary
		case ruleExclude:
			value = p.Exclude
		}
		reason := fmt.Sprintf("--%s=%s leaves out %s", out.Rule, value, humanize.Comma(out.Features))
		if d := out.Documents; d != nil && out.Rule == ruleMinDF {
			reason += fmt.Sprintf(" (in fewer than %s documents)", humanize.Commaf(*d))
		} else if d != nil {
			reason += fmt.Sprintf(" (in more than %s documents)", humanize.Commaf(*d))
		}
		reasons = append(reasons, reason)
	}
	return fmt.Sprintf("no features are left of %s: %s", humanize.Comma(counted), strings.Join(reasons, ", "))
}
