package countio

import (
	"context"
	"fmt"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Source is where counts are: the parts of a run under a folder, or a table of the user's own.
type Source struct {
	Dir string // of the run; empty for a table of the user's own
	Own string // the name of the table
}

// Feature is a feature with its counts in the classes in which it has any. It is valid during a visit only.
type Feature struct {
	Name                   string
	ID                     int64
	Labels                 []string
	Occurrences, Documents []float64 // by label; most tables of the user's own have one count for both
}

func (f *Feature) start(name string, id int64) {
	*f = Feature{name, id, f.Labels[:0], f.Occurrences[:0], f.Documents[:0]}
}

func (f *Feature) add(label string, occurrences, documents float64) {
	f.Labels = append(f.Labels, label)
	f.Occurrences = append(f.Occurrences, occurrences)
	f.Documents = append(f.Documents, documents)
}

// Each visits every feature of a part of the run, or of the table.
func (s Source) Each(ctx context.Context, part string, visit func(*Feature) error) error {
	if s.Own != "" {
		return ReadOwn(ctx, s.Own, visit)
	}
	var f Feature
	started := false
	err := ReadTable(ctx, fileio.Join(s.Dir, part), func(r *Row) error {
		if r.Count <= 0 || r.Documents <= 0 || r.Documents > r.Count {
			return fmt.Errorf("%s: the feature %q has %d occurrences in %d documents of %s", part, r.Feature, r.Count, r.Documents, r.Class)
		}
		if !started || f.ID != r.FeatureID || f.Name != r.Feature {
			if started {
				if err := visit(&f); err != nil {
					return err
				}
			}
			started = true
			f.start(r.Feature, r.FeatureID)
		}
		f.add(r.Class, float64(r.Count), float64(r.Documents))
		return nil
	})
	if err == nil && started {
		err = visit(&f)
	}
	return err
}
