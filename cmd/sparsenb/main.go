// Command sparsenb selects, from labeled text of any size, the few features of the maximum-likelihood sparse naive Bayes
// model, and proves how close the selection is to the optimum. "sparsenb help" is its manual.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	// Files may be named gs://bucket/object.
	_ "github.com/sparsenb/sparsenb/io/gcsio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

func main() { os.Exit(sparsenb(os.Args[1:])) }

// command is what the first argument names. prepare registers its flags and returns the function to call once they are
// parsed.
type command struct {
	name    string
	manual  string
	prepare func(fs *flag.FlagSet) func(ctx context.Context, args []string) error
}

func commands() []command {
	return []command{train, count, selectCommand, tuneCommand, predict, evaluate, transform, check, inspect, version}
}

// sparsenb runs the program and returns its exit code.
//
// The first argument is a command, unless it is a flag: schedulers pass flags only, and Beam starts its workers as this
// same program with --worker and other flags. So the order is fixed: choose the command, register and parse the flags,
// let Beam look at them, and only then run the command.
func sparsenb(args []string) int {
	if isBoot(args) {
		return reportError(boot(args))
	}
	if len(args) == 0 {
		io.WriteString(os.Stderr, train.manual)
		return modelio.ExitUsage
	}
	c, args, err := chooseCommand(args)
	if err != nil {
		return reportError(err)
	}
	f := registerFlags(flag.CommandLine, c)
	arguments, err := f.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, f.manual())
		return reportError(stdout.failed)
	}
	if err = cmp.Or(err, setLogLevel(*f.logLevel)); err != nil {
		return reportError(err)
	}
	if isWorker(f.set) {
		go endWithParent()
	}
	beam.Init() // does not return in a worker
	if *f.logLevel == "off" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	ctx, stop := signalContext()
	defer stop()
	err = f.run(ctx, arguments)
	return reportError(cmp.Or(err, stdout.failed))
}

func chooseCommand(args []string) (command, []string, error) {
	switch {
	case len(args) > 0 && slices.Contains([]string{"--version", "-version"}, args[0]):
		return version, nil, nil
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		return train, args, nil
	case args[0] == "help":
		return chooseCommand(append(args[1:], "--help"))
	}
	var names []string
	for _, c := range commands() {
		if c.name == args[0] {
			return c, args[1:], nil
		}
		names = append(names, c.name)
	}
	if name := nearest(args[0], names); name != "" {
		return command{}, nil, modelio.Usagef("unknown command %q; did you mean %s?", args[0], name)
	}
	return command{}, nil, modelio.Usagef("unknown command %q; the commands are %s", args[0], strings.Join(names, ", "))
}

// reportError prints the error in one line and returns its exit code.
func reportError(err error) int {
	if err == nil {
		return 0
	}
	printf(os.Stderr, "sparsenb: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	var interrupted interruptedError
	if errors.As(err, &interrupted) {
		return 128 + int(interrupted.signal)
	}
	var e *modelio.Error
	if errors.As(err, &e) {
		return e.Exit
	}
	return modelio.ExitFailed
}

func warn(format string, args ...any) {
	printf(os.Stderr, "sparsenb: warning: %s\n", fmt.Sprintf(format, args...))
}

// interruptedError is the cause of a context that a signal has ended.
type interruptedError struct{ signal syscall.Signal }

// Error names the signal.
func (e interruptedError) Error() string { return fmt.Sprintf("interrupted (%v)", e.signal) }

// secondSignalDelay is how long after the first signal another one is ignored: timeout(1) signals the program and then its
// process group, which is one request.
const secondSignalDelay = 2 * time.Second

// signalContext returns a context that SIGINT or SIGTERM ends. A later second signal ends the program at once.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s := <-signals
		cancel(interruptedError{s.(syscall.Signal)})
		for first := time.Now(); time.Since(first) < secondSignalDelay; {
			s = <-signals
		}
		printf(os.Stderr, "sparsenb: stopped at once; a job on an engine may still be running, and may publish\n")
		os.Exit(128 + int(s.(syscall.Signal)))
	}()
	return ctx, func() { signal.Stop(signals) }
}

// setLogLevel sets what Beam logs, before Beam starts. It is off by default: runners report a failure with plans and
// stacks, the command in one line.
func setLogLevel(level string) error {
	switch level {
	case "off":
		log.LogLevel = "error"
	case "error", "warn", "info", "debug":
		log.LogLevel = level
	default:
		return modelio.Usagef("--log_level=%s: must be off, error, warn, info or debug", level)
	}
	return nil
}
