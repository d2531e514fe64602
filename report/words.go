package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Vocabulary is what features are called.
type Vocabulary struct {
	Feature string // word, token, n-gram or bucket; feature if the counts are a custom table
	Token   string // what the text was split into, word, token or n-gram; empty if the counts are a custom table
	Buckets int64  // hash buckets; 0 if features are counted by name
	Values  bool   // the counts are sums of real values
}

// NewVocabulary returns the vocabulary of a run.
func NewVocabulary(run modelio.Run) Vocabulary {
	a := run.Analysis()
	v := Vocabulary{Feature: "word", Token: "word"}
	if a.Pattern != "" {
		v = Vocabulary{Feature: "token", Token: "token"}
	}
	if a.Characters() || a.Ngrams[1] > 1 {
		v = Vocabulary{Feature: "n-gram", Token: "n-gram"}
	}
	v.Values = a.Weights.Unit != ""
	if a.HashBits > 0 {
		v.Feature, v.Buckets = "bucket", 1<<a.HashBits
	}
	return v
}

const maxClasses = 10

// String lists the classes and their sizes, and counts the features.
func (c Corpus) String() string {
	var classes []string
	for _, class := range c.Classes[:min(len(c.Classes), maxClasses)] {
		size := Count(class.Tokens) + " " + c.Token + "s"
		switch {
		case c.Values:
			size = "total value " + Count(class.Tokens)
		case c.Token == "":
			size = "total count " + Count(class.Tokens)
		case class.Tokens == 1:
			size = "1 " + c.Token
		}
		if class.Documents != nil {
			size = Plural(*class.Documents, "document") + ", " + size
		}
		classes = append(classes, class.Label+" ("+size+")")
	}
	if more := len(c.Classes) - maxClasses; more > 0 {
		classes = append(classes, fmt.Sprintf("and %d more", more))
	}
	features := Plural(c.Features, "distinct "+c.Feature)
	if c.Buckets > 0 {
		features = fmt.Sprintf("%s of %s used", humanize.Comma(c.Features), Plural(c.Buckets, "bucket"))
	}
	if c.Pruning != nil {
		features += fmt.Sprintf(", %s left after pruning", humanize.Comma(c.Pruning.Features))
	}
	return strings.Join(classes, ", ") + "; " + features
}

// LeftOut says what each rule of the pruning left out; it is empty without a pruning.
func (c Corpus) LeftOut() string {
	if c.Pruning == nil {
		return ""
	}
	var rules []string
	for _, r := range c.Pruning.LeftOut {
		value, limit := r.Value, ""
		switch {
		case r.Rule == "vocabulary":
			value = path.Base(c.Pruning.Vocabulary)
		case r.Rule == "exclude":
			value = path.Base(c.Pruning.Exclude)
		case r.Documents != nil && strings.ContainsAny(value, "%.e"):
			limit = fmt.Sprintf(" (%s documents)", Count(*r.Documents))
		}
		rules = append(rules, fmt.Sprintf("--%s=%s%s: %s (%s)", r.Rule, value, limit, Plural(r.Features, c.Feature), occurrences(r.Occurrences)))
	}
	return "left out: " + strings.Join(rules, "; ")
}

func occurrences(n float64) string {
	if n == 1 {
		return "1 occurrence"
	}
	return Count(n) + " occurrences"
}

// Title says what the features of the model distinguish.
func (m Model) Title() string {
	verb, classes := "distinguish", m.Row.Positive+" from "+m.Row.Negative
	if m.Row.K == 1 {
		verb = "distinguishes"
	}
	if m.Row.Strategy == modelio.Joint {
		classes = fmt.Sprintf("%d classes", m.Classes)
	}
	if m.Row.Gain == 0 {
		verb, classes = "selected", "" // they distinguish nothing
	}
	title := fmt.Sprintf("%s of %s %s %s", humanize.Comma(m.Row.K), Plural(m.Row.M, m.Vocabulary.Feature), verb, classes)
	if m.smoothing {
		title += fmt.Sprintf(" (smoothing %v)", m.Row.Smoothing)
	}
	return title
}

// Remarks says what is proven about the model, why it has so many features, and what to be careful about.
func (m Model) Remarks() []string {
	remarks := []string{m.proof()}
	if m.Row.KReason != "" {
		remarks = append(remarks, fmt.Sprintf("k = %s: %s", humanize.Comma(m.Row.K), m.Row.KReason))
	}
	if m.Row.TiedLeftOut > 0 {
		remarks = append(remarks, m.ties())
	}
	if len(m.Bursts) > 0 {
		remarks = append(remarks, m.bursts())
	}
	return remarks
}

