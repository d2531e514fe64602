package preview

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

// Problem is a likely mistake, and what to do about it.
type Problem struct {
	Fatal bool // a run would fail
	Text  string
}

// summarize sorts what the sample has.
func (t *taker) summarize() {
	p := t.preview
	for label, n := range t.classes {
		p.Classes = append(p.Classes, Class{label, n})
	}
	slices.SortFunc(p.Classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Label, b.Label))
	})
	for _, r := range t.rejected {
		p.Rejections = append(p.Rejections, *r)
	}
	slices.SortFunc(p.Rejections, func(a, b Rejected) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Reason, b.Reason))
	})
}

const (
	fewDocuments = 20 // say nothing about classes
	largeFile    = 256 << 20
)

// problems looks for the mistakes that people make.
func (t *taker) problems() (list []Problem) {
	p, s := t.preview, t.sample()
	fatal := func(format string, args ...any) { list = append(list, Problem{true, fmt.Sprintf(format, args...)}) }
	note := func(format string, args ...any) { list = append(list, Problem{false, fmt.Sprintf(format, args...)}) }
	if t.header != nil {
		fatal("%s", t.header.Error())
	}
	named := map[string]bool{}
	for _, c := range t.corrupt {
		if !named[c.File] { // ranges of a file fail separately
			fatal("%s", c.Error())
		}
		named[c.File] = true
	}
	if hint := t.letters.Warning(t.params.Counting.Describe().Analysis()); hint != "" {
		note("%s", hint)
	}
	for _, c := range t.skipped {
		note("%s; the documents before the damage count, the rest of the file is skipped", c.Error())
	}
	labels := int64(len(p.Classes))
	switch {
	case s.Documents == 0 && s.Rejected == 0 && t.header == nil && len(t.corrupt) == 0:
		fatal("no documents were found")
	case s.Documents == 0:
	case s.Documents >= fewDocuments && 2*labels > s.Documents:
		fatal("%s of %s documents have a label of their own, such as %q: probably the columns are swapped, or the label column is an identifier; %s",
			humanize.Comma(labels), humanize.Comma(s.Documents), shorten(p.Classes[0].Label), remedy(p.Files[0]))
	case t.params.MaxClasses > 0 && labels > int64(t.params.MaxClasses):
		fatal("the sample has %s labels, more than --max_classes=%d", humanize.Comma(labels), t.params.MaxClasses)
	case labels == 1 && s.Whole:
		fatal("all documents have the label %q; a selection needs two classes", shorten(p.Classes[0].Label))
	case labels == 1:
		note("all documents of the sample have the label %q; a selection needs two classes", shorten(p.Classes[0].Label))
	}
	if r := t.rejected[corpusio.LongLabel]; r != nil && 2*r.Records > s.Documents+s.Rejected {
		fatal("most labels are longer than %d bytes: probably the columns are swapped; %s", corpusio.MaxLabelBytes, remedy(p.Files[0]))
	}
	if most := t.params.MaxRejected; s.Rejected > 0 && most.Exceeded != nil && most.Exceeded(s.Rejected, s.Documents+s.Rejected) {
		fatal("%s of %s records are malformed, more than --max_rejected=%s; the most frequent reason: %s (%s, %s)", humanize.Comma(s.Rejected),
			humanize.Comma(s.Documents+s.Rejected), most.Text, p.Rejections[0].Reason.Sentence(), p.Rejections[0].Example.File, p.Rejections[0].Place)
	}
	if n := min(s.Documents, inspected); 2*t.empty > n {
		note("%s of the first %s documents have no features; probably the text is in another column (--text_column), or needs another --analyzer", humanize.Comma(t.empty), humanize.Comma(n))
	}
	for _, pair := range similar(p.Classes) {
		note("the labels %q and %q differ in case or spaces only; --label_map=FILE merges them", pair[0], pair[1])
	}
	if alone := compressedAlone(p); alone != "" {
		note("%s holds most of the input and is compressed, so that one core reads it while the others wait; decompress or divide it", alone)
	}
	return list
}

// remedy says how to name the columns of a file.
func remedy(f corpusio.File) string {
	if f.Format == "" {
		return "a line must be label<TAB>text"
	}
	return "name the columns with --label_column and --text_column"
}

// shorten returns the start of a label.
func shorten(label string) string {
	const longest = 40
	if utf8.RuneCountInString(label) <= longest {
		return label
	}
	return string([]rune(label)[:longest]) + "…"
}

// similar returns the first labels that are equal without case and punctuation.
func similar(classes []Class) (pairs [][2]string) {
	const most = 3
	first := map[string]string{}
	for _, c := range classes[:min(len(classes), 1000)] {
		key := strings.ToLower(strings.Trim(c.Label, " \t.,;:'\"()[]"))
		if other, ok := first[key]; ok && len(pairs) < most {
			pairs = append(pairs, [2]string{shorten(other), shorten(c.Label)})
			continue
		}
		first[key] = c.Label
	}
	return pairs
}

// compressedAlone returns the name of a large compressed file that is most of the input, or "".
func compressedAlone(p *Preview) string {
	for _, f := range p.Files {
		if f.Compression != corpusio.Plain && f.Size >= largeFile && 2*f.Size > p.Bytes {
			return path.Base(f.Name)
		}
	}
	return ""
}
