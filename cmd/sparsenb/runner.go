package main

import (
	"encoding/json"
	"flag"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// Dataflow registers itself, and with it its flags.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

// runnerNames are what Beam's --runner may be here, in the spellings of Beam's SDKs for Go and for Python.
var runnerNames = []string{"direct", "DirectRunner", "prism", "PrismRunner", "flink", "FlinkRunner", "spark", "SparkRunner",
	"universal", "portable", "PortableRunner", "dataflow", "DataflowRunner"}

// explain puts the usage of a flag of Beam's in our words, which makes the verb's help list it.
func explain(fs *flag.FlagSet, name, usage string) { fs.Lookup(name).Usage = usage }

func addRunnerFlags(fs *flag.FlagSet) func() (pipeline.Runner, error) {
	explain(fs, "runner", "=direct\n        what runs the job: direct, in this process; prism, in this process, with a job server that listens on a port; flink, spark or portable, at --endpoint; dataflow (default direct)")
	explain(fs, "endpoint", "=HOST:PORT\n        the Beam job server of the Flink or Spark cluster, such as localhost:8099")
	explain(fs, "parallelism", "=N\n        how many tasks run at once on Flink (default what its job server is configured with)")
	explain(fs, "environment_type", "=PROCESS\n        how an engine starts workers: PROCESS, DOCKER or LOOPBACK, in the launcher (default PROCESS)")
	explain(fs, "environment_config", "=JSON|IMAGE\n        with DOCKER the image; with PROCESS the program, as in {\"command\": \"/usr/local/bin/sparsenb\"} (default this program, at the same path)")
	for _, name := range []string{"project", "region"} {
		explain(fs, name, "="+strings.ToUpper(name)+"\n        of Google Cloud, for --runner=dataflow")
	}
	explain(fs, "staging_location", "=gs://BUCKET/FOLDER\n        where --runner=dataflow puts the program and the job")
	explain(fs, "template_location", "=gs://BUCKET/OBJECT\n        with --runner=dataflow, write the job there as a template, to be run later")
	explain(fs, "worker_binary", "=FILE\n        the program, built for Linux, that the workers of --runner=dataflow run")
	explain(fs, "sdk_container_image", "=IMAGE\n        the image of the workers of --runner=dataflow")
	stall := fs.String("stall_timeout", "30m", "=30m\n        how long a job on an engine may take to begin before it is cancelled; 0 is for ever (default 30m)")
	return func() (pipeline.Runner, error) {
		timeout, err := time.ParseDuration(*stall)
		if err != nil || timeout < 0 {
			return pipeline.Runner{}, modelio.Usagef("--stall_timeout=%s: not a duration such as 30m or 1h", *stall)
		}
		r, err := chooseRunner()
		r.StallTimeout = timeout
		if err == nil {
			warnOfPort(r)
		}
		return r, err
	}
}

// chooseRunner returns what Beam's flags say. Without any, that is the direct runner, which opens no port.
func chooseRunner() (r pipeline.Runner, err error) {
	if *jobopts.Async {
		return r, modelio.Usagef("--async is not supported: the command ends when the run is published; it may be killed once the job is submitted")
	}
	name := *runners.Runner
	elsewhere := *jobopts.Endpoint != "" || *jobopts.EnvironmentType != ""
	switch name {
	case "":
		if !elsewhere {
			return r, checkRunner(r)
		}
	case "direct", "DirectRunner":
		if elsewhere {
			return r, modelio.Usagef("--runner=%s works in this process: leave out --endpoint and --environment_type", name)
		}
		return r, checkRunner(r)
	case "dataflow", "DataflowRunner":
		return dataflow()
	case "prism", "PrismRunner":
		if !elsewhere {
			r.Prism = true
			return r, checkRunner(r)
		}
	case "flink", "FlinkRunner", "spark", "SparkRunner", "universal", "portable", "PortableRunner":
		if *jobopts.Endpoint == "" {
			return r, modelio.Usagef("--runner=%s needs --endpoint, the address of its Beam job server, such as --endpoint=localhost:8099", name)
		}
	default:
		return r, modelio.Usagef("--runner=%s is not known%s; there are %s", name, didYouMean(name, runnerNames), strings.Join(runnerNames, ", "))
	}
	r = pipeline.Runner{
		Endpoint: *jobopts.Endpoint, Environment: strings.ToUpper(*jobopts.EnvironmentType), Config: *jobopts.EnvironmentConfig,
		Parallelism: *jobopts.Parallelism,
	}
	if r.Environment == "" {
		r.Environment = "PROCESS"
	}
	if !slices.Contains([]string{"PROCESS", "DOCKER", "LOOPBACK"}, r.Environment) {
		return r, modelio.Usagef("--environment_type=%s: it is PROCESS, DOCKER or LOOPBACK", *jobopts.EnvironmentType)
	}
	if r.Environment == "PROCESS" && r.Config == "" {
		r.Config, err = ownProcess()
	}
	if err == nil {
		err = checkRunner(r)
	}
	return r, err
}

// warnOfPort says who can misuse a job server of this process, which has no password and can be asked to start commands.
func warnOfPort(r pipeline.Runner) {
	if r.OpensPort() {
		warn("Prism listens on a port while the job runs: %s can run commands as this user through it; --runner=direct opens no port", pipeline.WhoReachesPrism)
	}
}

// checkRunner finds what no engine would take.
func checkRunner(r pipeline.Runner) error {
	if r.Endpoint != "" {
		host, port, err := net.SplitHostPort(r.Endpoint)
		if n, e := strconv.Atoi(port); err != nil || e != nil || host == "" || n < 1 || n > math.MaxUint16 {
			return modelio.Usagef("--endpoint=%s: it is HOST:PORT, such as localhost:8099", r.Endpoint)
		}
	}
	if wasGiven("parallelism") && (r.Here() || r.Parallelism < 1) {
		return modelio.Usagef("--parallelism=%d: it is a number from 1, for an engine; a local run uses all cores", *jobopts.Parallelism)
	}
	switch {
	case r.Environment == "DOCKER" && r.Config == "":
		return modelio.Usagef("--environment_type=DOCKER needs --environment_config, the name of the image")
	case r.Environment == "PROCESS":
		return checkProcess(r)
	}
	return nil
}

// checkProcess reads the configuration of workers that are processes. Where a program lies on the hosts of an engine cannot
// be told from here.
func checkProcess(r pipeline.Runner) error {
	var config struct {
		Command, OS, Arch string
		Env               map[string]string
	}
	decoder := json.NewDecoder(strings.NewReader(r.Config))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil || config.Command == "" {
		return modelio.Usagef(`--environment_config=%s: not JSON such as {"command": "/usr/local/bin/sparsenb"}`, r.Config)
	}
	if r.Here() {
		if _, err := exec.LookPath(config.Command); err != nil {
			return modelio.Usagef("--environment_config=%s: %w", r.Config, err)
		}
	}
	return nil
}

// wasGiven reports whether a flag stands on the command line.
func wasGiven(name string) (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// dataflow is the SDK's own runner for it. With --template_location, a flag of Beam, it stages the job and does not run it.
func dataflow() (pipeline.Runner, error) {
	r := pipeline.Runner{Beam: "dataflow", Template: flag.Lookup("template_location").Value.String()}
	if !strings.HasPrefix(flag.Lookup("staging_location").Value.String(), "gs://") {
		return r, modelio.Usagef("--runner=dataflow needs --staging_location=gs://bucket/folder")
	}
	if r.Template != "" && !strings.HasPrefix(r.Template, "gs://") {
		return r, modelio.Usagef("--template_location=%s: it is a name such as gs://bucket/object", r.Template)
	}
	return r, nil
}

// ownProcess is the environment in which this very program is the worker, at the same path on every host.
func ownProcess() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]string{"command": self})
	return string(config), err
}
