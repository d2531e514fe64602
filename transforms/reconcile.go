package transforms

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/tuning"
)

func init() {
	dofn.Register(&reconcileFn{})
}

// ReconcileParams are the parameters of SumTotals and Reconcile.
type ReconcileParams struct {
	Run         modelio.Run
	Output      string // the folder of the run
	Rejects     Rejects
	Parts       []string        // names of the expected files
	Files       int             // number of inputs that are not empty
	Empty       []corpusio.File // the empty inputs
	MaxRejected Budget
	MaxClasses  int // 0: unlimited
	Reading     corpusio.Reading
	First       corpusio.File // the first input that is not empty
	Weights     kernel.Weights

	// With Selection, the classes are also checked: at least two, and Positive one of them.
	Selection bool
	Positive  string
	Strategy  selection.Strategy

	Folds   bool // the classes are those of tuning.AppendLabel; Reconciled.Folds gets them, and Classes their sums
	Scanned bool // the documents were read by a step that does not count them, see scan
}

// Reconcile checks that every byte of the input was read exactly once, that the sums of the parts equal the totals that were
// counted, and that the data are valid. A violated invariant, such as a lost token, is an error; invalid data are a verdict.
// It takes a PCollection<[]byte> of Totals, of SumTotals or CreateTotals, and one of Parts, and returns a
// PCollection<[]byte> of the pieces of one Reconciled.
func Reconcile(s beam.Scope, totals, parts beam.PCollection, p ReconcileParams) beam.PCollection {
	s = s.Scope("transforms.Reconcile")
	return beam.ParDo(s, &reconcileFn{p}, beam.CoGroupByKey(s, beam.AddFixedKey(s, totals), beam.AddFixedKey(s, parts)))
}

type reconcileFn struct {
	Params ReconcileParams
}

func (f *reconcileFn) ProcessElement(_ int, totals, parts func(*[]byte) bool, emit func([]byte)) error {
	var total Totals
	if err := each(totals, func(t Totals) error { total.add(t); return nil }); err != nil {
		return err
	}
	total.normalize()
	var list []Part
	if err := each(parts, func(p Part) error { list = append(list, p); return nil }); err != nil {
		return err
	}
	reconciled, err := reconcile(total, list, f.Params)
	if err != nil {
		return err
	}
	pieces, err := reconciled.pieces()
	return emitRecords(emit, pieces, err)
}

func reconcile(t Totals, parts []Part, p ReconcileParams) (Reconciled, error) {
	a := Reconciled{Verdict: t.Verdict, Drops: t.Drops, Examples: t.Examples, MoreLabels: t.MoreLabels}
	a.Drops.Rounding = kernel.Rounding{Lost: t.RoundingLost}.Of(p.Weights)
	if a.Verdict != nil { // nothing was merged
		return a, nil
	}
	a.Drops.Files, a.Drops.MoreFiles = modelio.TopFiles(t.ByFile)
	a.Rejected, a.Corrupt = t.RejectedFile, t.Skipped
	a.Drops.OtherClasses = modelio.NewOtherClasses(t.Drops.OtherClasses.Documents, t.OtherLabels)
	parts, err := matchParts(parts, p.Parts)
	if err != nil {
		return a, err
	}
	if a.Verdict = damagedVerdict(parts, p); a.Verdict != nil {
		return a, nil
	}
	labels := slices.Sorted(maps.Keys(t.Classes))
	sums := make([]ClassTotal, len(labels))
	var letters kernel.Letters
	for _, part := range parts {
		a.Files = append(a.Files, part.FileSum)
		a.Features += part.Features
		letters.All += part.Letters.All
		letters.Unspaced += part.Letters.Unspaced
		for i, class := range part.Classes {
			if int(class) >= len(labels) {
				return a, fmt.Errorf("%s: has counts of class number %d, but there are %d classes", part.Name, class, len(labels))
			}
			sums[class].Tokens += part.Sums[i].Tokens
			sums[class].Postings += part.Sums[i].Postings
		}
	}
	if err := checkCoverage(t.Spans, p.Files); err != nil {
		return a, err
	}
	if err := compareSums(labels, t.Classes, sums); err != nil {
		return a, err
	}
	a.Inputs = inputs(t.Spans, p.Empty)
	if p.Scanned {
		a.Documents = t.Classes[""].Documents
		a.Warnings = warnings(a, p.Empty)
		for _, part := range parts {
			a.Warnings = append(a.Warnings, part.Warnings...)
			if part.Refused != "" {
				a.Verdict = p.verdict(modelio.ExitData, part.Refused)
			}
		}
		return a, nil
	}
	for _, label := range labels {
		c := t.Classes[label]
		documents := &c.Documents
		if c.Documents == 0 {
			documents = nil
		}
		a.Classes = append(a.Classes, modelio.Class{Label: label, Documents: documents, Tokens: c.Tokens, Postings: c.Postings})
	}
	if p.Folds {
		a.Folds, a.Classes = a.Classes, tuning.MergeClasses(a.Classes)
	}
	if p.Selection {
		a.Verdict = p.verdict(selection.ValidateClasses(a.Classes, p.Positive, p.Strategy))
		if a.Verdict == nil && a.Features == 0 {
			a.Verdict = p.verdict(modelio.ExitData, "the documents have no features to select from"+noFeatures(t, p.Run.Analysis()))
		}
	}
	a.Warnings = slices.Concat(warnings(a, p.Empty), labelWarnings(a.Classes, t.OtherLabels, p.Reading.LabelMap))
	if hint := letters.Warning(p.Run.Analysis()); hint != "" {
		a.Warnings = append(a.Warnings, hint)
	}
	return a, nil
}

