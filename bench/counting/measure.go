package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
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

// sample is the usage of a process and its children.
type sample struct{ wall, cpu, memory float64 } // seconds, seconds, MB

type row struct {
	command
	samples []sample
	counts  counts
	failure string // why there are no samples
}

// measure runs the commands alternately, so that changes of the machine affect all. The first round is not measured.
func measure(ctx context.Context, commands []command, rounds int) ([]row, error) {
	if err := adoptOrphans(); err != nil {
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

// once runs the command. Its time ends with the last of its processes, and their CPU is added up: Spark's Python does not
// wait for its JVM. Its memory is that of the largest of them, not of all together.
func (r *row) once(ctx context.Context) (sample, error) {
	if r.output != "" {
		if err := os.RemoveAll(r.output); err != nil {
			return sample{}, err
		}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.args[0], r.args[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	started := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return sample{}, err
	}
	s := usage(cmd.ProcessState.SysUsage().(*syscall.Rusage))
	for {
		var u syscall.Rusage
		_, e := syscall.Wait4(-1, nil, 0, &u)
		if errors.Is(e, syscall.EINTR) {
			continue
		}
		if e != nil { // there are no more
			break
		}
		orphan := usage(&u)
		s.cpu, s.memory = s.cpu+orphan.cpu, max(s.memory, orphan.memory)
	}
	s.wall = time.Since(started).Seconds()
	if err != nil {
		if reason := last(stderr.Bytes()); reason != "" {
			return sample{}, errors.New(reason)
		}
		return sample{}, err
	}
	if r.counted != nil {
		r.counts, err = r.counted(stdout.Bytes())
	}
	return s, err
}

// usage is that of a process and of those it has waited for.
func usage(u *syscall.Rusage) sample {
	return sample{cpu: float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, memory: float64(u.Maxrss) * rssUnit / 1e6}
}

// last returns the last line that is not empty, as a terminal would leave it.
func last(output []byte) string {
	lines := strings.FieldsFunc(string(output), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

func (r row) median(of func(sample) float64) float64 {
	values := make([]float64, len(r.samples))
	for i, s := range r.samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func wall(s sample) float64   { return s.wall }
func cpu(s sample) float64    { return s.cpu }
func memory(s sample) float64 { return s.memory }
