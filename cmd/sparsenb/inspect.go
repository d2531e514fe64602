package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
	"github.com/sparsenb/sparsenb/verify"
)

var inspect = command{
	name: "inspect",
	manual: `Usage: sparsenb inspect [--verify] DIR [DIR]

Shows a published run: its models with their features, weights and counts, the
strongest features of each class, what is proven about the models, the gain at
other k as a chart and a table, and the input. With two folders, compares the
models that have the same classes and k in both, and says how the runs differ.

--verify recomputes the results from the files: the checksums, the sums of
tokens, the parameters and gains from the counts, and the upper bounds. It does
not repeat the search that proved a model optimal.
`,
	prepare: func(fs *flag.FlagSet) func(context.Context, []string) error {
		verified := fs.Bool("verify", false, " recompute the results from the counts and compare them with the files")
		return func(ctx context.Context, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return modelio.Usagef("inspect requires one folder, or two to compare")
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
			if len(runs) == 2 && hasModels(runs[0]) && hasModels(runs[1]) {
				if err := comparable(runs[0], runs[1]); err != nil {
					return err
				}
				printDifference(stdout, runs[0], runs[1])
				return printVerified(ctx, stdout, runs, findings)
			}
			for i, p := range runs {
				if i > 0 {
					printf(stdout, "\n")
				}
				if err := printPublished(ctx, stdout, p); err != nil {
					return err
				}
			}
			return printVerified(ctx, stdout, runs, findings)
		}
	},
}

// hasModels reports whether a run is of train, select or count, and not of a command that applies or compares models.
func hasModels(p modelio.Published) bool { return !p.Manifest.AppliesModel() && !p.Manifest.Tunes() }

// printPublished prints a run of any command.
func printPublished(ctx context.Context, w io.Writer, p modelio.Published) error {
	switch {
	case p.Manifest.Tunes():
		return printTuning(ctx, w, p)
	case p.Manifest.AppliesModel():
		return printApplied(ctx, w, p)
	}
	printAll(w, p)
	return nil
}

// unreadable returns why there is no published run to show.
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
		err = fmt.Errorf("%s: run %s failed: %s", dir, state.Verdict.Run, state.Verdict.Message)
	case state.Started != nil:
		err = fmt.Errorf("%s: run %s is not published; it is still running or was interrupted", dir, state.Started.ID)
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

// printAll prints the summary of a run, the gain at other k, and the input.
func printAll(w io.Writer, p modelio.Published) {
	s := report.Summarize(p)
	printRun(w, s)
	printStrongest(w, p, s)
	printProof(w, report.Proof(p))
	printPaths(w, s)
	m := p.Manifest
	printf(w, "\nrun %s: %s by sparsenb %s, started %s, finished %s\n", m.ID, m.Verb, m.Version, m.Started.Format("2006-01-02 15:04:05"), m.Finished.Format("15:04:05 MST"))
	var options []string
	for name, value := range m.Options {
		options = append(options, "--"+name+"="+value)
	}
	printf(w, "options: %s\n", strings.Join(slices.Sorted(slices.Values(options)), " "))
	if m.Analyzer != nil {
		printf(w, "analyzer: %s\n", report.Analyzer(*m.Analyzer))
	}
	if m.Counts != nil {
		printf(w, "counts: %s\n", m.Counts.Name)
	}
	if len(m.Inputs) > 0 {
		printf(w, "inputs: %s\n", report.Inputs(m.Inputs))
	}
	const most = 10
	for i, in := range m.Inputs {
		if i == most {
			printf(w, "… and %d more files, listed in %s\n", len(m.Inputs)-most, modelio.ManifestFile)
			break
		}
		checksum := ""
		if in.CRC32C != "" {
			checksum = ", CRC-32C " + in.CRC32C
		}
		printf(w, "input: %s, %s%s\n", in.Name, humanize.Bytes(uint64(in.Size)), checksum)
	}
	for _, warning := range s.Warnings {
		printf(w, "warning: %s\n", warning)
	}
}

// printPaths prints the gain at other k, for each problem.
func printPaths(w io.Writer, s report.Summary) {
	for i, path := range s.Paths {
		if i == report.MaxModels {
			printf(w, "\n… and more problems in %s\n", modelio.PathFile)
			break
		}
		title := ""
		if len(s.Paths) > 1 {
			title = fmt.Sprintf("%s, smoothing %v: ", path.Problem, path.Smoothing)
		}
		printf(w, "\n%sGain by number of %ss:\n\n", title, s.Corpus.Feature)
		if i < report.MaxCharts {
			printChart(w, path)
		}
		table := [][]string{{"k", "gain", "upper bound", "gap", "certificate"}}
		for _, row := range path.Rows {
			if report.IsRounding(row.Gap, row.UpperBoundGain) {
				row.Gap = 0
			}
			table = append(table, []string{humanize.Comma(row.K), report.Gain(row.Gain), report.Gain(row.UpperBoundGain), report.Gain(row.Gap), row.Certificate})
		}
		printTable(w, table, "rrrrl")
	}
}
