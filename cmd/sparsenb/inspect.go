package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/verify"
)

var inspect = verb{
	name:     "inspect",
	synopsis: "shows a run, checks it, or compares two",
	manual: `Usage: sparsenb inspect [--verify] DIR [DIR]

Shows what a run has published: the features of its models with their weights and counts, what is proven of them, the
path over k, and what was read. With --verify it computes again from the files: the checksums, that no token was lost
between the documents and the counts, θ and gain from the counts, and the bounds. That nothing gains more where a model
is called optimal it does not prove again; the bound and the gap it does.
With two folders it says how their models differ.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		verified := fs.Bool("verify", false, "\n        compute again from the counts what the files say")
		return func(ctx context.Context, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return modelio.Usagef("inspect takes one folder, or two to compare")
			}
			var runs []modelio.Published
			var findings []string // of the files, by run, with --verify
			for _, dir := range args {
				if *verified { // before anything is read that may be damaged
					p, finding, err := verify.Files(ctx, dir)
					if err != nil {
						return unreadable(ctx, dir, err)
					}
					runs, findings = append(runs, p), append(findings, finding)
					continue
				}
				p, err := modelio.Read(ctx, dir)
				if err != nil {
					return unreadable(ctx, dir, err)
				}
				runs = append(runs, p)
			}
			if len(runs) == 2 {
				if a, b := runs[0].Manifest, runs[1].Manifest; a.Analysis().HashBits > 0 && b.Analysis().HashBits > 0 && a.Tables != b.Tables {
					return modelio.Usagef("%s and %s have features in buckets of different hashes, which cannot be compared; count the documents of the older one again", runs[0].Dir, runs[1].Dir)
				}
				printDifference(stdout, runs[0], runs[1])
			} else {
				printAll(stdout, runs[0])
			}
			return printVerified(ctx, stdout, runs, findings)
		}
	},
}

// unreadable says why there is nothing to show.
func unreadable(ctx context.Context, dir string, err error) error {
	state, e := modelio.ReadState(ctx, dir)
	var failed *modelio.Error
	switch {
	case e != nil:
		err = e
	case state.Success != nil && errors.As(err, &failed):
		return failed
	case state.Success != nil:
	case state.Verdict != nil:
		err = fmt.Errorf("%s: the run %s ended without a model: %s", dir, state.Verdict.Run, state.Verdict.Message)
	case state.Started != nil:
		err = fmt.Errorf("%s: the run %s is not complete: it is under way, or was interrupted", dir, state.Started.ID)
	}
	return &modelio.Error{Exit: modelio.ExitUsage, Err: err}
}

// printVerified verifies the contents of runs, of whose files there is a finding each, and prints all findings.
func printVerified(ctx context.Context, w io.Writer, runs []modelio.Published, findings []string) error {
	for i, finding := range findings {
		printf(w, "\n%s, verified:\n  %s\n", runs[i].Dir, finding)
		more, err := verify.Contents(ctx, runs[i])
		for _, finding := range more {
			printf(w, "  %s\n", finding)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printAll prints what the summary of a run has, the path, and what it was made from.
func printAll(w io.Writer, p modelio.Published) {
	printRun(w, p)
	printPaths(w, p)
	m := p.Manifest
	printf(w, "\n%s by sparsenb %s, %s to %s, run %s\n", m.Verb, m.Version, m.Started.Format("2006-01-02 15:04:05"), m.Finished.Format("15:04:05 MST"), m.ID)
	var options []string
	for name, value := range m.Options {
		options = append(options, "--"+name+"="+value)
	}
	printf(w, "options: %s\n", strings.Join(slices.Sorted(slices.Values(options)), " "))
	if m.Analyzer != nil {
		printf(w, "analyzer: %s\n", analyzerInWords(*m.Analyzer))
	}
	if m.Counts != nil {
		printf(w, "from the counts in %s\n", m.Counts.Name)
	}
	const most = 10
	for i, in := range m.Inputs {
		if i == most {
			printf(w, "… and %d more files, all in %s\n", len(m.Inputs)-most, modelio.ManifestFile)
			break
		}
		printf(w, "read %s, %s, CRC-32C %s\n", in.Name, humanize.Bytes(uint64(in.Size)), in.CRC32C)
	}
	for _, note := range slices.Concat(m.Warnings, notes(p)) {
		printf(w, "note: %s\n", note)
	}
}

// printPaths prints what other k would gain, problem by problem.
func printPaths(w io.Writer, p modelio.Published) {
	of := func(row modelio.PathRow) modelio.Key {
		return modelio.Key{Problem: row.Problem, Smoothing: row.Smoothing}
	}
	shown := 0
	for rest := p.Path; len(rest) > 0; shown++ {
		n := 1
		for n < len(rest) && of(rest[n]) == of(rest[0]) {
			n++
		}
		if shown == maxModelsShown {
			printf(w, "\n… and what other problems would gain, in %s\n", modelio.PathFile)
			break
		}
		title := ""
		if n < len(p.Path) {
			title = fmt.Sprintf("%s, smoothing %v: ", rest[0].Problem, rest[0].Smoothing)
		}
		printf(w, "\n%sWhat other numbers of %ss would gain:\n\n", title, noun(p.Manifest))
		table := [][]string{{"k", "gain", "upper bound", "gap", "certificate"}}
		for _, row := range rest[:n] {
			if isRounding(row.Gap, row.UpperBoundGain) {
				row.Gap = 0
			}
			table = append(table, []string{humanize.Comma(row.K), decimals(row.Gain), decimals(row.UpperBoundGain), decimals(row.Gap), row.Certificate})
		}
		printTable(w, table, "rrrrl")
		rest = rest[n:]
	}
}

// printDifference compares the models of two runs that have the same problem and k.
func printDifference(w io.Writer, a, b modelio.Published) {
	printf(w, "%s: %s\n%s: %s\n", a.Dir, corpus(a.Manifest), b.Dir, corpus(b.Manifest))
	compared := 0
	for _, ma := range a.Models {
		for _, mb := range b.Models {
			same := ma.Smoothing == mb.Smoothing || !hasSeveralSmoothings(a) && !hasSeveralSmoothings(b)
			if ma.Problem == mb.Problem && ma.K == mb.K && ma.Positive == mb.Positive && same {
				printf(w, "\n")
				printModelDifference(w, ma, mb, a.Of(ma), b.Of(mb), vocabularyOf(a), vocabularyOf(b))
				compared++
			}
		}
	}
	if compared == 0 {
		printf(w, "\nNo model of one has the problem and the k of a model of the other: %s; %s.\n", problems(a), problems(b))
	}
}

func hasSeveralSmoothings(p modelio.Published) bool {
	return slices.ContainsFunc(p.Models, func(m modelio.ModelRow) bool { return m.Smoothing != p.Models[0].Smoothing })
}

// problems lists the models of a run.
func problems(p modelio.Published) string {
	var list []string
	for _, m := range p.Models {
		list = append(list, fmt.Sprintf("%s, k = %d", m.Problem, m.K))
	}
	return p.Dir + " has " + cmp.Or(strings.Join(list, " and "), "none")
}

func printModelDifference(w io.Writer, ma, mb modelio.ModelRow, a, b []modelio.FeatureRow, va, vb vocabulary) {
	inB := map[string]modelio.FeatureRow{}
	a, b = byClass(a, ma.Positive), byClass(b, mb.Positive)
	for _, f := range b {
		inB[f.Feature] = f
	}
	var out, in []string
	moved := [][]string{{vb.noun, "weight", "was"}}
	common := 0
	for _, f := range a {
		other, ok := inB[f.Feature]
		if !ok {
			out = append(out, va.named(f.Feature))
			continue
		}
		common++
		delete(inB, f.Feature)
		if now, was := fmt.Sprintf("%+.2f", other.Weight), fmt.Sprintf("%+.2f", f.Weight); now != was {
			moved = append(moved, []string{vb.named(f.Feature), now, was})
		}
	}
	for _, f := range b {
		if _, ok := inB[f.Feature]; ok {
			in = append(in, vb.named(f.Feature))
		}
	}
	of := ma.Problem
	if ma.Strategy == modelio.Joint {
		of += ", " + ma.Positive
	}
	printf(w, "%s, k = %s: gain %s, was %s; %s, Jaccard %s\n", of, humanize.Comma(ma.K), decimals(mb.Gain), decimals(ma.Gain),
		plural(int64(common), vb.noun)+" in both", strconv.FormatFloat(float64(common)/float64(max(len(a)+len(b)-common, 1)), 'f', 3, 64))
	printWords(w, "gone", out)
	printWords(w, "new", in)
	if len(moved) > 1 {
		printTable(w, moved[:min(len(moved), maxRowsShown+1)], "lrr")
	}
}

// byClass keeps of a joint model's features the rows of one class.
func byClass(features []modelio.FeatureRow, class string) []modelio.FeatureRow {
	return slices.DeleteFunc(slices.Clone(features), func(f modelio.FeatureRow) bool { return f.Class != class })
}

func printWords(w io.Writer, what string, words []string) {
	if len(words) == 0 {
		return
	}
	more := ""
	if n := len(words) - maxRowsShown; n > 0 {
		words, more = words[:maxRowsShown], fmt.Sprintf(" and %d more", n)
	}
	printf(w, "  %s: %s%s\n", what, strings.Join(words, ", "), more)
}
