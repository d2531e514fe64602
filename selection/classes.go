package selection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Labels returns the labels of classes.
func Labels(classes []modelio.Class) []string {
	labels := make([]string, len(classes))
	for i, c := range classes {
		labels[i] = c.Label
	}
	return labels
}

// ValidateClasses checks that features can be selected for these classes. It returns an exit code of modelio and a message, or 0
// and "" if they can.
func ValidateClasses(classes []modelio.Class, positive string, strategy Strategy) (exit int, message string) {
	labels := Labels(classes)
	n := strategy.Problems(len(classes), positive)
	switch {
	case positive != "" && !slices.Contains(labels, positive):
		return modelio.ExitUsage, fmt.Sprintf("--positive=%s: no such label in the data; found: %s", positive, ListLabels(labels))
	case len(labels) == 1:
		return modelio.ExitData, fmt.Sprintf("only one class has documents: %s; a selection needs at least two", ListLabels(labels))
	case strategy == modelio.OneVersusOne && n > maxProblems:
		return modelio.ExitUsage, fmt.Sprintf("--strategy=ovo makes %s problems of %s classes; the maximum is %s; use --strategy=ovr or --strategy=joint",
			humanize.Comma(n), humanize.Comma(int64(len(classes))), humanize.Comma(maxProblems))
	}
	return 0, ""
}

// ListLabels returns a list of the first 20 labels for a message, each of at most 40 characters, and quoted where needed.
func ListLabels(labels []string) string {
	const most, longest = 20, 40
	var shown []string
	for _, label := range labels[:min(len(labels), most)] {
		if runes := []rune(label); len(runes) > longest {
			label = string(runes[:longest]) + "…"
		}
		if quoted := strconv.Quote(label); quoted != `"`+label+`"` || strings.ContainsAny(label, ", ") {
			label = quoted
		}
		shown = append(shown, label)
	}
	if len(labels) > most {
		shown = append(shown, fmt.Sprintf("and %d more", len(labels)-most))
	}
	return strings.Join(shown, ", ")
}
