package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"

	"github.com/sparsenb/sparsenb/transforms"
)

// Progress is the sum of a job's counters.
type Progress struct {
	Bytes     int64 // of input read
	Documents int64 // read
	Features  int64 // distinct so far, an estimate
	Merged    int64 // features merged and written
	Problems  int64 // to be solved
}

func (p *Progress) add(counter string, n int64) {
	switch counter {
	case transforms.CounterBytes:
		p.Bytes += n
	case transforms.CounterDocuments:
		p.Documents += n
	case transforms.CounterFeatures:
		p.Features += n
	case transforms.CounterMerged:
		p.Merged += n
	case transforms.CounterProblems:
		p.Problems += n
	}
}

// job is a job that an engine has accepted.
type job struct {
	client jobpb.JobServiceClient
	id     string
	graph  *pipepb.Pipeline
	here   bool // the engine is in this process
}

// wait waits for the job to end and returns its error. If ctx ends, it cancels the job, after it called mark, which keeps the
// job from publishing even if the engine does not cancel it.
func (j job) wait(ctx context.Context, mark func(error) error) error {
	stream, err := j.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: j.id})
	if err != nil {
		return err
	}
	failed := false
	message := "the engine gave no reason"
	for {
		response, err := stream.Recv()
		if err != nil && ctx.Err() != nil {
			cause := context.Cause(ctx)
			return j.cancel(context.WithoutCancel(ctx), &cancelledError{job: j.name(), cause: cause, mark: mark(cause)})
		}
		if errors.Is(err, io.EOF) && !failed {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return errors.New(message)
		}
		if err != nil {
			return fmt.Errorf("lost the connection to the job server; job %s may be running or done; repeat the command to finish it (%w)", j.id, err)
		}
		if s := response.GetStateResponse(); s != nil && s.GetState() == jobpb.JobState_FAILED {
			failed = true
		}
		if m := response.GetMessageResponse(); m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			message = m.GetMessageText()
		}
	}
}

// name is the engine's name for the job, empty for a job in this process.
func (j job) name() string {
	if j.here {
		return ""
	}
	return j.id
}

// cancelTimeout is how long an engine may take to confirm that it cancelled a job.
const cancelTimeout = 20 * time.Second

// cancelledError is the error of a job that was cancelled, or should have been.
type cancelledError struct {
	job       string
	cause     error
	confirmed bool  // the job has ended, or never reached the engine
	mark      error // why the output could not be marked
}

// Error says what is known about the job.
func (e *cancelledError) Error() string {
	switch {
	case e.confirmed && e.mark == nil:
		return e.cause.Error() + ": nothing was published; repeat the command to start again" + e.held()
	case e.job == "":
		return e.cause.Error() + ": a step did not end in time; repeat the command to finish the run"
	case e.mark == nil:
		return fmt.Sprintf("%v: the engine did not confirm that it cancelled job %s, which may still be running but will not publish", e.cause, e.job)
	}
	return fmt.Sprintf("%v: job %s may still be running, and may publish (%v)", e.cause, e.job, e.mark)
}

// held warns that an engine may keep a cancelled job: Flink keeps the slots of a job that waits for more.
func (e *cancelledError) held() string {
	if e.job == "" {
		return ""
	}
	return fmt.Sprintf("; if the engine still lists job %s, the rerun waits for its slots", e.job)
}

// Unwrap returns the cause.
func (e *cancelledError) Unwrap() error { return e.cause }

// cancel cancels the job and waits until the engine confirms it.
func (j job) cancel(ctx context.Context, end *cancelledError) error {
	ctx, stop := context.WithTimeout(ctx, cancelTimeout)
	defer stop()
	if _, err := j.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); err != nil {
		return end
	}
	if j.here { // what is still running ends with this process
		end.confirmed = true
		return end
	}
	for {
		response, err := j.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: j.id})
		if err != nil {
			return end
		}
		switch response.GetState() {
		case jobpb.JobState_CANCELLED, jobpb.JobState_FAILED, jobpb.JobState_DONE:
			end.confirmed = true
			return end
		}
		select {
		case <-ctx.Done():
			return end
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// watchCounters calls report with the counters four times a second, and a last time when stop is called.
func watchCounters(ctx context.Context, counters func(context.Context) (Progress, error), report func(Progress)) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		for {
			if p, err := counters(ctx); err == nil {
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
		end()
		<-done
		// Only the last counters are complete. A job server that has exited has none.
		if p, err := counters(context.WithoutCancel(ctx)); err == nil {
			report(p)
		}
	}
}

// metricsTimeout is how long a job server may take to return the counters.
const metricsTimeout = 10 * time.Second

func (j job) progress(ctx context.Context) (p Progress, err error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	response, err := j.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.id})
	if err != nil {
		return p, fmt.Errorf("reading the counters: %w", err)
	}
	m := response.GetMetrics()
	results := metricsx.FromMonitoringInfos(j.graph, m.GetAttempted(), m.GetCommitted())
	query := results.Query(func(r beam.MetricResult) bool { return r.Namespace() == transforms.CounterNamespace })
	for _, c := range query.Counters() {
		p.add(c.Key.Name, latest(c))
	}
	return p, nil
}

// latest is the value of a counter, committed or not: Spark has attempted values only.
func latest(c metrics.CounterResult) int64 { return max(c.Attempted, c.Committed) }
