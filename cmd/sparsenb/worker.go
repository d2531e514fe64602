package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/sparsenb/sparsenb/pipeline"
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

// boot asks the engine for what a worker has to know, and becomes the worker.
func boot(args []string) error {
	fs := flag.NewFlagSet("boot", flag.ContinueOnError)
	id := fs.String("id", "", "of the worker")
	provision := fs.String(provisionEndpoint, "", "who knows the rest")
	logging := fs.String("logging_endpoint", "", "")
	control := fs.String("control_endpoint", "", "")
	fs.String("artifact_endpoint", "", "")
	fs.String("semi_persist_dir", "", "")
	if err := fs.Parse(args); err != nil {
		return pipeline.Usagef("starting as a worker: %w", err)
	}
	*id = strings.Trim(*id, "'") // Prism quotes it, as for a shell, and does not know it by that name
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(context.Background(), *id), *provision)
	if err != nil {
		return fmt.Errorf("starting as a worker: asking %s: %w", *provision, err)
	}
	if url := info.GetLoggingEndpoint().GetUrl(); url != "" {
		*logging = url
	}
	if url := info.GetControlEndpoint().GetUrl(); url != "" {
		*control = url
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("starting as a worker: the pipeline's options: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting as a worker: %w", err)
	}
	worker := []string{self, "--worker=true", "--id=" + *id, "--logging_endpoint=" + *logging, "--control_endpoint=" + *control, "--options=" + options}
	environment := append(os.Environ(),
		"RUNNER_CAPABILITIES="+strings.Join(info.GetRunnerCapabilities(), " "),
		"STATUS_ENDPOINT="+info.GetStatusEndpoint().GetUrl())
	return fmt.Errorf("starting as a worker: %s: %w", self, syscall.Exec(self, worker, environment))
}

// isWorker reports whether this process was started as a worker, which beam.Init has seen to the end.
func isWorker(fs *flag.FlagSet) bool { return fs.Lookup("worker").Value.String() == "true" }
