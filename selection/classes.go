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

// JudgeClasses is the gate for the classes of a selection. The message is empty if they are good.
func JudgeClasses(classes []modelio.Class, positive string, strategy Strategy) (exit int, message string) {
	labels := Labels(classes)
	n := strategy.Problems(len(classes), positive)
	switch {
	case positive != "" && !slices.Contains(labels, positive):
		return modelio.ExitUsage, fmt.Sprintf("--positive=%s is no label of the data; found: %s", positive, ListLabels(labels))
	case len(labels) == 1:
		return modelio.ExitData, fmt.Sprintf("only one class has documents, %s: there is nothing to tell it from", ListLabels(labels))
	case strategy == modelio.OneVersusOne && n > maxProblems:
		return modelio.ExitUsage, fmt.Sprintf("--strategy=ovo makes %s problems of %s classes, and %s are the most; use --strategy=ovr or --strategy=joint",
			humanize.Comma(n), humanize.Comma(int64(len(classes))), humanize.Comma(maxProblems))
	}
	return 0, ""
}

// ListLabels quotes the first labels, shortened.
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
