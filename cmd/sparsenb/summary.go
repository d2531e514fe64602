package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// summarise prints what a run has found.
func summarise(ctx context.Context, w io.Writer, dir string) error {
	p, err := modelio.Read(ctx, dir)
	if err != nil {
		return err
	}
	for _, warning := range p.Manifest.Warnings {
		warn("%s", warning)
	}
	for _, note := range notes(p) {
		warn("%s", note)
	}
	printRun(w, p)
	return nil
}

func printRun(w io.Writer, p modelio.Published) {
	printf(w, "%s\n", corpus(p.Manifest))
	models := slices.CompactFunc(slices.Clone(p.Models), func(a, b modelio.ModelRow) bool { return a.Key() == b.Key() })
	rows := maxRowsShown
	if len(models) > fewModels {
		rows = fewRowsShown
	}
	for i, m := range models {
		printf(w, "\n")
		if i == maxModelsShown {
			printf(w, "… and %s, in %s and %s\n", plural(int64(len(models)-i), "more model"), modelio.ModelFile, modelio.FeaturesFile)
			break
		}
		with := ""
		if hasSeveralSmoothings(p) {
			with = fmt.Sprintf(", with a smoothing of %v", m.Smoothing)
		}
		if m.Strategy == modelio.Joint {
			printJointModel(w, m, p.Of(m), vocabularyOf(p), rows, with)
		} else {
			printModel(w, m, p.Of(m), vocabularyOf(p), rows, with)
		}
	}
	printf(w, "\n%s: %s\n", p.Dir, contents(p.Manifest))
}

// corpus says what was counted.
func corpus(m modelio.Manifest) string {
	var classes []string
	for i, c := range m.Classes {
		if i == maxClassesShown {
			classes = append(classes, fmt.Sprintf("and %d more", len(m.Classes)-i))
			break
		}
		text := c.Label + " ("
		if c.Documents != nil {
			text += plural(*c.Documents, "document") + ", "
		}
		classes = append(classes, text+counted(c.Tokens, m)+")")
	}
	features := plural(m.Features, "different "+noun(m))
	if bits := hashBits(m.Options); bits > 0 {
		features = fmt.Sprintf("%s of %s", humanize.Comma(m.Features), plural(1<<bits, "bucket"))
	}
	return fmt.Sprintf("%s; %s", strings.Join(classes, ", "), features)
}

// counted says how much there is of a class: words, or what the rows of a table add up to.
func counted(tokens float64, m modelio.Manifest) string {
	switch {
	case isOwn(m):
		return "counts of " + number(tokens)
	case tokens == 1:
		return "1 " + token(m.Options)
	}
	return number(tokens) + " " + token(m.Options) + "s"
}

const (
	maxClassesShown = 10
	maxRowsShown    = 20
	// Of more than a few models, fewer rows of each are shown.
	fewModels      = 3
	fewRowsShown   = 5
	maxModelsShown = 20
)

func contents(m modelio.Manifest) string {
	var names []string
	parts := 0
	for _, f := range m.Files {
		if strings.HasPrefix(f.Name, "counts/") {
			parts++
		} else {
			names = append(names, f.Name)
		}
	}
	if parts > 0 {
		names = append(names, fmt.Sprintf("counts/ (%s)", plural(int64(parts), "part")))
	}
	return strings.Join(append(names, modelio.ManifestFile), ", ")
}

// printModel prints the features of a model as a table, and the certificate in words.
func printModel(w io.Writer, m modelio.ModelRow, features []modelio.FeatureRow, v vocabulary, rows int, with string) {
	negative := m.Negative
	if m.Strategy == modelio.OneVersusRest {
		negative = "the rest"
	}
	printf(w, "%s %s from %s%s:\n\n", tells(m, v.noun), m.Positive, negative, with)
	in := "in "
	if m.Model == "bernoulli" {
		in = "documents of "
	}
	table := [][]string{{"rank", v.noun, "weight", "says", in + m.Positive, in + negative, "gain"}}
	for _, f := range features[:min(len(features), rows)] {
		says := m.Positive
		if f.Weight < 0 {
			says = negative
		} else if f.Weight == 0 {
			says = "–"
		}
		table = append(table, []string{
			strconv.FormatInt(f.Rank, 10), shown(f.Feature), fmt.Sprintf("%+.2f", f.Weight), says,
			number(f.CountPositive), number(f.CountNegative), fmt.Sprintf("%.2f", f.Score),
		})
	}
	printFeatures(w, table, m, features, v, rows)
}

