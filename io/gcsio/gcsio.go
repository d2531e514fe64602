// Package gcsio registers Google Cloud Storage as a store of package fileio, for names such as gs://bucket/object.
// Importing it is enough. What is not Google's is in package objectio.
package gcsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/iterator"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/objectio"
)

func init() { fileio.Register("gs", newStore()) }

func newStore() *objectio.Store { return &objectio.Store{Scheme: "gs", Client: &client{}} }

// chunkBytes are kept of an upload, to send them again. A smaller object is sent in one request.
const chunkBytes = 4 << 20

// client is an objectio.Client. It connects at its first request.
type client struct {
	mu     sync.Mutex
	client *storage.Client
}

// connect returns the client. If it cannot be made, the next call tries again. A client needs credentials, unless
// STORAGE_EMULATOR_HOST names an emulator; even public buckets are not read anonymously.
func (c *client) connect(ctx context.Context) (*storage.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return c.client, nil
	}
	client, err := storage.NewClient(context.WithoutCancel(ctx)) // it outlives the call
	if err != nil {
		// Not wrapped: a missing key file must not look like a missing input.
		return nil, fmt.Errorf("no credentials for Google Cloud Storage; %s (%v)", remedy, err)
	}
	// Every request may be repeated: removals and exclusive writes are bound to a generation, and other writes repeat
	// the same bytes.
	client.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithErrorFunc(storage.ShouldRetry),
		storage.WithBackoff(gax.Backoff{Initial: 200 * time.Millisecond, Max: 20 * time.Second, Multiplier: 2}))
	c.client = client
	return client, nil
}

func (c *client) object(ctx context.Context, bucket, name string) (*storage.ObjectHandle, error) {
	client, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Bucket(bucket).Object(name), nil
}

// objectOf describes an object. Every content of a name has its own generation.
func objectOf(a *storage.ObjectAttrs) objectio.Object {
	o := objectio.Object{Name: a.Prefix + a.Name, Size: a.Size, Token: a.Metadata[objectio.TokenKey]}
	if a.Prefix == "" {
		o.Version = strconv.FormatInt(a.Generation, 10)
	}
	if a.Prefix == "" && (a.CRC32C != 0 || a.Size == 0) { // an emulator may keep no checksum; one of 0 is unlikely
		o.CRC32C = fileio.Checksum(a.CRC32C)
	}
	return o
}

func (c *client) Stat(ctx context.Context, bucket, name string) (objectio.Object, error) {
	o, err := c.object(ctx, bucket, name)
	if err != nil {
		return objectio.Object{}, err
	}
	attrs, err := o.Attrs(ctx)
	if err != nil {
		return objectio.Object{}, plain(err)
	}
	return objectOf(attrs), nil
}

func (c *client) List(ctx context.Context, bucket, prefix, delimiter, page string, limit int) (objects []objectio.Object, next string, err error) {
	client, err := c.connect(ctx)
	if err != nil {
		return nil, "", err
	}
	q := &storage.Query{Prefix: prefix, Delimiter: delimiter}
	if err := q.SetAttrSelection([]string{"Bucket", "Name", "Size", "Generation", "CRC32C"}); err != nil {
		return nil, "", err
	}
	var found []*storage.ObjectAttrs
	next, err = iterator.NewPager(client.Bucket(bucket).Objects(ctx, q), limit, page).NextPage(&found)
	for _, attrs := range found {
		objects = append(objects, objectOf(attrs))
	}
	return objects, next, plain(err)
}

// Read reads the bytes as they are stored: the service does not decompress objects with Content-Encoding: gzip.
func (c *client) Read(ctx context.Context, bucket string, o objectio.Object, p []byte, offset int64) error {
	handle, err := c.object(ctx, bucket, o.Name)
	if err != nil {
		return err
	}
	generation, err := strconv.ParseInt(o.Version, 10, 64)
	if err != nil {
		return err
	}
	return plain(read(ctx, handle.Generation(generation).ReadCompressed(true), o.Size, p, offset))
}

func read(ctx context.Context, o *storage.ObjectHandle, size int64, p []byte, offset int64) error {
	r, err := o.NewRangeReader(ctx, offset, int64(len(p)))
	if err != nil {
		return err
	}
	_, err = io.ReadFull(r, p)
	if errors.Is(err, io.EOF) {
		// The library resumes broken replies, but version 1.67.1 skips too much in objects with Content-Encoding: gzip.
		err = io.ErrUnexpectedEOF
	}
	if err == nil && (r.Attrs.Decompressed || r.Attrs.Size != size) {
		err = fmt.Errorf("%d bytes were sent of the %d that are stored", r.Attrs.Size, size)
	}
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

func (c *client) Upload(ctx context.Context, bucket, name, token string, condition objectio.Condition) (objectio.Upload, error) {
	o, err := c.object(ctx, bucket, name)
	if err != nil {
		return nil, err
	}
	switch condition {
	case objectio.Absent:
		o = o.If(storage.Conditions{DoesNotExist: true})
	case objectio.Never: // no object has generation 1
		o = o.If(storage.Conditions{GenerationMatch: 1})
	}
	w := o.NewWriter(ctx)
	w.Metadata = map[string]string{objectio.TokenKey: token}
	w.ChunkSize = chunkBytes
	w.ChunkRetryDeadline = objectio.Patience
	return upload{w}, nil
}

type upload struct{ *storage.Writer }

func (u upload) Write(p []byte) (int, error) {
	n, err := u.Writer.Write(p)
	return n, plain(err)
}

// Commit closes the writer, which publishes the object.
func (u upload) Commit() (version string, err error) {
	if err := u.Close(); err != nil {
		return "", plain(err)
	}
	return strconv.FormatInt(u.Attrs().Generation, 10), nil
}

func (c *client) Delete(ctx context.Context, bucket, name, version string) error {
	o, err := c.object(ctx, bucket, name)
	if err != nil {
		return err
	}
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	return plain(o.If(storage.Conditions{GenerationMatch: generation}).Delete(ctx))
}
