package pipeline

import (
	"context"
	"fmt"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// startPrism starts Prism in this process and returns a client of its job server. The server listens on all addresses until
// this process ends, without authentication, and runs any command that a job names as its worker. So other hosts are cut
// off as soon as it listens; users of this machine still can connect.
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
