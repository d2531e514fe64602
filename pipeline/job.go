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

// Progress is how far a job has come.
type Progress struct {
	Bytes     int64 // of the input that were read
	Documents int64
	Features  int64 // distinct ones so far, an estimate
	Merged    int64 // features that were merged and written
	Problems  int64 // that are being solved
}

// add adds what a counter of a step shows.
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

// job is one that an engine has taken.
type job struct {
	client jobpb.JobServiceClient
	id     string
	graph  *pipepb.Pipeline
	here   bool // the engine is in this process
}

// wait returns when the job has ended, with the error that ended it. If ctx ends, it calls mark, which keeps the job from
// publishing whatever the engine does, and cancels the job.
func (j job) wait(ctx context.Context, mark func(error) error) error {
	stream, err := j.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: j.id})
	if err != nil {
		return err
	}
	failed := false
	message := "no reason was given"
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
			return fmt.Errorf("the job server was lost, and what became of the job %s is not known; the same command finishes it, or finds it done (%w)", j.id, err)
		}
		if s := response.GetStateResponse(); s != nil && s.GetState() == jobpb.JobState_FAILED {
			failed = true
		}
		if m := response.GetMessageResponse(); m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			message = m.GetMessageText()
		}
	}
}

// name is what the engine calls the job; a job in this process has none that matters.
func (j job) name() string {
	if j.here {
		return ""
	}
	return j.id
}

// cancelTimeout is how long an engine may take to confirm that it has stopped a job.
const cancelTimeout = 20 * time.Second

// cancelledError is the end of a job that was to be cancelled.
type cancelledError struct {
	job       string
	cause     error
	confirmed bool  // the engine says that the job has ended, or never had it
	mark      error // that the output could not be marked
}

// Error says what is known of the job.
func (e *cancelledError) Error() string {
	switch {
	case e.confirmed && e.mark == nil:
		return e.cause.Error() + ": nothing was published; the same command starts again" + e.held()
	case e.job == "":
		return e.cause.Error() + ": a step did not end and was given up; the same command starts again, or finds the run published"
	case e.mark == nil:
		return fmt.Sprintf("%v: the engine has not confirmed that it cancelled the job %s; it may still be running, but will publish nothing", e.cause, e.job)
	}
	return fmt.Sprintf("%v: the job %s may still be running, and publish (%v)", e.cause, e.job, e.mark)
}

// held says that an engine may keep a job that it calls cancelled: Flink holds the slots of one that waits for more.
func (e *cancelledError) held() string {
	if e.job == "" {
		return ""
	}
	return fmt.Sprintf(", and waits if the engine's list still has %s", e.job)
}

// Unwrap returns why.
func (e *cancelledError) Unwrap() error { return e.cause }

// cancel stops the job and waits for the engine to say so.
func (j job) cancel(ctx context.Context, end *cancelledError) error {
	ctx, stop := context.WithTimeout(ctx, cancelTimeout)
	defer stop()
	if _, err := j.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); err != nil {
		return end
	}
	if j.here { // what still runs of it ends with this process
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

// watchCounters calls report with the counters at once, then four times a second until stop is called, and once more.
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
		// The counters that count are the last ones. A job server that is gone has none.
		if p, err := counters(context.WithoutCancel(ctx)); err == nil {
			report(p)
		}
	}
}

// answerTimeout is how long a job server may take to say where a job stands.
const answerTimeout = 10 * time.Second

func (j job) progress(ctx context.Context) (p Progress, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	response, err := j.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.id})
	if err != nil {
		return p, fmt.Errorf("asking for the counters: %w", err)
	}
	m := response.GetMetrics()
	results := metricsx.FromMonitoringInfos(j.graph, m.GetAttempted(), m.GetCommitted())
	query := results.Query(func(r beam.MetricResult) bool { return r.Namespace() == transforms.CounterNamespace })
	for _, c := range query.Counters() {
		p.add(c.Key.Name, latest(c))
	}
	return p, nil
}

// latest is the value of a counter, committed or not: on Spark only attempts are counted.
func latest(c metrics.CounterResult) int64 { return max(c.Attempted, c.Committed) }
