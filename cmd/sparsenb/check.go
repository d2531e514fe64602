package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/preview"
	"github.com/sparsenb/sparsenb/report"
)

var check = command{
	name: "check",
	manual: `Usage: sparsenb check --input=GLOB [flags]

Reads a sample of the input, and shows what "sparsenb train" with the same flags
would make of it: the files and their formats, the first documents with their
features, the classes, malformed records, and an estimate of memory and time. It
names likely mistakes, such as swapped columns, and writes nothing.

Exit codes: 0, or 3 if a run would probably fail.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		documents := addDocumentFlags(fs)
		addSelectionFlags(fs) // so that the flags of train can be given as they are
		return func(ctx context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			if err := documents.checkInput(); err != nil {
				return err
			}
			d, err := documents.documents(ctx)
			if err != nil {
				return err
			}
			p, err := preview.Take(ctx, preview.Params{Files: d.Files, Reading: d.Reading, Counting: d.Counting(), MaxClasses: d.MaxClasses,
				MaxRejected: preview.MaxRejected{Text: d.MaxRejected.Text, Exceeded: d.MaxRejected.Exceeded}})
			if err != nil {
				return modelio.InputError(err)
			}
			return printPreview(stdout, p)
		}
	},
}

// printPreview prints the sample. Its error says that a run would fail.
func printPreview(w io.Writer, p *preview.Preview) error {
	printf(w, "%s, %s:\n\n", report.Plural(int64(len(p.Files)), "file"), humanize.Bytes(uint64(p.Bytes)))
	table := [][]string{{"file", "size", "format", "label"}}
	const most = 10
	for _, f := range p.Files[:min(len(p.Files), most)] {
		table = append(table, []string{tail(f.Name), humanize.Bytes(uint64(f.Size)), formatOf(f), f.Label})
	}
	printTable(w, table, "lrll")
	if more := len(p.Files) - most; more > 0 {
		printf(w, "… and %s\n", report.Plural(int64(more), "more file"))
	}
	if len(p.Examples) > 0 {
		printf(w, "\nThe first documents, as they are read:\n")
	}
	for _, e := range p.Examples {
		printf(w, "\n  %s: %s\n", strings.Join(e.Labels, ", "), ellipsis(strings.Join(strings.Fields(e.Text), " "), 160))
		printf(w, "  → %s: %s\n", report.Plural(e.Total, "feature"), ellipsis(strings.Join(e.Features, " | "), 160))
	}
	printSample(w, p)
	printEstimate(w, p)
	printf(w, "\n")
	fatal := ""
	for _, problem := range p.Problems {
		kind := "note"
		if problem.Fatal {
			kind = "problem"
			fatal = problem.Text
		}
		printf(w, "%s: %s\n", kind, problem.Text)
	}
	if fatal != "" {
		return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("a run over this input would probably fail; see the problems above")}
	}
	if len(p.Problems) == 0 {
		printf(w, "No problems found.\n")
	}
	return nil
}

func printSample(w io.Writer, p *preview.Preview) {
	what := "All of it was read"
	if !p.Sample.Whole {
		what = "A sample of " + humanize.Bytes(uint64(p.Sample.Bytes)) + " was read"
	}
	printf(w, "\n%s: %s, %s.\n\n", what, report.Plural(p.Sample.Documents, "document"), report.Plural(p.Sample.Rejected, "malformed record"))
	for _, r := range p.Rejections {
		printf(w, "  %s: %s (first: %s, %s)\n", report.Count(float64(r.Records)), r.Reason.Sentence(), r.Example.File, r.Place)
	}
	const most = 10
	table := [][]string{{"class", "documents", "share"}}
	for _, c := range p.Classes[:min(len(p.Classes), most)] {
		share := fmt.Sprintf("%.1f %%", 100*float64(c.Documents)/float64(p.Sample.Documents))
		table = append(table, []string{c.Label, humanize.Comma(c.Documents), share})
	}
	printTable(w, table, "lrr")
	if more := len(p.Classes) - most; more > 0 {
		printf(w, "… and %d more classes\n", more)
	}
}

func printEstimate(w io.Writer, p *preview.Preview) {
	e := p.Estimate
	about := "about "
	if p.Sample.Whole {
		about = ""
	}
	printf(w, "\nA run on this machine: %s%s, about %s distinct features, %s of memory, %v.\n", about, report.Plural(e.Documents, "document"),
		humanize.Comma(e.Features), humanize.IBytes(uint64(e.Memory)), max(time.Duration(e.Seconds*float64(time.Second)), time.Second).Round(time.Second))
}

// tail shortens the name of a file to its end, as a table does to the start of other texts.
func tail(name string) string {
	const longest = report.MaxWidth
	if runes := []rune(name); len(runes) > longest {
		return "…" + string(runes[len(runes)-longest+1:])
	}
	return name
}

// formatOf describes the format of a file and how it was told.
func formatOf(f corpusio.File) string {
	parts := []string{f.Format, string(f.Compression), f.Layout}
	if f.Format == "" {
		parts[0] = "tsv"
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// ellipsis shortens a text to n characters.
func ellipsis(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
