package transforms

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/tuning"
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
		if f.Params.MaxClasses > 0 && len(f.Params.classes(sum)) > f.Params.MaxClasses {
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
	if sum.RejectedFile, err = f.Params.writeRejected(ctx, sum); err != nil {
		return err
	}
	sum.Rejected = nil
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
	if len(lists) > 0 {
		for _, c := range sum.Classes {
			lists[0].Documents += c.Documents
		}
	}
	return emitRecords(emitClasses, lists, err)
}

// classes returns the totals of the classes, without folds.
func (p ReconcileParams) classes(t Totals) map[string]ClassTotal {
	if !p.Folds {
		return t.Classes
	}
	classes := map[string]ClassTotal{}
	for label, c := range t.Classes {
		label = tuning.LabelOf(label)
		s := classes[label]
		classes[label] = ClassTotal{s.Documents + c.Documents, s.Tokens + c.Tokens, s.Postings + c.Postings}
	}
	return classes
}

// validateInput returns the verdict on the input, or nil if it is valid.
func validateInput(ctx context.Context, t Totals, p ReconcileParams) *modelio.Verdict {
	for _, s := range t.Spans { // first: what was read may differ from what is stored
		if err := s.Check(); err != nil {
			return p.verdict(modelio.ExitFailed, err.Error())
		}
	}
	// These stop the reading early, so that the other totals are incomplete.
	if len(t.Headers) > 0 {
		return p.verdict(modelio.ExitData, t.Headers[0].Error())
	}
	if t.TooLarge {
		return p.verdict(modelio.ExitData, p.tooLarge())
	}
	t.Classes = p.classes(t)
	for _, c := range t.Classes {
		if p.Weights.Real() && c.Tokens >= p.Weights.Value(kernel.MaxUnits) {
			return p.verdict(modelio.ExitData, p.tooLarge())
		}
	}
	if t.TooMany {
		probably := p.swapped()
		if p.First.Label != "" {
			probably = "probably not every file or folder should be a class"
		}
		return p.verdict(modelio.ExitData, fmt.Sprintf("more than %s classes%s; %s; if not, raise --max_classes",
			humanize.Comma(int64(p.MaxClasses)), p.example(ctx), probably))
	}
	if len(t.Corrupt) > 0 {
		return p.verdict(modelio.ExitData, corruptFiles(t.Corrupt))
	}
	documents, rejected := -t.MoreLabels-t.Weight, t.rejected()
	for _, c := range t.Classes {
		documents += c.Documents
	}
	first := ""
	if len(t.Examples) > 0 {
		e := t.Examples[0]
		first = fmt.Sprintf("; the first malformed record: %s, %s: %s", e.File, t.place(e), e.Reason.Sentence())
	}
	if 2*t.Drops.Lines[corpusio.LongLabel] > rejected {
		first += "; " + p.swapped()
	}
	if name := p.Rejects.Name(); name != "" {
		first += fmt.Sprintf("; %s lists them", name)
	}
	others := modelio.NewOtherClasses(t.Drops.OtherClasses.Documents, t.OtherLabels)
	counted := documents + others.Documents // that are valid
	switch {
	case counted == 0 && rejected == 0 && len(t.Skipped) > 0:
		return p.verdict(modelio.ExitData, "no documents before the damage: "+corruptFiles(t.Skipped))
	case counted == 0 && rejected == 0 && t.Drops.OtherRecords > 0:
		return p.verdict(modelio.ExitData, fmt.Sprintf("no documents: no record of the input is a page (%s other records); a WARC file is read with --format=warc, a WET file with --format=wet",
			humanize.Comma(t.Drops.OtherRecords)))
	case counted == 0 && rejected == 0:
		return p.verdict(modelio.ExitData, "no documents: all lines of the input are blank or headers")
	case counted > 0 && len(t.Classes) == 0 && others.Documents == 0:
		return p.verdict(modelio.ExitData, "no documents: all have the weight 0")
	case counted == 0:
		return p.verdict(modelio.ExitData, fmt.Sprintf("no documents: all %s are malformed%s", records(rejected), first))
	case p.MaxRejected.Exceeded(rejected, counted+rejected):
		return p.verdict(modelio.ExitData, fmt.Sprintf("%d of %d records are malformed, more than --max_rejected=%s%s",
			rejected, counted+rejected, p.MaxRejected.Text, first))
	}
	if p.Scanned { // the labels of the documents are unknown
		if documents > 0 {
			return nil
		}
		t.Classes = nil
	}
	return p.verdict(modelio.ExitData, missingClasses(p.Reading.Classes, t.Classes, others))
}

// tooLarge says that the values of a class are beyond the range in which sums are exact.
func (p ReconcileParams) tooLarge() string {
	unit := modelio.FormatUnit(p.Weights.Exponent)
	return fmt.Sprintf("the values of a class add up to 2^53 or more units of %s, so sums would not be exact; choose a larger unit, such as --value_unit=%s",
		unit, modelio.FormatUnit(min(p.Weights.Exponent+10, kernel.MaxExponent)))
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

// missingClasses says which of the classes to keep no document has, or "".
func missingClasses(kept []string, found map[string]ClassTotal, others modelio.OtherClasses) string {
	missing := slices.DeleteFunc(slices.Clone(kept), func(label string) bool { _, ok := found[label]; return ok })
	if len(missing) == 0 {
		return ""
	}
	var list []string
	for _, label := range slices.Sorted(maps.Keys(found)) {
		list = append(list, fmt.Sprintf("%s (%s)", label, humanize.Comma(found[label].Documents)))
	}
	list = append(list[:min(len(list), modelio.MaxOtherLabels)], others.String())
	return fmt.Sprintf("--classes: no document has the label %s; the labels are %s",
		selection.ListLabels(missing), strings.Trim(strings.Join(list, ", "), ", "))
}

func corruptFiles(list []corpusio.CorruptError) string {
	message := list[0].Error()
	files := map[string]bool{} // ranges of a file fail separately
	for _, c := range list {
		files[c.File] = true
	}
	if n := len(files) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more files)", n)
	}
	return message
}

func records(n int64) string {
	if n == 1 {
		return "records" // all of them
	}
	return humanize.Comma(n) + " records"
}

// swapped is the probable cause of too many or too long labels.
func (p ReconcileParams) swapped() string {
	if p.First.Format == "" {
		return "probably the columns are swapped: a line is label<TAB>text"
	}
	return "probably the label is in another column; name it with --label_column"
}

// example returns a label to show. It reads the first label of the first file again, so that the message does not depend on
// how the work was split.
func (p ReconcileParams) example(ctx context.Context) string {
	label, err := corpusio.FirstLabel(ctx, p.First, p.Reading)
	if err != nil || label == "" {
		return ""
	}
	return ", such as " + selection.ListLabels([]string{label})
}