// printJointModel prints the features of a model of all classes, each with the class that it speaks for most.
func printJointModel(w io.Writer, m modelio.ModelRow, features []modelio.FeatureRow, v vocabulary, rows int, with string) {
	classes := len(features) / max(int(m.K), 1)
	printf(w, "%s %d classes apart%s:\n\n", tells(m, v.noun), classes, with)
	in := "in it"
	if m.Model == "bernoulli" {
		in = "documents of it"
	}
	table := [][]string{{"rank", v.noun, "weight", "says", in, "in all", "gain"}}
	for rest := features; len(rest) >= classes && len(table) <= rows && classes > 0; {
		of := rest[:classes]
		rest = rest[classes:]
		gain, most := 0.0, of[0]
		for _, f := range of {
			gain += f.Score
			if f.Weight > most.Weight {
				most = f
			}
		}
		says := most.Class
		if most.Weight == 0 {
			says = "–"
		}
		table = append(table, []string{strconv.FormatInt(most.Rank, 10), shown(most.Feature), fmt.Sprintf("%+.2f", most.Weight), says,
			number(most.CountPositive), number(most.CountPositive + most.CountNegative), fmt.Sprintf("%.2f", gain)})
	}
	printFeatures(w, table, m, features, v, rows)
}

// tells begins the sentence above a model's features.
func tells(m modelio.ModelRow, noun string) string {
	verb := "tell"
	if m.K == 1 {
		verb = "tells"
	}
	return fmt.Sprintf("%s of %s %s", humanize.Comma(m.K), plural(m.M, noun), verb)
}

// printFeatures prints the table of the first rows, what is proven of the model, why it has so many features, and what to
// beware of in them.
func printFeatures(w io.Writer, table [][]string, m modelio.ModelRow, features []modelio.FeatureRow, v vocabulary, rows int) {
	align := "rlrlrrr"
	if v.names != nil {
		align += "l"
		v.addNames(table)
	}
	printTable(w, table, align)
	if more := m.K - int64(rows); more > 0 {
		printf(w, "  … and %s more in %s\n", humanize.Comma(more), modelio.FeaturesFile)
	}
	printf(w, "\n%s\n", certificateInWords(m, v.noun))
	if m.KReason != "" {
		printf(w, "k = %s: %s\n", humanize.Comma(m.K), m.KReason)
	}
	if m.TiedLeftOut > 0 {
		printf(w, "%s\n", tiesInWords(m, v.noun))
	}
	printBursts(w, m, features, v)
}

// tiesInWords says how many features of a model could as well be others.
func tiesInWords(m modelio.ModelRow, noun string) string {
	same, by := "counts", "name"
	if m.Model == "bernoulli" || m.Method != string(solver.NFS) {
		same, by = "statistic", "count, then by name"
	}
	return fmt.Sprintf("ties: %s and %s left out have the same %s; ties are broken by %s",
		plural(m.TiedSelected, "selected "+noun), plural(m.TiedLeftOut, noun), same, by)
}

const (
	// A feature is a burst if it occurs so many times in each of its documents, which are so few of all.
	burstOccurrences = 10
	burstDocuments   = 0.05

	maxBurstsShown = 3
)

// printBursts prints which features stand in few documents for how often they occur: a model of occurrences takes them
// for more than they say of other documents.
func printBursts(w io.Writer, m modelio.ModelRow, features []modelio.FeatureRow, v vocabulary) {
	if m.Model == "bernoulli" || m.DocsPositive == nil || m.DocsNegative == nil {
		return
	}
	all := *m.DocsPositive + *m.DocsNegative
	var bursts []string
	last := int64(0)
	for _, f := range features {
		if f.Rank == last || f.DocumentsPositive == nil || f.DocumentsNegative == nil { // a joint model has several rows
			continue
		}
		last = f.Rank
		occurrences, documents := f.CountPositive+f.CountNegative, *f.DocumentsPositive+*f.DocumentsNegative
		if occurrences >= burstOccurrences*float64(documents) && float64(documents) <= burstDocuments*float64(all) {
			bursts = append(bursts, fmt.Sprintf("%s occurs %s times in %s", shorten(printable(v.named(f.Feature))), number(occurrences), plural(documents, "document")))
		}
	}
	if more := len(bursts) - maxBurstsShown; more > 0 {
		bursts = append(bursts[:maxBurstsShown], fmt.Sprintf("and %d more in %s", more, modelio.FeaturesFile))
	}
	if len(bursts) > 0 {
		printf(w, "few documents: %s\n", strings.Join(bursts, ", "))
	}
}

