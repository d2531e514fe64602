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

// An engine that starts workers as processes runs one executable with flags that say where to ask for the configuration:
//
//	sparsenb --id=1-1 --provision_endpoint=localhost:40001 …
//
// In Beam's container contract a separate program, boot, asks and starts the worker. Here the worker asks and continues in
// the same process, so that nothing has to be staged and no child process can be orphaned.
const provisionEndpoint = "provision_endpoint"

func isBoot(args []string) bool {
	for _, arg := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); strings.HasPrefix(arg, "-") && name == provisionEndpoint {
			return true
		}
	}
	return false
}

// boot turns this process into a worker. It returns only if that fails.
func boot(args []string) error { return fmt.Errorf("starting a worker: %w", becomeWorker(args)) }

// becomeWorker asks the engine for the configuration of the worker, and executes this program again as the worker.
func becomeWorker(args []string) error {
	fs := flag.NewFlagSet("boot", flag.ContinueOnError)
	id := fs.String("id", "", "id of the worker")
	provision := fs.String(provisionEndpoint, "", "service that has the configuration")
	logging := fs.String("logging_endpoint", "", "")
	control := fs.String("control_endpoint", "", "")
	fs.String("artifact_endpoint", "", "")
	fs.String("semi_persist_dir", "", "")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		return &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	*id = strings.Trim(*id, "'") // Prism quotes it for a shell, but expects it without quotes
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
		return fmt.Errorf("%s did not provide all endpoints (id %q, logging %q, control %q)", *provision, *id, *logging, *control)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("reading the pipeline options: %w", err)
	}
	file, err := handOver(options)
	if err != nil {
		return fmt.Errorf("storing the pipeline options: %w", err)
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

// handOver writes the options to an unlinked file that stays open across exec. They contain every flag of the launcher and
// may exceed the 128 KiB limit of an argument.
func handOver(options string) (name string, err error) {
	f, err := os.CreateTemp("", "sparsenb-options-")
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(options); err != nil {
		return "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	fd, err := syscall.Dup(int(f.Fd())) // unlike f it stays open across exec
	return fmt.Sprintf("/proc/self/fd/%d", fd), errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// endWithParent polls for the end of the engine, and then ends this worker. Beam's loop would wait forever after the engine
// has closed the connection.
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
