package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// An engine that starts workers as processes runs one executable, with flags that lead to what the worker is to know:
//
//	sparsenb --id=1-1 --provision_endpoint=localhost:40001 …
//
// That is Beam's container contract, in which a program called boot stands between engine and worker. Here the worker
// asks by itself and goes on in the same process, so that there is nothing to stage, and no child to be left behind.
const provisionEndpoint = "provision_endpoint"

func isBoot(args []string) bool {
	for _, arg := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); strings.HasPrefix(arg, "-") && name == provisionEndpoint {
			return true
		}
	}
	return false
}

// boot becomes a worker. It returns only if that fails.
func boot(args []string) error { return fmt.Errorf("starting as a worker: %w", becomeWorker(args)) }

// becomeWorker asks the engine for what a worker has to know, and becomes the worker.
func becomeWorker(args []string) error {
	fs := flag.NewFlagSet("boot", flag.ContinueOnError)
	id := fs.String("id", "", "of the worker")
	provision := fs.String(provisionEndpoint, "", "who knows the rest")
	logging := fs.String("logging_endpoint", "", "")
	control := fs.String("control_endpoint", "", "")
	fs.String("artifact_endpoint", "", "")
	fs.String("semi_persist_dir", "", "")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		return &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	*id = strings.Trim(*id, "'") // Prism quotes it, as for a shell, and does not know it by that name
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(context.Background(), *id), *provision)
	if err != nil {
		return fmt.Errorf("asking %s: %w", *provision, err)
	}
	if url := info.GetLoggingEndpoint().GetUrl(); url != "" {
		*logging = url
	}
	if url := info.GetControlEndpoint().GetUrl(); url != "" {
		*control = url
	}
	if *id == "" || *logging == "" || *control == "" {
		return fmt.Errorf("%s does not say where to go (id %q, logging %q, control %q)", *provision, *id, *logging, *control)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("the pipeline's options: %w", err)
	}
	file, err := handOver(options)
	if err != nil {
		return fmt.Errorf("the pipeline's options: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"PIPELINE_OPTIONS_FILE": file,
		"RUNNER_CAPABILITIES":   strings.Join(info.GetRunnerCapabilities(), " "),
		"STATUS_ENDPOINT":       info.GetStatusEndpoint().GetUrl(),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	worker := []string{self, "--worker=true", "--id=" + *id, "--logging_endpoint=" + *logging, "--control_endpoint=" + *control}
	return fmt.Errorf("%s: %w", self, syscall.Exec(self, worker, os.Environ()))
}

// handOver writes the options to a file that has no name any more but stays open in this process. They hold every flag of
// the launcher, which may be more than the 128 KiB that an argument can have.
func handOver(options string) (name string, err error) {
	f, err := os.CreateTemp("", "sparsenb-options-")
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(options); err != nil {
		return "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	fd, err := syscall.Dup(int(f.Fd())) // unlike f it stays open beyond exec
	return fmt.Sprintf("/proc/self/fd/%d", fd), errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// endWithParent ends a worker whose engine has gone without a word, so that it is no orphan. Beam's own loop would wait for
// ever after the engine has closed its end.
func endWithParent() {
	parent := os.Getppid()
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(modelio.ExitFailed)
		}
	}
}

// isWorker reports whether this process was started as a worker.
func isWorker(fs *flag.FlagSet) bool { return fs.Lookup("worker").Value.String() == "true" }
