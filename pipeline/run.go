package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

// Exit codes, by which a scheduler decides what to do.
const (
	ExitFailed = 1                    // the pipeline or its storage failed; a retry may help
	ExitUsage  = transforms.ExitUsage // the command does not fit; a retry cannot help
	ExitData   = transforms.ExitData  // the data failed a gate
	ExitTaken  = 4                    // another run won the output
)

// Error is an error with the exit code that it means.
type Error struct {
	Exit int
	Err  error
}

// Error is the message alone, in one line.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error that no retry can help.
func Usagef(format string, args ...any) error {
	return &Error{ExitUsage, fmt.Errorf(format, args...)}
}

// Check looks at an output folder before a run. It reports whether this very run has been published there already, and
// fails if the folder holds anything else but what an earlier attempt at this run has left.
func Check(ctx context.Context, output string, run modelio.Run) (published bool, err error) {
	store, err := fileio.For(output)
	if err != nil {
		return false, &Error{ExitUsage, err}
	}
	if err := store.CheckWritable(ctx, output); err != nil {
		return false, &Error{ExitUsage, err}
	}
	state, err := modelio.ReadState(ctx, output)
	switch {
	case err != nil:
		return false, &Error{ExitFailed, err}
	case state.Success != nil && state.Success.Fingerprint == run.Fingerprint:
		return true, nil
	case state.Success != nil:
		return false, Usagef("%s: holds the output of another run (%s, other options or inputs); choose another --output", output, state.Success.Run)
	case state.Foreign != "":
		return false, Usagef("%s: is not empty: it holds %s; choose another --output", output, strings.TrimPrefix(state.Foreign, fileio.Join(output, "")))
	case state.Started != nil && state.Started.Fingerprint != run.Fingerprint:
		return false, Usagef("%s: another run (%s, other options or inputs) is writing there or was interrupted; choose another --output, or remove it", output, state.Started.ID)
	}
	return false, nil
}

// Run executes the graph that build makes, and returns nil if the run has been published, by this job or, if it is the
// same run, by another. The runner's own answer decides nothing: it may be nil for a job that was cancelled.
// watch is called now and then while the job runs, if the runner can tell how far it is.
func Run(ctx context.Context, runner Runner, output string, run modelio.Run, build func(beam.Scope), watch func(Progress)) error {
	p, s := beam.NewPipelineWithRoot()
	build(s)
	failed := runner.execute(ctx, p, watch)
	var cancelled *cancelledError
	if !errors.As(failed, &cancelled) && ctx.Err() != nil { // before the engine had the job
		cancelled = &cancelledError{cause: context.Cause(ctx), state: jobpb.JobState_CANCELLED}
	}
	var usage *Error
	state, err := modelio.ReadState(context.WithoutCancel(ctx), output)
	switch {
	case err == nil && state.Success != nil && state.Success.Fingerprint == run.Fingerprint:
		return nil
	case cancelled != nil:
		return &Error{ExitFailed, cancelled}
	case err != nil:
		return &Error{ExitFailed, errors.Join(failed, err)}
	case state.Success != nil:
		return &Error{ExitTaken, &modelio.TakenError{Dir: output, Run: state.Success.Run, Published: true}}
	case state.Started != nil && state.Started.Fingerprint != run.Fingerprint:
		return &Error{ExitTaken, &modelio.TakenError{Dir: output, Run: state.Started.ID}}
	case state.Verdict != nil && state.Verdict.Run == run.ID:
		return &Error{state.Verdict.Exit, errors.New(state.Verdict.Message)}
	case errors.As(failed, &usage):
		return usage
	case failed != nil:
		return &Error{ExitFailed, errors.New(cause(failed))}
	}
	return &Error{ExitFailed, fmt.Errorf("%s: the job ended without publishing anything", output)}
}

// cause is the line of a runner's error that says what went wrong: a DoFn's own error comes last, under the layers that
// passed it on.
func cause(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return strings.TrimSpace(strings.TrimPrefix(last, "caused by:"))
}
