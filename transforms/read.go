package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/histogram"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func([]byte), func([]byte), error](&readFn{})
}

// ReadParams parameterise ReadCounts.
type ReadParams struct {
	Run    modelio.Run
	Output string
	Source countio.Source
	Model  solver.Model
}

// ReadCounts reads counts that are there already. Like Begin it claims the output, and like MergeCounts it returns a
// PCollection<[]byte> of Parts and one of pieces of the histogram. files are the parts of the run; a table of the
// user's own has a name only.
func ReadCounts(s beam.Scope, files []countio.FileSum, p ReadParams) (parts, pieces beam.PCollection) {
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
	sums := countio.ClassSums{}
	hist := histogram.New(nil)
	err = f.Params.Source.Each(ctx, sum.Name, func(feat *countio.Feature) error {
		part.Features++
		sums.Add(feat)
		hist.AddLabelled(feat.Labels, func(i int) float64 { return f.Params.Model.Count(feat.Occurrences[i], feat.Documents[i]) })
		return nil
	})
	if err != nil {
		return err
	}
	for label := range sums {
		tokens, postings := sums.Of(label)
		part.Classes[label] = ClassTotal{Tokens: tokens, Postings: postings}
	}
	hist.Pack(MaxElement, emitPairs)
	return emitRecord(emitPart, part)
}
