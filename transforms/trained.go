package transforms

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// trainingWarning warns of inputs that the run of a model has read, too, or returns "". They have the same size and checksum,
// or without a checksum the same name. The counts of a selection are followed to the run that counted, if it still exists.
func trainingWarning(ctx context.Context, dir string, inputs []modelio.Input) (string, error) {
	m, err := modelio.ReadManifest(ctx, dir)
	if err != nil {
		return "", err
	}
	if m.Counts != nil && m.Counts.Size == 0 { // not a custom table
		if m, err = modelio.ReadManifest(ctx, m.Counts.Name); err != nil {
			return "", nil
		}
	}
	type content struct {
		size int64
		is   string
	}
	contentOf := func(in modelio.Input) content {
		if in.CRC32C == "" {
			return content{in.Size, "name " + in.Name}
		}
		return content{in.Size, in.CRC32C}
	}
	trained := map[content]string{}
	for _, in := range m.Inputs {
		trained[contentOf(in)] = in.Name
	}
	var found []string
	for _, in := range inputs {
		name, ok := trained[contentOf(in)]
		if !ok || in.Size == 0 {
			continue
		}
		if name != in.Name {
			name = in.Name + " (there " + name + ")"
		}
		found = append(found, name)
	}
	if len(found) == 0 {
		return "", nil
	}
	const most = 3
	list := strings.Join(slices.Clone(found[:min(len(found), most)]), ", ")
	if more := len(found) - most; more > 0 {
		list += fmt.Sprintf(" and %s more", humanize.Comma(int64(more)))
	}
	return fmt.Sprintf("the model in %s was trained on the same content: %s; so the figures are too good; evaluate on documents that the model has not seen", dir, list), nil
}
