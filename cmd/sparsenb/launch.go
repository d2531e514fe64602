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

// launch runs a job unless it has been published already, shows how far it is, and then what came of it.
func launch(ctx context.Context, runner pipeline.Runner, output string, run modelio.Run, inputBytes int64, build func(s beam.Scope, output string)) error {
	if runner.Beam == "dataflow" && !strings.HasPrefix(output, "gs://") {
		return modelio.Usagef("--output=%s: the workers of Dataflow cannot write there; name a folder such as gs://bucket/out", output)
	}
	if !runner.Loopback() { // the workers have working folders of their own
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
		printf(os.Stderr, "sparsenb: %s: this run is published already; nothing was done\n", output)
		return summarise(ctx, stdout, output)
	}
	in := func(s beam.Scope) { build(s, output) }
	if runner.Template != "" {
		if err := pipeline.Stage(ctx, runner, in); err != nil {
			return err
		}
		printf(os.Stderr, "sparsenb: wrote the template %s; it publishes to %s\n", runner.Template, output)
		return nil
	}
	if runner.OpensPort() && runtime.GOMAXPROCS(0) < 2 {
		// Prism waits for side inputs in a loop. On one processor it takes turns with the work, by slices of 10 ms: select
		// took 4.7 s, and takes .6 s where the operating system shares out the processor.
		runtime.GOMAXPROCS(2)
	}
	started := time.Now()
	progress := newReporter(os.Stderr, run, inputBytes)
	err = pipeline.Run(ctx, runner, output, run, in, progress.update)
	progress.finish()
	if err != nil {
		return err
	}
	printf(os.Stderr, "sparsenb: published %s in %s%s\n", output, time.Since(started).Round(10*time.Millisecond), progress.read())
	return summarise(ctx, stdout, output)
}
