// Package gcsio is Google Cloud Storage, as a store of package fileio for names such as gs://bucket/object. To import it
// is enough.
package gcsio

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/sparsenb/sparsenb/io/fileio"
)

const scheme = "gs://"

func init() { fileio.Register("gs", &store{}) }

// patience is how long the service may take for an answer, all attempts together.
var patience = 2 * time.Minute

// store has one client for the process, which it makes when the first file is touched.
type store struct {
	mu     sync.Mutex
	client *storage.Client
}

// connect returns the client. If it cannot be made, the next call tries again. A client needs credentials, unless the
// library finds an emulator in STORAGE_EMULATOR_HOST: what anybody may read is not read anonymously by accident.
func (s *store) connect(ctx context.Context) (*storage.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	client, err := storage.NewClient(context.WithoutCancel(ctx)) // it outlives the call
	if err != nil {
		// Not wrapped: that the file of a key is not there does not mean that of the input.
		return nil, fmt.Errorf("no credentials for Google Cloud Storage; %s (%v)", remedy, err)
	}
	// Everything may be done twice: removals and exclusive writes are bound to a generation, and other writes repeat
	// the same bytes.
	client.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithErrorFunc(storage.ShouldRetry),
		storage.WithBackoff(gax.Backoff{Initial: 200 * time.Millisecond, Max: 20 * time.Second, Multiplier: 2}))
	s.client = client
	return client, nil
}

// split takes a name apart. The object is empty in the name of a bucket.
func split(name string) (bucket, object string, err error) {
	bucket, object, _ = strings.Cut(strings.TrimPrefix(name, scheme), "/")
	if bucket == "" {
		return "", "", fmt.Errorf("%s: has no bucket; a name is gs://bucket/object", name)
	}
	return bucket, object, nil
}

func (s *store) bucket(ctx context.Context, name string) (b *storage.BucketHandle, object string, err error) {
	bucket, object, err := split(name)
	if err != nil {
		return nil, "", err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return client.Bucket(bucket), object, nil
}

func (s *store) object(ctx context.Context, name string) (*storage.ObjectHandle, error) {
	b, object, err := s.bucket(ctx, name)
	if err != nil {
		return nil, err
	}
	if object == "" {
		return nil, fmt.Errorf("%s: is a bucket, not an object", name)
	}
	return b.Object(object), nil
}
