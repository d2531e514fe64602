// Command sparsenb picks, from labelled text of any size, the few features that a sparse naive Bayes model of maximum
// likelihood uses, and proves how near to the optimum the choice is. "sparsenb help" is its manual.
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

func main() { os.Exit(sparsenb()) }

// verb is something that the command can do. It registers its flags and returns what to do once they are parsed.
type verb struct {
	name     string
	synopsis string
	manual   string
	prepare  func(fs *flag.FlagSet) func(ctx context.Context, args []string) error
}

func verbs() []verb { return []verb{train, count, selectVerb, inspect, version} }

// sparsenb runs the command and returns its exit code.
//
// The first argument is a verb, unless it is a flag: schedulers pass flags only, and Beam starts its workers as this
// same program with --worker and other flags of its own. So the order is fixed: find the verb, register and parse the
// flags, let Beam look at them, and only then do something.
func sparsenb() int {
	args := os.Args[1:]
	if isBoot(args) {
		return report(boot(args))
	}
	if len(args) == 0 {
		io.WriteString(os.Stderr, train.manual)
		return modelio.ExitUsage
	}
	if slices.Contains([]string{"--version", "-version"}, args[0]) {
		args = []string{"version"}
	}
	v, args, err := chooseVerb(args)
	if err != nil {
		return report(err)
	}
	fs := flag.CommandLine
	fs.Init("sparsenb", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	level := fs.String("log_level", "off", "=off\n        what to show of the words of Beam and its runners: off, error, warn, info or debug (default off)")
	own := ownFlags(fs, v)
	own.names = append(own.names, "log_level")
	positional, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, manual(v, own))
		return report(stdout.failed)
	}
	if err != nil {
		return report(explainFlag(fs, own, err))
	}
	if err := setLogLevel(*level); err != nil {
		return report(err)
	}
	if isWorker(fs) {
		go endWithParent()
	}
	beam.Init() // a worker never returns from here
	if *level == "off" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	ctx, stop := signalContext()
	defer stop()
	err = own.run(ctx, positional)
	return report(cmp.Or(err, stdout.failed))
}

func chooseVerb(args []string) (verb, []string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return train, args, nil
	}
	if args[0] == "help" {
		return chooseVerb(append(args[1:], "--help"))
	}
	var names []string
	for _, v := range verbs() {
		if v.name == args[0] {
			return v, args[1:], nil
		}
		names = append(names, v.name)
	}
	return verb{}, nil, modelio.Usagef("%s is no verb%s; there are %s", args[0], didYouMean(args[0], names), strings.Join(names, ", "))
}

// report prints the error in one line and returns the exit code that goes with it.
func report(err error) int {
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

// patience is how long after a signal another ends the program at once. Who asks a program to end may ask twice in one go:
// timeout(1) signals the program and then its group.
const patience = 2 * time.Second

// signalContext returns a context that ends with SIGINT or SIGTERM. Another signal, later on, ends the program at once.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s := <-signals
		cancel(interruptedError{s.(syscall.Signal)})
		for first := time.Now(); time.Since(first) < patience; {
			s = <-signals
		}
		printf(os.Stderr, "sparsenb: ended at once: a job on an engine may go on, and publish\n")
		os.Exit(128 + int(s.(syscall.Signal)))
	}()
	return ctx, func() { signal.Stop(signals) }
}

// setLogLevel says what Beam is to log, before it starts. Runners repeat a failure at length, with plans and stacks;
// the command says it in a line.
func setLogLevel(level string) error {
	switch level {
	case "off":
		log.LogLevel = "error"
	case "error", "warn", "info", "debug":
		log.LogLevel = level
	default:
		return modelio.Usagef("--log_level=%s: it is off, error, warn, info or debug", level)
	}
	return nil
}
