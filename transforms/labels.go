package transforms

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

// labelWarnings warns of labels that are probably spelled wrong: of classes that differ only in their spelling, and of new
// names in a label map that no document got.
func labelWarnings(classes []modelio.Class, others corpusio.LabelCounts, renamed map[string]string) (list []string) {
	found := map[string]bool{}
	for _, c := range classes {
		found[c.Label] = true
	}
	var unused []string
	for _, name := range slices.Compact(slices.Sorted(maps.Values(renamed))) {
		_, other := others.ByName[name]
		if !found[name] && !other && (others.Limit == "" || name < others.Limit) {
			unused = append(unused, name)
		}
	}
	if len(unused) > 0 {
		list = append(list, fmt.Sprintf("--label_map: no document has a label that is renamed to %s", selection.ListLabels(unused)))
	}
	if pairs := similarLabels(classes); len(pairs) > 0 {
		list = append(list, fmt.Sprintf("labels that differ only in case, punctuation or the format of a number are separate classes: %s; --label_map merges them",
			strings.Join(pairs, ", ")))
	}
	return list
}

// similarLabels returns the first few pairs of labels that are probably spellings of the same one.
func similarLabels(classes []modelio.Class) (pairs []string) {
	const most = 3
	first := map[string]string{}
	for _, c := range classes {
		key := spelling(c.Label)
		if other, ok := first[key]; !ok {
			first[key] = c.Label
		} else if pairs = append(pairs, selection.ListLabels([]string{other})+" and "+selection.ListLabels([]string{c.Label})); len(pairs) == most {
			break
		}
	}
	return pairs
}

// spelling is equal for labels that differ only in case, in punctuation around them, or in the format of a number.
func spelling(label string) string {
	inner := strings.Trim(label, "\"'`.,:;()[]{} ")
	if inner == "" { // such as :( and :)
		return label
	}
	const exact = 15                              // digits of a float64
	for _, text := range []string{label, inner} { // .1 is not 1
		if x, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= exact {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	return strings.ToLower(inner)
}
