package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func([]byte), func([]byte), error](&readFn{})
}

// CountSource is where counts are: the parts of a run under a folder, or one table of the user's own.
type CountSource struct {
	Dir string // of the run; empty for a table of the user's own
	Own string // the name of the table
}

// ReadParams parameterise ReadCounts.
type ReadParams struct {
	Run    modelio.Run
	Output string
	Source CountSource
	Model  solver.Model
}

// ReadCounts reads counts that are there already. Like Begin it claims the output, and like MergeCounts it returns a
// PCollection<[]byte> of Parts and one of pieces of the histogram. files are the parts of the run; a table of the
// user's own has a name only.
func ReadCounts(s beam.Scope, files []countio.FileSum, p ReadParams) (parts, histogram beam.PCollection) {
	s = s.Scope("transforms.ReadCounts")
	return beam.ParDo2(s, &readFn{p}, beam.Reshuffle(s, createSingles(s, files)))
}

// CreateTotals creates a PCollection<[]byte> of the Totals of counts that were made before.
func CreateTotals(s beam.Scope, classes []modelio.Class) beam.PCollection {
	t := Totals{Classes: map[string]ClassTotal{}}
	for _, c := range classes {
		total := ClassTotal{Tokens: c.Tokens, Postings: c.Postings}
		if c.Documents != nil {
			total.Documents = *c.Documents
		}
		t.Classes[c.Label] = total
	}
	return createSingles(s, []Totals{t})
}

// createSingles creates a PCollection<[]byte> of values.
func createSingles[T any](s beam.Scope, values []T) beam.PCollection {
	var singles []any
	for _, v := range values {
		b, err := encode(v)
		if err != nil {
			panic("transforms.createSingles: " + err.Error())
		}
		singles = append(singles, b)
	}
	return beam.Create(s, singles...)
}

type readFn struct {
	Params ReadParams
}

func (f *readFn) ProcessElement(ctx context.Context, file []byte, emitPart, emitPairs func([]byte)) error {
	if err := modelio.Claim(ctx, f.Params.Output, f.Params.Run); err != nil {
		return err
	}
	sum, err := decode[countio.FileSum](file)
	if err != nil {
		return err
	}
	part := Part{FileSum: sum, Classes: map[string]ClassTotal{}}
	histogram := newPairs(nil)
	err = eachFeature(ctx, f.Params.Source, sum.Name, func(feat *countedFeature) error {
		part.Features++
		var counts [2]float64
		for i, label := range feat.labels {
			c := part.Classes[label]
			c.Tokens += feat.occurrences[i]
			c.Postings += feat.documents[i]
			part.Classes[label] = c
			if slot := histogram.slot(label); slot < len(counts) {
				counts[slot] = feat.count(f.Params.Model, i)
			}
		}
		histogram.add(counts)
		return nil
	})
	if err != nil {
		return err
	}
	record, err := encode(part)
	if err != nil {
		return err
	}
	emitPart(record)
	histogram.pack(MaxElement, emitPairs)
	return nil
}

// countedFeature is a feature with its counts, in the classes in which it has any. It is valid during a visit only.
type countedFeature struct {
	name                   string
	id                     int64
	labels                 []string
	occurrences, documents []float64
}

// count is the count that a model is about. A table of the user's own has one count, which is meant for the model.
func (c *countedFeature) count(m solver.Model, i int) float64 {
	if m == solver.Bernoulli {
		return c.documents[i]
	}
	return c.occurrences[i]
}

func (c *countedFeature) start(name string, id int64) {
	*c = countedFeature{name, id, c.labels[:0], c.occurrences[:0], c.documents[:0]}
}

func (c *countedFeature) add(label string, occurrences, documents float64) {
	c.labels = append(c.labels, label)
	c.occurrences = append(c.occurrences, occurrences)
	c.documents = append(c.documents, documents)
}

// eachFeature calls visit with every feature of a part, or of a table of the user's own.
func eachFeature(ctx context.Context, source CountSource, name string, visit func(*countedFeature) error) error {
	var c countedFeature
	if source.Own != "" {
		_, err := countio.ReadOwn(ctx, source.Own, func(classes []string, name []byte, counts []float64) error {
			key, _ := feature.Hash(name)
			c.start(string(name), feature.ID(key))
			for i, n := range counts {
				c.add(classes[i], n, n)
			}
			return visit(&c)
		})
		return err
	}
	started := false
	err := countio.ReadTable(ctx, fileio.Join(source.Dir, name), func(r *countio.Row) error {
		if r.Count <= 0 || r.Documents <= 0 || r.Documents > r.Count {
			return fmt.Errorf("%s: the feature %q has %d occurrences in %d documents of %s", name, r.Feature, r.Count, r.Documents, r.Class)
		}
		if !started || c.id != r.FeatureID || c.name != r.Feature {
			if started {
				if err := visit(&c); err != nil {
					return err
				}
			}
			started = true
			c.start(r.Feature, r.FeatureID)
		}
		c.add(r.Class, float64(r.Count), float64(r.Documents))
		return nil
	})
	if err == nil && started {
		err = visit(&c)
	}
	return err
}