func (m Model) proof() string {
	r, noun := m.Row, m.Vocabulary.Feature
	gain, bound := "log-likelihood gain "+Gain(r.Gain), "relaxation bound "+Gain(r.UpperBoundGain)
	others := fmt.Sprintf("%s %ss gain", humanize.Comma(r.K), noun)
	if r.K == 1 {
		others = noun + " gains"
	}
	switch {
	case r.K == r.M:
		return gain + ": all " + noun + "s selected"
	case r.Certificate == "optimal" && IsRounding(r.Gap, r.UpperBoundGain):
		return fmt.Sprintf("%s, proven optimal: no other %s more (equal to the relaxation bound)", gain, others)
	case r.Certificate == "optimal":
		return fmt.Sprintf("%s, proven optimal: no other %s more (%s)", gain, others, bound)
	case r.Method != string(solver.NFS):
		gain += " with method " + r.Method
	}
	return fmt.Sprintf("%s, at most %s below the optimum (%s)", gain, percent(r), bound)
}

// percent is the gap as a share of the bound. The optimum may be lower, and then the share is, too.
func percent(r modelio.ModelRow) string {
	if r.Gap == 0 {
		return "0 %"
	}
	return percentage(r.Gap / r.UpperBoundGain)
}

// percentage formats a share with two digits at least.
func percentage(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}

func (m Model) ties() string {
	same, order := "counts", "name"
	if m.Row.Model == "bernoulli" || m.Row.Method != string(solver.NFS) {
		same, order = "statistic", "count, then by name"
	}
	noun := m.Vocabulary.Feature
	return fmt.Sprintf("ties: %s and %s have the same %s; ties are broken by %s",
		Plural(m.Row.TiedSelected, "selected "+noun), Plural(m.Row.TiedLeftOut, "unselected "+noun), same, order)
}

const maxBursts = 3

func (m Model) bursts() string {
	var list []string
	for _, b := range m.Bursts[:min(len(m.Bursts), maxBursts)] {
		list = append(list, fmt.Sprintf("%s (%s times in %s)", Shorten(b.Name), Count(b.Occurrences), Plural(b.Documents, "document")))
	}
	if more := len(m.Bursts) - maxBursts; more > 0 {
		list = append(list, fmt.Sprintf("and %d more in %s", more, modelio.FeaturesFile))
	}
	return "concentrated in few documents: " + strings.Join(list, ", ")
}

// notes says what was read but not counted, and what is unknown about the features.
func notes(p modelio.Published) (notes []string) {
	d, v := p.Manifest.Drops, NewVocabulary(p.Manifest.Run)
	if rejected := Rejected(p.Manifest); rejected != "" {
		notes = append(notes, rejected)
	}
	if more := p.Manifest.MoreLabels; more > 0 {
		total := int64(0)
		for _, c := range p.Manifest.Classes {
			if c.Documents != nil {
				total += *c.Documents
			}
		}
		notes = append(notes, fmt.Sprintf("the classes overlap: they add up to %s, but the input has %s; one with several labels counts in each of its classes",
			Plural(total, "document"), humanize.Comma(total-more)))
	}
	if d.Replaced > 0 {
		effect := "separates words"
		switch a := p.Manifest.Analysis(); {
		case a.Characters():
			effect = "counts as the character U+FFFD"
		case a.Unit == "whitespace" || a.Unit == "regex":
			effect = "is read as the character U+FFFD"
		}
		notes = append(notes, fmt.Sprintf("invalid UTF-8 found %s; it %s", Plural(d.Replaced, "time"), effect))
	}
	if d.Overlong > 0 {
		notes = append(notes, fmt.Sprintf("%s longer than 65,535 bytes not counted", Plural(d.Overlong, v.Token)))
	}
	if d.RoundedToZero > 0 {
		notes = append(notes, fmt.Sprintf("%s rounded to zero and not counted; a smaller --value_unit counts more", Plural(d.RoundedToZero, "value")))
	}
	if v.Buckets > 0 && len(p.Features) > 0 && len(p.Buckets) == 0 {
		notes = append(notes, "the names in the selected buckets are unknown, because counts do not contain them; sparsenb train reads them from the text")
	}
	return notes
}

// Rejected says how many records were malformed, and why; "" if none were.
func Rejected(m modelio.Manifest) string {
	var lines int64
	var reasons []string
	for reason, n := range m.Drops.Lines {
		lines += n
		reasons = append(reasons, fmt.Sprintf("%s: %s", reason, humanize.Comma(n)))
	}
	if lines == 0 {
		return ""
	}
	where := modelio.ManifestFile + " lists the first"
	if m.Rejected != nil {
		where = m.Rejected.Name + " lists them"
	}
	return fmt.Sprintf("%s rejected (%s)%s; %s", Plural(lines, "malformed record"), strings.Join(slices.Sorted(slices.Values(reasons)), ", "), rejectFiles(m.Drops), where)
}

// rejectFiles says which files have the most rejected records, unless there is only one file.
func rejectFiles(d modelio.Drops) string {
	const most = 3
	if len(d.Files) < 2 {
		return ""
	}
	var files []string
	for _, f := range d.Files[:min(len(d.Files), most)] {
		files = append(files, fmt.Sprintf("%s in %s", humanize.Comma(f.Records), f.File))
	}
	if more := len(d.Files) + d.MoreFiles - most; more > 0 {
		files = append(files, fmt.Sprintf("others in %s", Plural(int64(more), "more file")))
	}
	return ": " + strings.Join(files, ", ")
}

