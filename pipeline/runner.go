package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Runner is where a job runs. The zero value is Beam's direct runner, in this process. Validate checks it.
type Runner struct {
	Prism       bool   // run on Prism in this process, which listens on a port, see OpensPort; default the direct runner
	Endpoint    string // HOST:PORT of a Beam job server, such as Flink's or Spark's; default none, the job runs in this process
	Environment string // how the engine starts workers: PROCESS, DOCKER or LOOPBACK; required with Endpoint
	Config      string // of the environment, as Beam's --environment_config; required for PROCESS and DOCKER
	Beam        string // a runner of Beam's SDK, such as dataflow; default none
	Template    string // gs:// name under which that runner stores the job instead of running it; default none
	Parallelism int    // parallel tasks on Flink; default 0, that of the job server

	// StallTimeout is how long a job may wait to start on an engine before it is cancelled; default 0, indefinitely. Flink
	// keeps a job for which it has no slots. Once a job has started, its progress cannot be observed on every engine:
	// Flink's job server has counters only at the end, Spark's at the end of a task.
	StallTimeout time.Duration
}

// Here reports whether the engine is this process.
func (r Runner) Here() bool { return r.Endpoint == "" && r.Beam == "" }

// OpensPort reports whether this process runs the job server of Prism: on request, or because workers are other processes.
// Anyone who can connect to that server can run commands.
func (r Runner) OpensPort() bool { return r.Here() && (r.Prism || r.Environment != "") }

// observer are the functions that execute calls while a job runs.
type observer struct {
	watch   func(Progress)          // reports the progress
	started func() bool             // whether the first step has done its work
	mark    func(cause error) error // keeps the job from publishing
}

func (r Runner) execute(ctx context.Context, p *beam.Pipeline, o observer) (err error) {
	if r.Beam != "" {
		_, err := beam.Run(ctx, r.Beam, p)
		return err
	}
	if r.Here() && !r.OpensPort() {
		return executeDirect(ctx, p, o.watch)
	}
	environment, stop, err := r.environment(ctx)
	if err != nil {
		return err
	}
	// The workers must be stopped even if ctx has ended.
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	client, hangUp, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hangUp()) }()
	edges, _, err := p.Build()
	if err != nil {
		return err
	}
	graph, err := graphx.Marshal(edges, &graphx.Options{Environment: environment, PipelineResourceHints: jobopts.GetPipelineResourceHints()})
	if err != nil {
		return err
	}
	job, err := r.submit(ctx, client, graph)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if r.watchesStart() {
		defer cancelUnlessStarted(r.StallTimeout, o.started, cancel)()
	}
	defer watchCounters(ctx, job.progress, o.watch)()
	return job.wait(ctx, o.mark)
}

// watchesStart reports whether a job that does not start in time is cancelled.
func (r Runner) watchesStart() bool { return r.StallTimeout > 0 && !r.Here() }

// cancelUnlessStarted calls cancel after the timeout if the job has not started, unless stop is called before.
func cancelUnlessStarted(timeout time.Duration, started func() bool, cancel context.CancelCauseFunc) (stop func() bool) {
	return time.AfterFunc(timeout, func() {
		if !started() {
			cancel(fmt.Errorf("the job did not start within %s (--stall_timeout); probably the engine has fewer free slots than --parallelism, or the program is not at the same path on its hosts", timeout))
		}
	}).Stop
}

// Loopback reports whether the workers are goroutines of this process.
func (r Runner) Loopback() bool {
	return r.Environment == "LOOPBACK" || r.Here() && r.Environment == ""
}

// InProcess reports whether both the engine and the workers are in this process.
func (r Runner) InProcess() bool { return r.Here() && r.Loopback() }

// environment describes how the engine starts workers, and starts those that are goroutines of this process. The program is
// not staged: the engine's hosts have it, or the container image.
func (r Runner) environment(ctx context.Context) (e *pipepb.Environment, stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	config := func(context.Context) string { return r.Config }
	urn := "beam:env:" + strings.ToLower(r.Environment) + ":v1"
	if r.Loopback() {
		workers, err := extworker.StartLoopback(ctx, 0)
		if err != nil {
			return nil, nil, err
		}
		urn, config, stop = graphx.URNEnvExternal, workers.EnvironmentConfig, workers.Stop
	}
	e, err = graphx.CreateEnvironment(ctx, urn, config)
	if err != nil {
		return nil, nil, errors.Join(err, stop(ctx))
	}
	if !r.Here() {
		e.Dependencies = nil
	}
	return e, stop, nil
}

// keepaliveTime is the interval of keepalive pings. gRPC servers in Java reject more than one in five minutes.
const keepaliveTime = 6 * time.Minute

// connectTimeout is how long a job server may take to answer at first.
const connectTimeout = 20 * time.Second

func (r Runner) connect(ctx context.Context) (jobpb.JobServiceClient, func() error, error) {
	if r.Here() {
		client, err := startPrism(ctx)
		return client, func() error { return nil }, err
	}
	connection, err := grpc.NewClient(r.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: time.Minute}))
	if err != nil {
		return nil, nil, modelio.Usagef("--endpoint=%s: %w", r.Endpoint, err)
	}
	client := jobpb.NewJobServiceClient(connection)
	trial, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := client.GetJobs(trial, &jobpb.GetJobsRequest{}, grpc.WaitForReady(true)); trial.Err() != nil {
		return nil, nil, errors.Join(fmt.Errorf("--endpoint=%s: no Beam job server answers at this address (%w)", r.Endpoint, err), connection.Close())
	}
	return client, connection.Close, nil
}

const submitTimeout = 2 * time.Minute

func (r Runner) submit(ctx context.Context, client jobpb.JobServiceClient, graph *pipepb.Pipeline) (job, error) {
	options := &runnerlib.JobOptions{
		Name: jobopts.GetJobName(), Experiments: jobopts.GetExperiments(), Loopback: r.Loopback(), Parallelism: r.Parallelism,
		RetainDocker: *jobopts.RetainDockerContainers,
	}
	prepared, staging, token, err := runnerlib.Prepare(ctx, client, graph, options)
	if err != nil && strings.Contains(err.Error(), "Unimplemented") {
		return job{}, modelio.Usagef("--endpoint=%s: this is not a Beam job server, whose default port is 8099", r.Endpoint)
	}
	if err != nil {
		return job{}, err
	}
	if !r.Here() {
		// There is nothing to stage, but the job server requires the request.
		if token, err = runnerlib.Stage(ctx, prepared, staging, os.DevNull, token); err != nil {
			return job{}, err
		}
	}
	// Not interruptible: the engine could have the job while its name is unknown here.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer stop()
	id, err := runnerlib.Submit(ctx, client, prepared, token)
	return job{client, id, graph, r.Here()}, err
}
