package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// CheckOutput looks at an output folder before a run. It reports whether this very run has been published there already, and
// fails if the folder holds anything else but what an earlier attempt at this run has left. An attempt that was killed when it
// had published may have left its claim, which goes.
func CheckOutput(ctx context.Context, output string, run modelio.Run) (published bool, err error) {
	if !utf8.ValidString(output) {
		return false, modelio.Usagef("--output=%q: the name is not UTF-8", output)
	}
	store, err := fileio.For(output)
	if err != nil {
		return false, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	if err := store.CheckWritable(ctx, output); err != nil {
		return false, modelio.InputError(err)
	}
	var unreadable *modelio.UnreadableError
	state, err := modelio.ReadState(ctx, output)
	switch {
	case errors.As(err, &unreadable):
		return false, modelio.Usagef("%w; remove the folder, or choose another --output", err)
	case err != nil:
		return false, &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	case state.Success != nil && state.Success.Fingerprint == run.Fingerprint:
		// The run may have been killed at its very end, even after its claim was gone.
		if err := modelio.Tidy(ctx, output, run); err != nil {
			return true, &modelio.Error{Exit: modelio.ExitFailed, Err: err}
		}
		return true, nil
	case state.Success != nil:
		manifest, err := modelio.ReadManifest(ctx, output)
		if err != nil {
			return false, modelio.Usagef("%w; choose another --output", err)
		}
		return false, modelio.Usagef("%s: holds the output of another run (%s: %s); choose another --output%s", output, state.Success.Run,
			difference(manifest.Run, run), hint(manifest.Run, run, output))
	case state.Foreign != "":
		return false, modelio.Usagef("%s: is not empty: it holds %s; choose another --output", output, strings.TrimPrefix(state.Foreign, fileio.Join(output, "")))
	case state.Started != nil && state.Started.Fingerprint != run.Fingerprint:
		return false, modelio.Usagef("%s: another run (%s: %s) is writing there or was interrupted; choose another --output, or remove it", output, state.Started.ID,
			difference(*state.Started, run))
	}
	return false, nil
}

// Refuse leaves the verdict of a run whose data were found wanting before there was a job, as a job would, and returns the
// error that says so. A folder that is not free for the run stays as it is.
func Refuse(ctx context.Context, output string, run modelio.Run, err error) error {
	var data *modelio.Error
	if !errors.As(err, &data) || data.Exit != modelio.ExitData || output == "" {
		return err
	}
	if published, e := CheckOutput(ctx, output, run); e != nil || published {
		return err
	}
	e := modelio.Claim(ctx, output, run)
	if e == nil {
		e = modelio.Refuse(ctx, output, run, modelio.Verdict{Run: run.ID, Exit: data.Exit, Message: err.Error()})
	}
	if e != nil {
		return &modelio.Error{Exit: data.Exit, Err: fmt.Errorf("%w (and no %s: %w)", err, modelio.VerdictFile, e)}
	}
	return err
}

// differingOption is the first option, by name, that another run was given otherwise, or "".
func differingOption(other, run modelio.Run) string {
	names := slices.Concat(slices.Collect(maps.Keys(other.Options)), slices.Collect(maps.Keys(run.Options)))
	slices.Sort(names)
	for _, name := range names {
		if other.Options[name] != run.Options[name] {
			return name
		}
	}
	return ""
}

// difference says what another run was told that this one is not.
func difference(other, run modelio.Run) string {
	option := differingOption(other, run)
	switch {
	case other.Verb != run.Verb:
		return "made by " + other.Verb
	case option == "":
		return "of other inputs, or of files that have changed since"
	case other.Options[option] == "":
		return "without --" + option
	}
	return fmt.Sprintf("with --%s=%s", option, other.Options[option])
}

// hint is for who only wants another k: the counts are there.
func hint(other, run modelio.Run, output string) string {
	if other.Verb == "train" && run.Verb == "train" && differingOption(other, run) == "k" {
		return ", or take its counts: sparsenb select --counts=" + output
	}
	return ""
}

// Run executes the graph that build makes, and returns nil if the run has been published, by this job or, if it is the
// same run, by another. The runner's own answer decides nothing: it may be nil for a job that was cancelled.
// watch is called now and then while the job runs, if the runner can tell how far it is.
func Run(ctx context.Context, runner Runner, output string, run modelio.Run, build func(beam.Scope), watch func(Progress)) (err error) {
	defer func() {
		if e := spill.Leave(run.ID); err != nil && e != nil {
			err = errors.Join(err, e)
		}
	}()
	before, err := modelio.ReadState(ctx, output)
	if err != nil {
		return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	}
	p, s := beam.NewPipelineWithRoot()
	build(s)
	failed := runner.explain(runner.execute(ctx, p, observer{
		watch: watch,
		begun: func() bool {
			state, err := modelio.ReadState(ctx, output)
			// The claim of an earlier attempt, which this one goes on with, does not tell.
			return err != nil || state.Started != nil || state.Success != nil || state.Verdict != nil && state.Verdict.Run == run.ID
		},
		mark: func(cause error) error {
			if runner.Loopback() { // the workers end with this process
				return nil
			}
			return modelio.Cancel(context.WithoutCancel(ctx), output, run, cause.Error())
		},
	}))
	var cancelled *cancelledError
	if !errors.As(failed, &cancelled) && ctx.Err() != nil {
		// Our own launcher has not come to the engine; of what the SDK's has done nothing is known.
		cancelled = &cancelledError{cause: context.Cause(ctx), confirmed: runner.Beam == ""}
	}
	var usage *modelio.Error
	state, err := modelio.ReadState(context.WithoutCancel(ctx), output)
	switch {
	case err == nil && state.Success != nil && state.Success.Fingerprint == run.Fingerprint:
		return nil
	case cancelled != nil:
		return &modelio.Error{Exit: modelio.ExitFailed, Err: cancelled}
	case err != nil && failed != nil:
		return &modelio.Error{Exit: modelio.ExitFailed, Err: fmt.Errorf("%w; %w", failed, err)}
	case err != nil:
		return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	case state.Success != nil:
		return &modelio.Error{Exit: modelio.ExitTaken, Err: &modelio.TakenError{Dir: output, Run: state.Success.Run, Published: true}}
	case state.Started != nil && state.Started.Fingerprint != run.Fingerprint:
		return &modelio.Error{Exit: modelio.ExitTaken, Err: &modelio.TakenError{Dir: output, Run: state.Started.ID}}
	case judged(state.Verdict, before.Verdict, run):
		return &modelio.Error{Exit: state.Verdict.Exit, Err: errors.New(state.Verdict.Message)}
	case errors.As(failed, &usage):
		return usage
	case failed != nil && strings.Contains(failed.Error(), fileio.ErrTaken.Error()):
		return &modelio.Error{Exit: modelio.ExitTaken, Err: failed}
	case failed != nil:
		return &modelio.Error{Exit: modelio.ExitFailed, Err: failed}
	case !runner.Loopback():
		return &modelio.Error{Exit: modelio.ExitUsage, Err: fmt.Errorf("%s: the job ended well, but nothing is published here: is this a folder of all hosts, and not one on each?", output)}
	}
	return &modelio.Error{Exit: modelio.ExitFailed, Err: fmt.Errorf("%s: the job ended without publishing anything", output)}
}

// judged reports whether a verdict is of this run: by this attempt, or by one at the same time, which promised the same. One
// that was there before tells nothing of why this attempt has ended.
func judged(verdict, before *modelio.Verdict, run modelio.Run) bool {
	return verdict != nil && verdict.Fingerprint == run.Fingerprint &&
		(verdict.Run == run.ID || before == nil || before.Run != verdict.Run)
}

// explain makes one line of an error of the runner, which holds a plan and a stack where a step has failed.
func (r Runner) explain(failed error) error {
	var cancelled *cancelledError
	var usage *modelio.Error
	switch {
	case failed == nil, errors.As(failed, &cancelled), errors.As(failed, &usage):
		return failed
	case r.Loopback():
		return errors.New(cause(failed))
	}
	return errors.New(fromEngine(cause(failed)))
}

// fromEngine says what an error means that came from elsewhere. What is missing there may well be here.
func fromEngine(text string) string {
	hints := []struct{ sign, hint string }{
		{"java.io.IOException: error=", "a worker could not start this program: it has to lie at the same path on every host, or where --environment_config says"},
		{"Process died with exit code", "a worker's program ended at once: is it this one? --environment_config says where it lies"},
		{"java.net.ConnectException", "the job server cannot reach its engine"},
		{"java.lang.IllegalAccessError", "the engine's Java needs the options of docs/engines.md"},
	}
	for _, h := range hints {
		if strings.Contains(text, h.sign) {
			return fmt.Sprintf("%s (%s)", h.hint, text)
		}
	}
	if strings.HasPrefix(text, "java.") || strings.HasPrefix(text, "org.apache.") || strings.Contains(text, "job server") {
		return text
	}
	return "on a worker: " + text
}

// Stage writes the template of the graph that build makes, from which the runner's service can start the job any time.
func Stage(ctx context.Context, runner Runner, build func(beam.Scope)) error {
	p, s := beam.NewPipelineWithRoot()
	build(s)
	if err := runner.execute(ctx, p, observer{}); err != nil {
		return &modelio.Error{Exit: modelio.ExitFailed, Err: fmt.Errorf("%s: %s", runner.Template, cause(err))}
	}
	return nil
}

// cause is the line of a runner's error that says what went wrong: a DoFn's own error comes last, under the layers that
// passed it on; a panic comes first, above them and its stack.
func cause(err error) string {
	if top, _, ok := strings.Cut(err.Error(), "\nFull error:\n"); ok {
		if at := strings.Index(top, "panic: "); at >= 0 {
			return strings.ReplaceAll(top[at:], "\n", " ") + " (a bug; --log_level=error shows where)"
		}
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return strings.TrimSpace(strings.TrimPrefix(last, "caused by:"))
}
