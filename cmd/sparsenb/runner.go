package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// Dataflow registers itself, and its flags.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

// The values of Beam's --runner, in the spellings of Beam's SDKs for Go and for Python.
var (
	directNames   = []string{"direct", "DirectRunner"}
	prismNames    = []string{"prism", "PrismRunner"}
	engineNames   = []string{"flink", "FlinkRunner", "spark", "SparkRunner", "universal", "portable", "PortableRunner"}
	dataflowNames = []string{"dataflow", "DataflowRunner"}
	runnerNames   = slices.Concat(directNames, prismNames, engineNames, dataflowNames)
)

// explain replaces the usage of one of Beam's flags, which makes help list it.
func explain(fs *flag.FlagSet, name, usage string) { fs.Lookup(name).Usage = usage }

func addRunnerFlags(fs *flag.FlagSet) func() (pipeline.Runner, error) {
	explain(fs, "runner", "=NAME where the job runs: direct (in this process), prism (in this process, with a job server that listens on a port), flink, spark or portable (at --endpoint) or dataflow (default direct)")
	explain(fs, "endpoint", "=HOST:PORT Beam job server of a Flink or Spark cluster, such as localhost:8099")
	explain(fs, "parallelism", "=N number of parallel tasks on Flink; Spark ignores it (default: that of the job server)")
	explain(fs, "environment_type", "=TYPE how an engine starts workers: PROCESS, DOCKER, or LOOPBACK in this process (default PROCESS)")
	explain(fs, "environment_config", `=JSON|IMAGE for DOCKER, the image; for PROCESS, the program, such as {"command":"/usr/local/bin/sparsenb"} (default: this program, at the same path on every host)`)
	explain(fs, "project", "=PROJECT Google Cloud project of the Dataflow job")
	explain(fs, "region", "=REGION Google Cloud region of the Dataflow job")
	explain(fs, "staging_location", "=gs://BUCKET/FOLDER where the Dataflow job and its program are stored")
	explain(fs, "template_location", "=gs://BUCKET/OBJECT store the Dataflow job as a template instead of running it")
	explain(fs, "worker_binary", "=FILE program for the Dataflow workers, built for Linux")
	explain(fs, "sdk_container_image", "=IMAGE container image of the Dataflow workers")
	stall := fs.String("stall_timeout", "30m", "=DURATION how long a job on an engine may wait to start before it is cancelled; 0 waits indefinitely")
	return func() (pipeline.Runner, error) {
		timeout, err := time.ParseDuration(*stall)
		if err != nil || timeout < 0 {
			return pipeline.Runner{}, modelio.Usagef("--stall_timeout=%s: must be a duration such as 30m or 1h", *stall)
		}
		r, err := chooseRunner()
		r.StallTimeout = timeout
		if err = cmp.Or(err, r.Validate()); err != nil {
			return r, err
		}
		if r.OpensPort() {
			warn("Prism listens on a port while the job runs, through which %s can run commands as this user; --runner=direct opens no port", pipeline.WhoReachesPrism)
		}
		return r, nil
	}
}

// chooseRunner returns the runner that Beam's flags describe. The default is the direct runner.
func chooseRunner() (r pipeline.Runner, err error) {
	if *jobopts.Async {
		return r, modelio.Usagef("--async is not supported: the command waits until the run is published, but can be killed once the job is submitted")
	}
	name := *runners.Runner
	external := *jobopts.Endpoint != "" || *jobopts.EnvironmentType != ""
	switch {
	case name != "" && !slices.Contains(runnerNames, name):
		if guess := nearest(name, runnerNames); guess != "" {
			return r, modelio.Usagef("unknown runner --runner=%s; did you mean %s?", name, guess)
		}
		return r, modelio.Usagef("unknown runner --runner=%s; the runners are %s", name, strings.Join(runnerNames, ", "))
	case slices.Contains(dataflowNames, name):
		return dataflow()
	case slices.Contains(directNames, name) && external:
		return r, modelio.Usagef("--runner=%s runs in this process; remove --endpoint and --environment_type", name)
	case slices.Contains(engineNames, name) && *jobopts.Endpoint == "":
		return r, modelio.Usagef("--runner=%s requires --endpoint, the address of its Beam job server, such as --endpoint=localhost:8099", name)
	case wasGiven("parallelism") && *jobopts.Parallelism < 1:
		return r, modelio.Usagef("--parallelism=%d: must be at least 1, and is for clusters only; a local run uses all cores", *jobopts.Parallelism)
	}
	r.Prism = slices.Contains(prismNames, name)
	r.Endpoint = *jobopts.Endpoint
	r.Parallelism = max(*jobopts.Parallelism, 0)
	if !external {
		return r, nil
	}
	r.Environment, r.Config = strings.ToUpper(*jobopts.EnvironmentType), *jobopts.EnvironmentConfig
	if r.Environment == "" {
		r.Environment = "PROCESS"
	}
	if r.Environment == "PROCESS" && r.Config == "" {
		r.Config, err = thisProgram()
	}
	return r, err
}

// wasGiven reports whether a flag is on the command line.
func wasGiven(name string) (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// dataflow returns the SDK's runner for Dataflow. With Beam's --template_location it stores the job and does not run it.
func dataflow() (pipeline.Runner, error) {
	r := pipeline.Runner{Beam: "dataflow", Template: flag.Lookup("template_location").Value.String()}
	if !strings.HasPrefix(flag.Lookup("staging_location").Value.String(), "gs://") {
		return r, modelio.Usagef("--runner=dataflow requires --staging_location=gs://bucket/folder")
	}
	return r, nil
}

// thisProgram returns the configuration of an environment whose worker is this program, at the same path on every host.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]string{"command": self})
	return string(config), err
}
