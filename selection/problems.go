package selection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Strategy says into which problems a selection with more than two classes is divided. Two classes are one problem, with any
// strategy.
type Strategy string

// ParseStrategy parses ovr, ovo or joint.
func ParseStrategy(name string) (Strategy, error) {
	switch name {
	case modelio.OneVersusRest, modelio.OneVersusOne, modelio.Joint:
		return Strategy(name), nil
	}
	return "", fmt.Errorf("unknown strategy %q: must be ovr (each class against the rest), ovo (each pair of classes) or joint (all classes at once)", name)
}

// maxProblems is the maximum number of pairs of classes. Each has a model, a path and features.
const maxProblems = 10_000

// Problems returns the number of problems for a number of classes. positive is the requested label, or empty.
func (s Strategy) Problems(classes int, positive string) int64 {
	n := int64(classes)
	switch {
	case s == modelio.Joint || n == 2:
		return 1
	case s == modelio.OneVersusOne && positive == "":
		return n * (n - 1) / 2
	case s == modelio.OneVersusOne:
		return n - 1
	case positive != "":
		return 1
	}
	return n
}

// problems lists what a selection solves: models with a strategy and, unless it is joint, two sides. Classes are sorted by
// label. positive is the label that was asked for, or empty.
func problems(classes []modelio.Class, strategy Strategy, positive string) (list []modelio.ModelRow) {
	if len(classes) == 2 {
		negative, other := classes[0], classes[1]
		if negative.Label == positive {
			negative, other = other, negative
		}
		return []modelio.ModelRow{versus(modelio.Binary, other, negative)}
	}
	if strategy == modelio.Joint {
		return []modelio.ModelRow{{Problem: modelio.Joint, Strategy: modelio.Joint}}
	}
	others := documentsOfOthers(classes)
	for i, class := range classes {
		if strategy == modelio.OneVersusRest && (positive == "" || positive == class.Label) {
			list = append(list, versusRest(class, others))
		}
		for j, other := range classes {
			// Each pair is listed once, the first by label as the positive class unless the other was requested.
			if strategy == modelio.OneVersusOne && (positive == "" && i < j || positive == class.Label && i != j) {
				list = append(list, versus(modelio.OneVersusOne, class, other))
			}
		}
	}
	return list
}

func versus(strategy string, positive, negative modelio.Class) modelio.ModelRow {
	return modelio.ModelRow{
		Problem: quoted(positive.Label) + " vs " + quoted(negative.Label), Strategy: strategy,
		Positive: positive.Label, Negative: negative.Label, DocsPositive: positive.Documents, DocsNegative: negative.Documents,
	}
}

func versusRest(positive modelio.Class, others func(modelio.Class) *int64) modelio.ModelRow {
	return modelio.ModelRow{
		Problem: quoted(positive.Label) + " vs rest", Strategy: modelio.OneVersusRest,
		Positive: positive.Label, DocsPositive: positive.Documents, DocsNegative: others(positive),
	}
}

// jointModels returns the rows of a joint model, with only the classes set.
func jointModels(classes []modelio.Class) []modelio.ModelRow {
	rows, others := make([]modelio.ModelRow, len(classes)), documentsOfOthers(classes)
	for i, c := range classes {
		rows[i] = modelio.ModelRow{Problem: modelio.Joint, Strategy: modelio.Joint, Positive: c.Label, DocsPositive: c.Documents, DocsNegative: others(c)}
	}
	return rows
}

// documentsOfOthers returns a function that returns the number of documents of all classes but one, or nil if it is unknown.
func documentsOfOthers(classes []modelio.Class) func(modelio.Class) *int64 {
	var total int64
	for _, c := range classes {
		if c.Documents == nil {
			return func(modelio.Class) *int64 { return nil }
		}
		total += *c.Documents
	}
	return func(c modelio.Class) *int64 {
		others := total - *c.Documents
		return &others
	}
}

// quoted quotes labels that would make the name of a problem ambiguous: those with the word vs, with a quote in front, and
// "rest".
func quoted(label string) string {
	if slices.Contains(strings.Split(label, " "), "vs") || strings.HasPrefix(label, `"`) || label == "rest" {
		return strconv.Quote(label)
	}
	return label
}

// ValidateProblem checks that the rows of a model are of a problem of the classes, with its numbers of documents.
func ValidateProblem(classes []modelio.Class, rows []modelio.ModelRow) error {
	m := rows[0]
	if _, err := solver.ParseMethod(m.Method); err != nil {
		return err
	}
	find := func(label string) (modelio.Class, bool) {
		i, ok := slices.BinarySearchFunc(classes, label, func(c modelio.Class, label string) int { return strings.Compare(c.Label, label) })
		if !ok {
			return modelio.Class{}, false
		}
		return classes[i], true
	}
	positive, known := find(m.Positive)
	negative, both := find(m.Negative)
	want := []modelio.ModelRow{{}}
	switch {
	case m.Strategy == modelio.Joint && len(classes) > 2:
		want = jointModels(classes)
	case m.Strategy == modelio.OneVersusRest && known && len(classes) > 2:
		want[0] = versusRest(positive, documentsOfOthers(classes))
	case known && both && m.Positive != m.Negative && (m.Strategy == modelio.Binary) == (len(classes) == 2):
		want[0] = versus(m.Strategy, positive, negative)
	}
	if !slices.EqualFunc(rows, want, sameProblem) {
		return fmt.Errorf("%q against %q with the strategy %q is not a problem of the classes", m.Positive, m.Negative, m.Strategy)
	}
	return nil
}

func sameProblem(a, b modelio.ModelRow) bool {
	return a.Strategy == b.Strategy && a.Positive == b.Positive && a.Negative == b.Negative && a.Problem == b.Problem &&
		modelio.EqualOrNull(a.DocsPositive, b.DocsPositive) && modelio.EqualOrNull(a.DocsNegative, b.DocsNegative)
}
