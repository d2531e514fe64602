package transforms

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
)

func init() {
	dofn.Register(&sumFn{})
}

// SumTotals adds up the totals of all bundles and validates the input. It takes a PCollection<[]byte> of Totals and
// returns one of the pieces of their sum, and one of the pieces of the ClassList, from which MergeCounts learns the labels:
// blocks have ids instead.
func SumTotals(s beam.Scope, totals beam.PCollection, p ReconcileParams) (sum, classes beam.PCollection) {
	s = s.Scope("transforms.SumTotals")
	p.Parts, p.Empty = nil, nil // not needed here, and possibly long
	return beam.ParDo2(s, &sumFn{p}, beam.GroupByKey(s, beam.AddFixedKey(s, totals)))
}

type sumFn struct {
	Params ReconcileParams
}

func (f *sumFn) ProcessElement(ctx context.Context, _ int, totals func(*[]byte) bool, emitSum, emitClasses func([]byte)) error {
	var sum Totals
	err := each(totals, func(t Totals) error {
		sum.add(t)
		if f.Params.MaxClasses > 0 && len(sum.Classes) > f.Params.MaxClasses {
			sum.TooMany = true
		}
		if sum.TooMany {
			sum.Classes = nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum.normalize()
	sum.Verdict = validateInput(ctx, sum, f.Params)
	labels := slices.Sorted(maps.Keys(sum.Classes))
	if _, err := block.NewClasses(labels); err != nil {
		sum.Verdict = f.Params.verdict(modelio.ExitData, err.Error())
	}
	pieces, err := sum.pieces()
	if err := emitRecords(emitSum, pieces, err); err != nil {
		return err
	}
	if sum.Verdict != nil {
		return emitRecord(emitClasses, ClassList{Verdict: true})
	}
	lists, err := cut(labels, func(labels []string) ClassList { return ClassList{Labels: labels} })
	return emitRecords(emitClasses, lists, err)
}

// validateInput returns the verdict on the input, or nil if it is valid.
func validateInput(ctx context.Context, t Totals, p ReconcileParams) *modelio.Verdict {
	for _, s := range t.Spans { // first: what was read may differ from what is stored
		if err := s.Check(); err != nil {
			return p.verdict(modelio.ExitFailed, err.Error())
		}
	}
	// These two stop the reading early, so that the other totals are incomplete.
	if len(t.Headers) > 0 {
		return p.verdict(modelio.ExitData, t.Headers[0].Error())
	}
	if t.TooMany {
		return p.verdict(modelio.ExitData, fmt.Sprintf("more than %s classes%s; %s; if not, raise --max_classes",
			humanize.Comma(int64(p.MaxClasses)), p.example(ctx), swapped))
	}
	if len(t.Corrupt) > 0 {
		message := t.Corrupt[0].Error()
		files := map[string]bool{} // ranges of a file fail separately
		for _, c := range t.Corrupt {
			files[c.File] = true
		}
		if n := len(files) - 1; n > 0 {
			message += fmt.Sprintf(" (and %d more files)", n)
		}
		return p.verdict(modelio.ExitData, message)
	}
	documents, rejected := int64(0), t.rejected()
	for _, c := range t.Classes {
		documents += c.Documents
	}
	first := ""
	if len(t.Examples) > 0 {
		e := t.Examples[0]
		first = fmt.Sprintf("; the first malformed line: %s, %s: %s", e.File, t.place(e), e.Reason.Sentence())
	}
	if 2*t.Drops.Lines[corpusio.LongLabel] > rejected {
		first += "; " + swapped
	}
	switch {
	case documents == 0 && rejected == 0:
		return p.verdict(modelio.ExitData, "no documents: all lines of the input are blank or headers")
	case documents == 0:
		return p.verdict(modelio.ExitData, fmt.Sprintf("no documents: all %s are malformed%s", lines(rejected), first))
	case p.MaxRejected.exceeded(rejected, documents+rejected):
		return p.verdict(modelio.ExitData, fmt.Sprintf("%d of %d lines are malformed, more than --max_rejected=%s%s",
			rejected, documents+rejected, p.MaxRejected.Text, first))
	}
	return nil
}

// place is where a record is in its file.
func (t Totals) place(r corpusio.Rejection) string {
	for _, s := range t.Spans {
		if s.File.Name == r.File {
			return s.File.Place(r.Offset)
		}
	}
	return corpusio.File{}.Place(r.Offset)
}

func lines(n int64) string {
	if n == 1 {
		return "lines" // all of them
	}
	return humanize.Comma(n) + " lines"
}

// swapped is the probable cause of too many or too long labels.
const swapped = "probably the columns are swapped: a line is label<TAB>text"

// example returns a label to show. It reads the first label of the first file again, so that the message does not depend on
// how the work was split.
func (p ReconcileParams) example(ctx context.Context) string {
	label, err := corpusio.FirstLabel(ctx, p.First, p.Reading)
	if err != nil || label == "" {
		return ""
	}
	return ", such as " + selection.ListLabels([]string{label})
}
