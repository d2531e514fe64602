package transforms

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Rejects says which rejected records are kept, and where they are written.
type Rejects struct {
	Output  string // the folder of rejected.parquet; default: only counts and the first few are kept
	Samples bool   // also keep the start of each record
}

// The most that is kept of rejected records: the first ones, by file and offset. With samples they take 100 MB.
const (
	maxRejected = 100_000
	maxSample   = 1 << 10 // bytes
)

// Name returns the full name of the file, or "" if none is written.
func (r Rejects) Name() string {
	if r.Output == "" {
		return ""
	}
	return fileio.Join(r.Output, modelio.RejectedFile)
}

// collect returns options for reading a range that count its rejections in t.
func (r Rejects) collect(t *Totals) (o corpusio.Options) {
	t.Drops.Lines = map[corpusio.Reason]int64{}
	kept := false // the last rejection is in t.Rejected
	o.Reject = func(rejection corpusio.Rejection) {
		t.ByFile = map[string]map[corpusio.Reason]int64{rejection.File: t.Drops.Lines}
		if t.Drops.Lines[rejection.Reason]++; len(t.Examples) < maxExamples {
			t.Examples = append(t.Examples, rejection)
		}
		if kept = r.Output != "" && len(t.Rejected) < maxRejected; kept {
			t.Rejected = append(t.Rejected, modelio.RejectedRow{Source: rejection.File, Offset: rejection.Offset, Reason: string(rejection.Reason)})
		}
	}
	if r.Output != "" && r.Samples {
		o.Sample = func(record []byte) {
			if kept && record != nil {
				text := sample(record)
				t.Rejected[len(t.Rejected)-1].Text = &text
			}
		}
	}
	return o
}

// sample returns the start of a record as valid UTF-8, at most maxSample bytes.
func sample(record []byte) string {
	record = record[:min(len(record), maxSample)]
	text := strings.ToValidUTF8(string(record), "\ufffd")
	for text = text[:min(len(text), maxSample)]; !utf8.ValidString(text); { // the last character may be incomplete
		text = text[:len(text)-1]
	}
	return text
}

// firstRejected returns the first rows, sorted.
func firstRejected(rows []modelio.RejectedRow) []modelio.RejectedRow {
	slices.SortFunc(rows, modelio.RejectedRow.Compare)
	return rows[:min(len(rows), maxRejected)]
}

// writeRejected writes the rejected records, unless the reading has ended early, so that they are incomplete.
func (p ReconcileParams) writeRejected(ctx context.Context, t Totals) (*tableio.FileSum, error) {
	if p.Rejects.Output == "" || len(t.Headers) > 0 || t.TooMany || t.TooLarge || len(t.Corrupt) > 0 || t.Verdict != nil && t.Verdict.Exit != modelio.ExitData {
		return nil, nil
	}
	sum, err := modelio.WriteRejected(ctx, modelio.NewGuard(p.Output, p.Run), p.Rejects.Output, t.Rejected)
	return &sum, err
}