// Analyzer describes the features of a run.
func Analyzer(a modelio.Analyzer) string {
	text := a.Unit
	if a.TokenPattern != "" {
		text += " " + a.TokenPattern
	}
	if a.Normalize != "" {
		text += ", normalized (" + strings.ToUpper(a.Normalize) + ")"
	}
	if a.Lowercase == modelio.KeepCase {
		text += ", case kept"
	} else {
		text += ", in lower case"
	}
	if a.StripAccents != "" {
		text += ", without accents"
	}
	if a.MinTokenLength > 0 {
		text += fmt.Sprintf(", at least %s", Plural(int64(a.MinTokenLength), "character"))
	}
	if a.Ngrams != [2]int{1, 1} {
		text += fmt.Sprintf(", n-grams of %d to %d", a.Ngrams[0], a.Ngrams[1])
	}
	if a.HashBits > 0 {
		text += fmt.Sprintf(", in 2^%d buckets", a.HashBits)
	}
	if n := len(a.StopWords); n > 0 {
		const shown = 5
		text += fmt.Sprintf(", without %s: %s", Plural(int64(n), "stop word"), strings.Join(a.StopWords[:min(n, shown)], ", "))
		if n > shown {
			text += fmt.Sprintf(" and %d more", n-shown)
		}
	}
	if a.Weights != nil {
		text += "; " + describe(*a.Weights)
	}
	return text
}

// weightsOf describes the weights of a run, and what rounding changed; it is empty if a document adds its occurrences.
func weightsOf(p modelio.Published) string {
	w := p.Manifest.Analysis().Weights
	if w == (modelio.Weights{}) {
		return ""
	}
	text := describe(w)
	if w.Unit != "" {
		text += fmt.Sprintf("; rounding changed the total value by at most %.2g", p.Manifest.Drops.Rounding)
	}
	return text
}

// classifierOf describes the classifier of a run; it is empty for the naive Bayes model that selected the features.
func classifierOf(p modelio.Published) string {
	if len(p.Models) == 0 || p.Models[0].Classifier == modelio.DefaultClassifier(p.Models[0].Model) {
		return ""
	}
	c, penalty := p.Models[0].Classifier, ", C = "+p.Manifest.Options["c"]
	switch c {
	case modelio.MultinomialNB:
		return "weights of multinomial naive Bayes"
	case modelio.ComplementNB:
		return "weights of complement naive Bayes"
	case modelio.BernoulliNB:
		return "weights of Bernoulli naive Bayes"
	case modelio.Logistic:
		return "weights of logistic regression (l2)" + penalty
	case modelio.SVM:
		return "weights of a linear SVM (squared hinge)" + penalty
	}
	return "weights of " + c
}

// describe says what a document adds to the count of a feature that occurs in it tf times.
func describe(w modelio.Weights) string {
	text := "weights " + w.Name
	switch w.Name {
	case modelio.BinaryWeights:
		text += " (documents)"
	case "log":
		text += " (1 + ln tf)"
	case "tfidf":
		var parts []string
		if w.Sublinear {
			parts = append(parts, "sublinear tf")
		}
		if parts = append(parts, "idf"); w.SmoothIDF {
			parts[len(parts)-1] = "smooth idf"
		}
		text += " (" + strings.Join(append(parts, "norm "+w.Norm), ", ") + ")"
	}
	if w.Unit != "" {
		text += ", in units of " + w.Unit
	}
	return text
}

// Quote quotes a feature that begins or ends with white space, as n-grams of characters do.
func Quote(feature string) string {
	if strings.TrimSpace(feature) == feature {
		return feature
	}
	return `"` + feature + `"`
}

// QuoteWith is Quote, and adds the most frequent name to a bucket.
func QuoteWith(feature string, names map[string][]modelio.BucketRow) string {
	if rows := names[feature]; len(rows) > 0 {
		return feature + " (" + Quote(rows[0].Name) + ")"
	}
	return Quote(feature)
}

// MaxWidth is the width of a feature in a table or a sentence, in characters.
const MaxWidth = 40

// Shorten shortens a text to MaxWidth.
func Shorten(text string) string {
	if runes := []rune(text); len(runes) > MaxWidth {
		return string(runes[:MaxWidth-1]) + "…"
	}
	return text
}

// IsRounding reports whether a gap is no more than the rounding error of the bound.
func IsRounding(gap, bound float64) bool { return gap <= 1e-12*bound }

// Gain formats a gain with two decimals, and more digits if it is small.
func Gain(x float64) string {
	if x == 0 {
		return "0"
	}
	if math.Abs(x) < 1 || math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return humanize.FormatFloat("#,###.##", x)
}

// Count formats a count, which is an integer unless it comes from a custom table.
func Count(x float64) string {
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

// Plural formats a number of things.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}