// certificateInWords says what is proven of a model.
func certificateInWords(m modelio.ModelRow, noun string) string {
	gain, bound := decimals(m.Gain), decimals(m.UpperBoundGain)
	support := plural(m.K, noun)
	if m.K > 1 {
		support = "any " + support
	}
	switch {
	case m.K == m.M:
		return fmt.Sprintf("gain %s: all %ss are in", gain, noun)
	case m.Certificate == "optimal" && isRounding(m.Gap, m.UpperBoundGain):
		return fmt.Sprintf("gain %s, proven the best of %s (the relaxation bound is attained)", gain, support)
	case m.Certificate == "optimal":
		return fmt.Sprintf("gain %s, proven the best of %s (relaxation bound %s)", gain, support, bound)
	case m.Certificate == "heuristic":
		return fmt.Sprintf("gain %s by %s; no %s gain more than %s, so up to %s is missing", gain, m.Method, plural(m.K, noun), bound, percent(m))
	}
	return fmt.Sprintf("gain %s; no %s gain more than %s, so %s at most is missing", gain, plural(m.K, noun), bound, percent(m))
}

// percent is the share of the bound that may be missing.
func percent(m modelio.ModelRow) string {
	if m.Gap == 0 {
		return "nothing"
	}
	share := 100 * m.Gap / m.UpperBoundGain
	if share >= 10 {
		return fmt.Sprintf("%.0f %%", share)
	}
	return fmt.Sprintf("%.2g %%", share)
}

// isRounding reports whether a gap is no more than what the sums of the bound are rounded by.
func isRounding(gap, bound float64) bool { return gap <= 1e-12*bound }

// decimals shows a gain with two digits after the point, and more where it is small.
func decimals(x float64) string {
	if x == 0 {
		return "0"
	}
	if math.Abs(x) < 1 || math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// number shows a count, which is an integer unless it comes from a table of the user's own.
func number(x float64) string {
	switch {
	case x >= 1e15:
		return fmt.Sprintf("%.4g", x)
	case x == math.Trunc(x):
		return humanize.Comma(int64(x))
	case x < 0.01:
		return fmt.Sprintf("%.3g", x)
	}
	return humanize.FormatFloat("#,###.##", x)
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}

// maxCell is the width of the widest column, in characters.
const maxCell = 40

func shorten(cell string) string {
	if runes := []rune(cell); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return cell
}

// printTable prints columns that are aligned to the left (l) or to the right (r).
func printTable(w io.Writer, rows [][]string, align string) {
	width := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = shorten(printable(cell))
			cell = row[i]
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if align[i] == 'r' {
				line.WriteString("  " + pad + cell)
			} else {
				line.WriteString("  " + cell + pad)
			}
		}
		printf(w, "%s\n", strings.TrimRight(line.String(), " "))
	}
}

// notes says what was read and not counted, and what is not known of the features.
func notes(p modelio.Published) (notes []string) {
	d, options := p.Manifest.Drops, p.Manifest.Options
	var lines int64
	var reasons []string
	for reason, n := range d.Lines {
		lines += n
		reasons = append(reasons, fmt.Sprintf("%s: %s", reason, humanize.Comma(n)))
	}
	if lines > 0 {
		notes = append(notes, fmt.Sprintf("%s rejected (%s); %s has the first", plural(lines, "line"), strings.Join(slices.Sorted(slices.Values(reasons)), ", "), modelio.ManifestFile))
	}
	if d.Replaced > 0 {
		become := "separate words"
		if ofCharacters(options) {
			become = "are the character U+FFFD"
		}
		notes = append(notes, fmt.Sprintf("bytes that are not UTF-8 were replaced %s times; they %s", humanize.Comma(d.Replaced), become))
	}
	if d.Overlong > 0 {
		notes = append(notes, fmt.Sprintf("%s of more than 65,535 bytes dropped", plural(d.Overlong, token(options))))
	}
	if hashBits(options) > 0 && len(p.Features) > 0 && len(p.Buckets) == 0 {
		notes = append(notes, "the counts do not have the names of the buckets; sparsenb train reads them from the text")
	}
	return notes
}
