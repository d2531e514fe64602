// Package process measures whole processes from outside, for the benchmarks.
package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Sample is the usage of a process and its children.
type Sample struct{ Wall, CPU, Memory float64 } // seconds, seconds, MB

// Run runs a command. Its time ends with the last of its processes, if [AdoptOrphans] was called, and their CPU is added up:
// Spark's Python does not wait for its JVM. Its memory is that of the largest of them, not of all together. The error of a
// command that fails is the last line of its standard error.
func Run(ctx context.Context, args ...string) (stdout []byte, s Sample, err error) {
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	started := time.Now()
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return nil, Sample{}, err
	}
	s = usage(cmd.ProcessState.SysUsage().(*syscall.Rusage))
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
		s.CPU, s.Memory = s.CPU+orphan.CPU, max(s.Memory, orphan.Memory)
	}
	s.Wall = time.Since(started).Seconds()
	if reason := LastLine(stderr.Bytes()); err != nil && reason != "" {
		err = errors.New(reason)
	}
	return out.Bytes(), s, err
}

// usage is that of a process and of those it has waited for.
func usage(u *syscall.Rusage) Sample {
	return Sample{CPU: float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, Memory: float64(u.Maxrss) * rssUnit / 1e6}
}

// LastLine returns the last line that is not empty, as a terminal would leave it.
func LastLine(output []byte) string {
	lines := strings.FieldsFunc(string(output), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// Median returns the median of a property of samples.
func Median(samples []Sample, of func(Sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// Wall, CPU and Memory are the properties of a sample.
func Wall(s Sample) float64   { return s.Wall }
func CPU(s Sample) float64    { return s.CPU }
func Memory(s Sample) float64 { return s.Memory }

// InTempDir calls do with a temporary folder, which it removes, and a context that SIGINT and SIGTERM end.
func InTempDir(do func(ctx context.Context, dir string) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "sparsenb-bench-")
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, dir), os.RemoveAll(dir))
}
