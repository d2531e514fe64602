package report

import (
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// labelNotes says where labels come from, unless each document has its own, and which documents were left out for theirs.
func labelNotes(m modelio.Manifest) (notes []string) {
	given := 0
	for _, in := range m.Inputs {
		if in.Label != "" {
			given++
		}
	}
	switch from := m.Options["label_from"]; {
	case given == 0:
	case from != "":
		notes = append(notes, fmt.Sprintf("labels: the name of the %s of each input", from))
	case given == len(m.Inputs):
		notes = append(notes, "labels: by --class")
	default:
		notes = append(notes, fmt.Sprintf("labels: by --class for %s, in the documents for the others", Plural(int64(given), "file")))
	}
	if renamed := m.Options["label_map"]; renamed != "" {
		notes = append(notes, "labels were renamed by --label_map")
	}
	if o := m.Drops.OtherClasses; o.Documents > 0 {
		notes = append(notes, fmt.Sprintf("left out by --classes: %s of %s", Plural(o.Documents, "document"), o))
	} else if len(o.Labels) > 0 {
		notes = append(notes, fmt.Sprintf("labels left out by --classes, of documents with several: %s", o))
	}
	return notes
}