// noFeatures says why there are no features, if that is known.
func noFeatures(t Totals, a modelio.Analysis) string {
	if n := t.Drops.RoundedToZero; n > 0 {
		return fmt.Sprintf(": %s values were rounded to zero; choose a smaller --value_unit", humanize.Comma(n))
	}
	if a.Unit != "word" || a.MinTokenLength > 0 {
		return ""
	}
	return " (a word has at least two letters or digits)"
}

// matchParts returns one part for each name, in the order of the names. A retry may have written a part again.
func matchParts(parts []Part, names []string) ([]Part, error) {
	found := map[string]Part{}
	for _, p := range parts {
		if other, ok := found[p.Name]; ok && other.SHA256 != p.SHA256 {
			return nil, fmt.Errorf("%s: two attempts wrote different bytes", p.Name)
		}
		found[p.Name] = p
	}
	var list []Part
	for _, name := range names {
		p, ok := found[name]
		if !ok {
			return nil, fmt.Errorf("%s: was not written", name)
		}
		list = append(list, p)
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("%d parts of the counts were written, but %d were expected", len(found), len(names))
	}
	return list, nil
}

func (p ReconcileParams) verdict(exit int, message string) *modelio.Verdict {
	if message == "" {
		return nil
	}
	return &modelio.Verdict{Run: p.Run.ID, Exit: exit, Message: message}
}

// damagedVerdict is the verdict on existing counts that are damaged, or nil.
func damagedVerdict(parts []Part, p ReconcileParams) *modelio.Verdict {
	message, more := "", 0
	for _, part := range parts {
		switch {
		case part.Damaged == "":
		case message == "":
			message = part.Damaged
		default:
			more++
		}
	}
	if more > 0 {
		message += fmt.Sprintf(" (and %d more files)", more)
	}
	if message != "" {
		message += "; restore the counts, or count again"
	}
	return p.verdict(modelio.ExitData, message)
}

// checkCoverage checks that each input was read from start to end, exactly once.
func checkCoverage(spans []corpusio.Span, files int) error {
	for _, s := range spans {
		if s.Start != 0 || s.End != s.File.Size {
			return fmt.Errorf("%s: was not read exactly once: bytes %d to %d of %d are separate from the rest", s.File.Name, s.Start, s.End, s.File.Size)
		}
	}
	if len(spans) != files {
		return fmt.Errorf("%d files were read, but %d were expected", len(spans), files)
	}
	return nil
}

// compareSums compares the sums of the parts with the totals that were counted.
func compareSums(labels []string, counted map[string]ClassTotal, arrived []ClassTotal) error {
	for i, label := range labels {
		if c, a := counted[label], arrived[i]; a.Tokens != c.Tokens || a.Postings != c.Postings {
			return fmt.Errorf("counts of class %s were lost or duplicated: counted %v tokens and %v postings, received %v and %v",
				label, c.Tokens, c.Postings, a.Tokens, a.Postings)
		}
	}
	return nil
}

func inputs(spans []corpusio.Span, empty []corpusio.File) []modelio.Input {
	var list []modelio.Input
	for _, s := range spans {
		in := modelio.Input{File: s.File}
		if !s.NoCRC {
			in.CRC32C = fileio.Checksum(s.CRC)
		}
		list = append(list, in)
	}
	for _, f := range empty {
		list = append(list, modelio.Input{File: f, CRC32C: fileio.Checksum(0)})
	}
	slices.SortFunc(list, func(a, b modelio.Input) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func warnings(a Reconciled, empty []corpusio.File) (list []string) {
	for _, c := range a.Classes {
		if c.Tokens == 0 {
			list = append(list, fmt.Sprintf("class %s has no tokens, so the model learns nothing about it", c.Label))
		}
	}
	for _, f := range empty {
		list = append(list, f.Name+": is empty")
	}
	for _, c := range a.Corrupt[:min(len(a.Corrupt), maxExamples)] {
		list = append(list, c.Error()+"; what was read before it was counted, the rest of the file was skipped; if a checksum is wrong, some of what was counted may be damaged, too")
	}
	if more := len(a.Corrupt) - maxExamples; more > 0 {
		list = append(list, fmt.Sprintf("%d more files are corrupt; %s lists all", more, modelio.ManifestFile))
	}
	return list
}

// Budget is the number of malformed lines that are tolerated: absolute, or a share of all lines.
type Budget struct {
	Text   string  // as it was given
	Share  float64 // 0 to 1, if Number is negative
	Number int64
}

// ParseBudget reads a number such as 100, or a percentage such as 1%.
func ParseBudget(text string) (Budget, error) {
	b := Budget{Text: text}
	var err error
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		b.Share, err = strconv.ParseFloat(percent, 64)
		b.Share /= 100
		b.Number = -1
	} else {
		b.Number, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || !(b.Share >= 0 && b.Share <= 1) || b.Number < -1 || b.Number < 0 && !strings.HasSuffix(text, "%") {
		return b, fmt.Errorf("%q: must be a number of lines, or a percentage from 0%% to 100%%", text)
	}
	return b, nil
}

// Exceeded reports whether so many of all lines are malformed that it is more than tolerated.
func (b Budget) Exceeded(rejected, lines int64) bool {
	if b.Number >= 0 {
		return rejected > b.Number
	}
	return float64(rejected) > b.Share*float64(lines)
}

// FileNames returns the names of files.
func FileNames(files []tableio.FileSum) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	return names
}

// PartNames returns the names of the parts that MergeCounts writes.
func PartNames(shards int) []string {
	names := make([]string, shards)
	for i := range names {
		names[i] = countio.PartName(i, shards)
	}
	return names
}
