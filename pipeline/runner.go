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

// Runner is where a job runs. The zero value is Beam's direct runner, inside this process.
type Runner struct {
	Prism       bool   // a Prism of our own, which checks what clusters demand; it listens on a port, see OpensPort
	Endpoint    string // of a Beam job service, such as Flink's or Spark's; "" runs the job from this process
	Environment string // how the engine starts workers: PROCESS, DOCKER or LOOPBACK, as Beam's --environment_type
	Config      string // of the environment, as Beam's --environment_config
	Beam        string // a runner that the SDK runs by itself, such as dataflow
	Template    string // where that runner writes the job to be run later, if not empty
	Parallelism int    // bundles at once; 0 leaves it to the engine

	// StallTimeout cancels a job on an engine that has not begun for so long; 0 never does. Flink, for one, keeps a job
	// that it has no slot for. What a job does that has begun cannot be told on every engine: Flink's job server has
	// counters at the end only, Spark's at the end of a task.
	StallTimeout time.Duration
}

// Here reports whether the job is run by this process.
func (r Runner) Here() bool { return r.Endpoint == "" && r.Beam == "" }

// OpensPort reports whether this process serves jobs while it runs one, by a Prism of its own: direct workers need none, but
// workers that are other processes do. Whoever connects to that server can have it run commands.
func (r Runner) OpensPort() bool { return r.Here() && (r.Prism || r.Environment != "") }

// observer is what the one who runs a job knows and wants to know.
type observer struct {
	watch func(Progress)          // is called now and then
	begun func() bool             // tells whether the first step has done its work
	mark  func(cause error) error // keeps the job from publishing
}

// execute runs a pipeline to its end.
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
	// A context of its own: the workers stop also if ctx has ended.
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
	if r.judgesStart() {
		defer cancelUnlessBegun(r.StallTimeout, o.begun, cancel)()
	}
	defer watchCounters(ctx, job.progress, o.watch)()
	return job.wait(ctx, o.mark)
}

// judgesStart reports whether a job that does not begin is cancelled.
func (r Runner) judgesStart() bool { return r.StallTimeout > 0 && !r.Here() }

// cancelUnlessBegun calls cancel if the job has not begun when the timeout is over, and stop was not called before.
func cancelUnlessBegun(timeout time.Duration, begun func() bool, cancel context.CancelCauseFunc) (stop func() bool) {
	return time.AfterFunc(timeout, func() {
		if !begun() {
			cancel(fmt.Errorf("the job has not begun for %s (--stall_timeout): the engine may have fewer free slots than --parallelism, or its hosts no program at this path", timeout))
		}
	}).Stop
}

// Loopback reports whether the workers are goroutines of this process.
func (r Runner) Loopback() bool {
	return r.Environment == "LOOPBACK" || r.Here() && r.Environment == ""
}

// InProcess reports whether this process is the engine and all its workers.
func (r Runner) InProcess() bool { return r.Here() && r.Loopback() }

// environment says how the engine is to start workers, and starts those that are goroutines of this process. No worker
// is staged: the engine's hosts have this program, or a container image has it.
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

// keepaliveTime is how often a job server is asked whether it is there. Java's servers take more than once in five minutes
// for an attack.
const keepaliveTime = 6 * time.Minute

// connectTimeout is how long a job service may take to answer at first.
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
		return nil, nil, errors.Join(fmt.Errorf("--endpoint=%s: no Beam job server answers there (%w)", r.Endpoint, err), connection.Close())
	}
	return client, connection.Close, nil
}

const submitTimeout = 2 * time.Minute

// submit hands the job to the engine.
func (r Runner) submit(ctx context.Context, client jobpb.JobServiceClient, graph *pipepb.Pipeline) (job, error) {
	options := &runnerlib.JobOptions{
		Name: jobopts.GetJobName(), Experiments: jobopts.GetExperiments(), Loopback: r.Loopback(), Parallelism: r.Parallelism,
		RetainDocker: *jobopts.RetainDockerContainers,
	}
	prepared, staging, token, err := runnerlib.Prepare(ctx, client, graph, options)
	if err != nil && strings.Contains(err.Error(), "Unimplemented") {
		return job{}, modelio.Usagef("--endpoint=%s: what answers there is no Beam job server; that has port 8099 if nobody moved it", r.Endpoint)
	}
	if err != nil {
		return job{}, err
	}
	if !r.Here() {
		// There is nothing to stage, but the job server wants to have asked.
		if token, err = runnerlib.Stage(ctx, prepared, staging, os.DevNull, token); err != nil {
			return job{}, err
		}
	}
	// Not to be interrupted: the engine might have the job, and we not its name.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer stop()
	id, err := runnerlib.Submit(ctx, client, prepared, token)
	return job{client, id, graph, r.Here()}, err
}
