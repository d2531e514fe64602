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

// CheckOutput inspects the output folder before a run. It reports whether the same run is already published there, and fails if the
// folder contains anything other than the files of an earlier attempt at this run. It removes what an attempt that was killed
// after publishing left behind.
func CheckOutput(ctx context.Context, output string, run modelio.Run) (published bool, err error) {
	if !utf8.ValidString(output) {
		return false, modelio.Usagef("--output=%q: the name is not valid UTF-8", output)
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
		if err := modelio.Tidy(ctx, output, run); err != nil {
			return true, &modelio.Error{Exit: modelio.ExitFailed, Err: err}
		}
		return true, nil
	case state.Success != nil:
		manifest, err := modelio.ReadManifest(ctx, output)
		if err != nil {
			return false, modelio.Usagef("%w; choose another --output", err)
		}
		return false, modelio.Usagef("%s: contains another run (%s, %s); choose another --output%s", output, state.Success.Run,
			difference(manifest.Run, run), suggestSelect(manifest.Run, run, output))
	case state.Foreign != "":
		return false, modelio.Usagef("%s: not empty, contains %s; choose another --output", output, strings.TrimPrefix(state.Foreign, fileio.Join(output, "")))
	case state.Started != nil && state.Started.Fingerprint != run.Fingerprint:
		return false, modelio.Usagef("%s: another run (%s, %s) is writing to it or was interrupted; choose another --output, or remove the folder", output, state.Started.ID,
			difference(*state.Started, run))
	}
	return false, nil
}

// Refuse writes the verdict of a run whose data failed a check before there was a job, as the job would have done, and returns
// err. It does not change a folder that CheckOutput does not accept.
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
		return &modelio.Error{Exit: data.Exit, Err: fmt.Errorf("%w (writing %s failed: %w)", err, modelio.VerdictFile, e)}
	}
	return err
}

// differingOption returns the first option, by name, whose value differs between two runs, or "".
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

// difference describes how another run differs from this one.
func difference(other, run modelio.Run) string {
	option := differingOption(other, run)
	switch {
	case other.Verb != run.Verb:
		return "by sparsenb " + other.Verb
	case option == "":
		return "with other input, or input that has changed"
	case other.Options[option] == "":
		return "without --" + option
	}
	return fmt.Sprintf("with --%s=%s", option, other.Options[option])
}

// suggestSelect is for a run that differs in k only: the counts exist.
func suggestSelect(other, run modelio.Run, output string) string {
	if other.Verb == "train" && run.Verb == "train" && differingOption(other, run) == "k" {
		return ", or select from its counts: sparsenb select --counts=" + output
	}
	return ""
}

// Run executes the graph that build makes, and returns nil if the run is published, by this job or by another job of the same
// run. The runner's error alone does not decide: it may be nil for a cancelled job. While the job runs, watch is called with
// its progress, if the runner reports it.
func Run(ctx context.Context, runner Runner, output string, run modelio.Run, build func(beam.Scope), watch func(Progress)) (err error) {
	if err := runner.Validate(); err != nil {
		return err
	}
	defer func() {
		if e := spill.Release(run.ID); err != nil && e != nil {
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
		started: func() bool {
			state, err := modelio.ReadState(ctx, output)
			// A claim may be that of an earlier attempt.
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
		// Before the job was submitted. What the SDK's own runners submitted is unknown.
		failed = &cancelledError{cause: context.Cause(ctx), confirmed: runner.Beam == ""}
	}
	return outcome(context.WithoutCancel(ctx), runner, output, run, before, failed)
}

// outcome returns nil if the run is published, and otherwise the error that best says why not.
func outcome(ctx context.Context, runner Runner, output string, run modelio.Run, before modelio.State, failed error) error {
	state, err := modelio.ReadState(ctx, output)
	var cancelled *cancelledError
	var usage *modelio.Error
	switch {
	case err == nil && state.Success != nil && state.Success.Fingerprint == run.Fingerprint:
		return nil
	case errors.As(failed, &cancelled):
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
		return &modelio.Error{Exit: modelio.ExitUsage, Err: fmt.Errorf("%s: the job succeeded, but published nothing here; probably --output is not on storage that all hosts share", output)}
	}
	return &modelio.Error{Exit: modelio.ExitFailed, Err: fmt.Errorf("%s: the job ended without publishing", output)}
}

// judged reports whether a verdict applies to this attempt: it is its own, or that of a concurrent attempt at the same run.
// An older verdict does not say why this attempt ended.
func judged(verdict, before *modelio.Verdict, run modelio.Run) bool {
	return verdict != nil && verdict.Fingerprint == run.Fingerprint &&
		(verdict.Run == run.ID || before == nil || before.Run != verdict.Run)
}

// explain reduces an error of the runner, which contains plans and stacks, to one line.
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

// fromEngine adds the probable cause to an error of an engine, or says that it is a worker's.
func fromEngine(text string) string {
	hints := []struct{ sign, hint string }{
		{"java.io.IOException: error=", "a worker could not start; probably the program is not at the same path on every host, or not where --environment_config says"},
		{"Process died with exit code", "a worker exited at once; probably --environment_config names another program"},
		{"java.net.ConnectException", "the job server cannot connect to its engine"},
		{"java.lang.IllegalAccessError", "the engine's Java needs the options in docs/engines.md"},
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

// Stage stores the graph that build makes as a template, from which the runner's service can start jobs.
func Stage(ctx context.Context, runner Runner, build func(beam.Scope)) error {
	if err := runner.Validate(); err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	build(s)
	if err := runner.execute(ctx, p, observer{}); err != nil {
		return &modelio.Error{Exit: modelio.ExitFailed, Err: fmt.Errorf("%s: %s", runner.Template, cause(err))}
	}
	return nil
}

// cause returns the line of a runner's error that says what failed. A DoFn's error is the last line, after the layers that
// wrapped it; a panic is the first, before the layers and its stack.
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
