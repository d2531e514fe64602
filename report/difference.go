package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Differences says how two runs differ in what they count and fit, and whether their gains and weights can be compared.
func Differences(a, b modelio.Manifest) (lines []string) {
	if before, now := kindOfFeatures(a), kindOfFeatures(b); before != now {
		lines = append(lines, fmt.Sprintf("features: %s (before: %s)", now, before))
	}
	if before, now := modelOf(a), modelOf(b); before != now {
		lines = append(lines, fmt.Sprintf("model: %s (before: %s)", now, before))
	}
	if len(lines) > 0 {
		lines = append(lines, "gains and weights cannot be compared, only which features are selected")
	}
	if options := otherOptions(a.Options, b.Options); len(options) > 0 {
		lines = append(lines, "options: "+strings.Join(options, "; "))
	}
	return lines
}

// kindOfFeatures says what the features of a run are, and what a document adds to their counts.
func kindOfFeatures(m modelio.Manifest) string {
	switch {
	case len(m.Inputs) > 0 && !slices.ContainsFunc(m.Inputs, func(in modelio.Input) bool { return !in.IsMatrix() }):
		return "columns of matrices"
	case m.Analyzer != nil:
		return Analyzer(*m.Analyzer)
	case m.Counts != nil && m.Counts.Size > 0:
		return "a table of counts"
	}
	return "unknown"
}

func modelOf(m modelio.Manifest) string { return cmp.Or(m.Options["model"], "none") }

// saidElsewhere are the options that Differences does not list: those of the features and the model, which it describes, and
// those that change no model.
var saidElsewhere = []string{"model", "k", "log_samples", "max_classes", "max_record_bytes", "max_rejected", "rejects_output", "shards"}

// otherOptions lists the options that differ.
func otherOptions(a, b map[string]string) (list []string) {
	said := slices.Concat(saidElsewhere, slices.Collect(maps.Keys(modelio.Run{Options: a}.Analysis().Options())), slices.Collect(maps.Keys(modelio.Run{Options: b}.Analysis().Options())))
	all := map[string]string{} // a and b may be nil
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before, now := a[name], b[name]; before != now && !slices.Contains(said, name) {
			list = append(list, fmt.Sprintf("--%s=%s (before: %s)", name, cmp.Or(now, "default"), cmp.Or(before, "default")))
		}
	}
	return list
}
