package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"

	"github.com/sparsenb/sparsenb/transforms"
)

// Progress is how far a job has come.
type Progress struct {
	Bytes     int64 // of the input that were read
	Documents int64
	Features  int64 // distinct ones so far, an estimate
}

// Prism is the runner that works inside the process.
const Prism = "prism"

// execute runs a pipeline to its end.
func execute(ctx context.Context, runner string, p *beam.Pipeline, watch func(Progress)) error {
	if runner != Prism || *jobopts.Endpoint != "" {
		_, err := beam.Run(ctx, runner, p)
		return err
	}
	return executeHere(ctx, p, watch)
}

// executeHere runs a pipeline on a Prism of its own, with workers that are goroutines of this process. It does what
// the SDK's runner does, but for what only another process needs, and lets watch see the counters meanwhile.
func executeHere(ctx context.Context, p *beam.Pipeline, watch func(Progress)) error {
	workers, err := extworker.StartLoopback(ctx, 0)
	if err != nil {
		return err
	}
	// A context of its own: the workers stop also if ctx has ended.
	defer func() { err = errors.Join(err, workers.Stop(context.WithoutCancel(ctx))) }()
	client, err := prism.CreateJobServer(ctx, prism.Options{})
	if err != nil {
		return err
	}
	edges, _, err := p.Build()
	if err != nil {
		return err
	}
	environment, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, workers.EnvironmentConfig)
	if err != nil {
		return err
	}
	graph, err := graphx.Marshal(edges, &graphx.Options{Environment: environment, PipelineResourceHints: jobopts.GetPipelineResourceHints()})
	if err != nil {
		return err
	}
	options := &runnerlib.JobOptions{Name: jobopts.GetJobName(), Experiments: jobopts.GetExperiments(), Loopback: true}
	prepared, _, token, err := runnerlib.Prepare(ctx, client, graph, options)
	if err != nil {
		return err
	}
	id, err := runnerlib.Submit(ctx, client, prepared, token)
	if err != nil {
		return err
	}
	job := job{client, id, graph}
	stop := job.watch(ctx, watch)
	defer stop()
	return job.wait(ctx)
}

type job struct {
	client jobpb.JobServiceClient
	id     string
	graph  *pipepb.Pipeline
}

// wait returns when the job has ended, with the error that ended it.
func (j job) wait(ctx context.Context) error {
	stream, err := j.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: j.id})
	if err != nil {
		return err
	}
	failed := false
	message := "no reason was given"
	for {
		response, err := stream.Recv()
		if err != nil && ctx.Err() != nil {
			return j.cancel(context.WithoutCancel(ctx))
		}
		if errors.Is(err, io.EOF) && !failed {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return errors.New(message)
		}
		if err != nil {
			return err
		}
		if s := response.GetStateResponse(); s != nil && s.GetState() == jobpb.JobState_FAILED {
			failed = true
		}
		if m := response.GetMessageResponse(); m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			message = m.GetMessageText()
		}
	}
}

func (j job) cancel(ctx context.Context) error {
	_, err := j.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id})
	return errors.Join(errors.New("the job was cancelled"), err)
}

// watch calls report with the counters at once and then four times a second, until stop is called.
func (j job) watch(ctx context.Context, report func(Progress)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		for {
			if p, err := j.progress(ctx); err == nil {
				report(p)
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (j job) progress(ctx context.Context) (p Progress, err error) {
	response, err := j.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.id})
	if err != nil {
		return p, fmt.Errorf("asking for the counters: %w", err)
	}
	m := response.GetMetrics()
	results := metricsx.FromMonitoringInfos(j.graph, m.GetAttempted(), m.GetCommitted())
	query := results.Query(func(r beam.MetricResult) bool { return r.Namespace() == transforms.CounterNamespace })
	for _, c := range query.Counters() {
		switch n := latest(c); c.Key.Name {
		case transforms.CounterBytes:
			p.Bytes += n
		case transforms.CounterDocuments:
			p.Documents += n
		case transforms.CounterFeatures:
			p.Features += n
		}
	}
	return p, nil
}

// latest is the value of a counter, committed or not.
func latest(c metrics.CounterResult) int64 { return max(c.Attempted, c.Committed) }
