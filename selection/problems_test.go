package selection

import (
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Labels may contain the separator or be quoted themselves; names of problems are unique nevertheless.
func TestProblemsHaveDifferentNames(t *testing.T) {
	labels := []string{
		"a", "a vs", "a vs b", "b", "c", "vs", "vs c", "vs vs", "a vs vs c", "rest", "vs rest", `"a"`, `"a vs"`, `"a vs" vs c`, `a "vs"`, `\"a`, "a  vs", "avs", "vsc",
	}
	var classes []modelio.Class
	for _, label := range labels {
		classes = append(classes, modelio.Class{Label: label})
	}
	for _, strategy := range []Strategy{modelio.OneVersusRest, modelio.OneVersusOne} {
		seen := map[string]modelio.ModelRow{}
		for _, positive := range append(labels, "") {
			for _, m := range problems(classes, strategy, positive) {
				if o, ok := seen[m.Problem]; ok && (o.Positive != m.Positive || o.Negative != m.Negative) {
					t.Errorf("%s: %q and %q, %q and %q are all %s", strategy, o.Positive, o.Negative, m.Positive, m.Negative, m.Problem)
				}
				seen[m.Problem] = m
			}
		}
	}
	for label, want := range map[string]string{"sci.space": "sci.space", "a b": "a b", "versus": "versus", "a vs": `"a vs"`, "rest": `"rest"`} {
		if got := quoted(label); got != want {
			t.Errorf("%q is written %s", label, got)
		}
	}
}
