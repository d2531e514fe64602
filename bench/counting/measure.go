package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/sparsenb/sparsenb/bench/internal/process"
)

type command struct {
	name    string
	args    []string
	output  string                              // a folder that must not be there when it starts
	counted func(stdout []byte) (counts, error) // what it has counted; nil if it does not say
	peer    bool                                // if it fails, it is a line below the table
	larger  bool                                // it has a larger text than the others
	unasked string                              // why it is not run
}

// counts show whether two commands did the same work. Some do not know the number of distinct features.
type counts struct{ Tokens, Features int64 }

type row struct {
	command
	samples []process.Sample
	counts  counts
	failure string // why there are no samples
}

// measure runs the commands alternately, so that changes of the machine affect all. The first round is not measured.
func measure(ctx context.Context, commands []command, rounds int) ([]row, error) {
	if err := process.AdoptOrphans(); err != nil {
		return nil, err
	}
	rows := make([]row, len(commands))
	for i, c := range commands {
		rows[i] = row{command: c, failure: c.unasked}
	}
	var expected counts
	for round := range rounds + 1 {
		for i := range rows {
			r := &rows[i]
			if r.failure != "" {
				continue
			}
			s, err := r.once(ctx)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if r.name == ours {
				expected = r.counts
			}
			// Other tools may define letters differently, but only for one token in a thousand.
			if off := r.counts.Tokens - expected.Tokens; err == nil && r.peer && math.Abs(float64(off)) > float64(expected.Tokens)/1000 {
				err = fmt.Errorf("counted %d tokens where sparsenb counted %d", r.counts.Tokens, expected.Tokens)
			}
			switch {
			case err != nil && !r.peer:
				return nil, fmt.Errorf("%s: %w", r.name, err)
			case err != nil:
				r.failure, r.samples = err.Error(), nil
			case round > 0:
				r.samples = append(r.samples, s)
			}
		}
	}
	return rows, nil
}

// once runs the command and reads what it has counted.
func (r *row) once(ctx context.Context) (process.Sample, error) {
	if r.output != "" {
		if err := os.RemoveAll(r.output); err != nil {
			return process.Sample{}, err
		}
	}
	stdout, s, err := process.Run(ctx, r.args...)
	if err == nil && r.counted != nil {
		r.counts, err = r.counted(stdout)
	}
	return s, err
}

func (r row) median(of func(process.Sample) float64) float64 { return process.Median(r.samples, of) }
