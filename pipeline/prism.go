package pipeline

import (
	"context"
	"fmt"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// startPrism starts Prism in this process and returns a client of its job server. That listens on all addresses, without a
// password, until this process ends, and starts any command that a job names as its worker. So it is put out of the reach of
// other hosts, as soon as it is there; users of this machine still reach it.
func startPrism(ctx context.Context) (jobpb.JobServiceClient, error) {
	before, err := openListeners()
	if err != nil {
		return nil, err
	}
	client, err := prism.CreateJobServer(ctx, prism.Options{})
	if err != nil {
		return nil, err
	}
	if err := closeToOtherHosts(before); err != nil {
		return nil, fmt.Errorf("closing Prism's port to other hosts: %w", err)
	}
	return client, nil
}
