package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/bench/internal/process"
)

type report struct {
	title string
	bytes int64 // of the text
	rows  []row
}

// publish prints the table, and writes it and the chart to a folder.
func (r report) publish(dir string, stdout io.Writer) error {
	var table, chart bytes.Buffer
	r.table(&table)
	if err := r.chart(&chart); err != nil {
		return err
	}
	_, err := stdout.Write(table.Bytes())
	if e := os.MkdirAll(dir, 0o777); e != nil {
		return errors.Join(err, e)
	}
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "counting.md"), table.Bytes(), 0o666),
		os.WriteFile(filepath.Join(dir, "counting.svg"), chart.Bytes(), 0o666))
}

// table writes the medians, and their ratios to those of the bare loop and of sparsenb, in Markdown.
func (r report) table(w io.Writer) {
	var loop, self row
	for _, row := range r.rows {
		switch row.name {
		case bareLoop:
			loop = row
		case ours:
			self = row
		}
	}
	fmt.Fprintf(w, "%s\n\n", r.title)
	fmt.Fprintln(w, "| | wall s | MB/s | CPU s | peak MB | CPU / bare loop | CPU / sparsenb | wall / sparsenb | memory / sparsenb | tokens | features |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	failed := false
	for _, row := range r.rows {
		if row.failure != "" {
			failed = true
			continue
		}
		bytes := float64(r.bytes)
		if row.larger {
			bytes *= float64(row.counts.Tokens) / float64(self.counts.Tokens)
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %s | %.0f | %s | %s | %s | %s | %s | %s |\n", row.name,
			digits(row.median(process.Wall)), bytes/1e6/row.median(process.Wall), digits(row.median(process.CPU)), row.median(process.Memory),
			digits(row.median(process.CPU)/loop.median(process.CPU)), digits(row.median(process.CPU)/self.median(process.CPU)),
			digits(row.median(process.Wall)/self.median(process.Wall)), digits(row.median(process.Memory)/self.median(process.Memory)),
			known(row.counts.Tokens), known(row.counts.Features))
	}
	if failed {
		fmt.Fprint(w, "\nNot measured:\n\n")
	}
	for _, row := range r.rows {
		if row.failure != "" {
			fmt.Fprintf(w, "- %s: %s\n", row.name, row.failure)
		}
	}
}

// digits writes a number with three digits, or with those before its point.
func digits(x float64) string {
	switch {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func known(n int64) string {
	if n == 0 {
		return ""
	}
	return humanize.Comma(n)
}
