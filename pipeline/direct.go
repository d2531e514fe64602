package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //lint:ignore SA1019 Prism opens a port; the graphs are tested on both

	"github.com/sparsenb/sparsenb/transforms"
)

// executeDirect runs a pipeline in this process with Beam's direct runner: one bundle per step, and no port. Beam deprecates
// it in favour of Prism, whose job server runs commands for anyone who connects. Only this file depends on it.
func executeDirect(ctx context.Context, p *beam.Pipeline, watch func(Progress)) error {
	edges, _, err := p.Build()
	if err != nil {
		return err
	}
	plan, err := direct.Compile(edges)
	if err != nil {
		return err
	}
	ctx = metrics.SetBundleID(ctx, "direct") // creates the store of the counters
	defer watchCounters(ctx, storeCounters(metrics.GetStore(ctx)), watch)()
	ended := make(chan error, 1)
	go func() {
		err := plan.Execute(ctx, "", exec.DataContext{})
		if down := plan.Down(ctx); err == nil { // otherwise it repeats the error
			err = down
		}
		if err != nil {
			log.Error(ctx, err) // in full; the command prints one line
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end := &cancelledError{cause: context.Cause(ctx)}
	select { // steps check ctx
	case <-ended:
		end.confirmed = true
	case <-time.After(cancelGrace): // what is still running ends with this process
	}
	return end
}

// cancelGrace is how long the steps in this process may take to end. A read from storage that hangs does not end.
const cancelGrace = 2 * time.Second

// storeCounters reads the counters of DoFns in this process.
func storeCounters(store *metrics.Store) func(context.Context) (Progress, error) {
	return func(context.Context) (p Progress, err error) {
		err = metrics.Extractor{SumInt64: func(l metrics.Labels, n int64) {
			if l.Namespace() == transforms.CounterNamespace {
				p.add(l.Name(), n)
			}
		}}.ExtractFrom(store)
		if err != nil {
			return p, fmt.Errorf("reading the counters: %w", err)
		}
		return p, nil
	}
}
