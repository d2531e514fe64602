package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

// launch runs a job, shows its progress, and prints the summary of what it published. If the run is published already, it
// prints that summary.
func launch(ctx context.Context, runner pipeline.Runner, output string, run modelio.Run, inputBytes int64, build func(s beam.Scope, output string)) error {
	if runner.Beam == "dataflow" && !strings.HasPrefix(output, "gs://") {
		return modelio.Usagef("--output=%s: Dataflow workers cannot write there; use a folder such as gs://bucket/out", output)
	}
	if !runner.Loopback() { // the workers have other working folders
		absolute, err := fileio.Absolute(output)
		if err != nil {
			return &modelio.Error{Exit: modelio.ExitUsage, Err: err}
		}
		output = absolute
	}
	published, err := pipeline.CheckOutput(ctx, output, run)
	if err != nil {
		return err
	}
	if published {
		printf(os.Stderr, "sparsenb: %s: this run is already published; nothing to do\n", output)
		return printSummary(ctx, stdout, output)
	}
	buildGraph := func(s beam.Scope) { build(s, output) }
	if runner.Template != "" {
		if err := pipeline.Stage(ctx, runner, buildGraph); err != nil {
			return err
		}
		printf(os.Stderr, "sparsenb: wrote the template %s; it publishes to %s\n", runner.Template, output)
		return nil
	}
	if runner.OpensPort() && runtime.GOMAXPROCS(0) < 2 {
		// Prism polls for side inputs. On one processor the polling alternates with the work in slices of 10 ms: select took
		// 4.7 s. It takes 0.6 s if the operating system schedules them.
		runtime.GOMAXPROCS(2)
	}
	started := time.Now()
	progress := newReporter(os.Stderr, run, inputBytes)
	err = pipeline.Run(ctx, runner, output, run, buildGraph, progress.update)
	progress.finish()
	if err != nil {
		return err
	}
	printf(os.Stderr, "sparsenb: published %s in %s%s\n", output, time.Since(started).Round(10*time.Millisecond), progress.read())
	return printSummary(ctx, stdout, output)
}
