// Package objectio makes a [fileio.Store] of an object store such as Google Cloud Storage or S3. A [Client] sends the
// requests; a [Store] does what is the same for all of them: glob patterns, reading ahead, exclusive writes that are right
// even if a reply is lost, and time limits.
package objectio

import (
	"context"
	"io"
)

// Client sends requests to an object store. It retries until the context ends. Its errors are one line and do not name the
// object. They wrap fs.ErrNotExist if there is no such object, version or bucket, fs.ErrExist if a condition does not hold,
// fs.ErrPermission and fs.ErrInvalid. Errors that may pass wrap fileio.ErrUnavailable.
type Client interface {
	// Stat describes the latest version of an object.
	Stat(ctx context.Context, bucket, name string) (Object, error)

	// List returns a page, of at most limit objects, of those whose names start with a prefix, and the token of the next
	// page, or "". The token of the first page is "". Unless the delimiter is empty, objects with the delimiter after
	// the prefix are replaced by one Object whose Name ends in the delimiter.
	List(ctx context.Context, bucket, prefix, delimiter, page string, limit int) (objects []Object, next string, err error)

	// Read fills p with the stored bytes of a version from an offset on. The error for fewer bytes wraps
	// io.ErrUnexpectedEOF.
	Read(ctx context.Context, bucket string, o Object, p []byte, offset int64) error

	// Upload begins to write an object, which is to keep the writer's token. If the context ends before Commit,
	// nothing is published and Commit fails.
	Upload(ctx context.Context, bucket, name, token string, c Condition) (Upload, error)

	// Delete removes an object if it still has that version.
	Delete(ctx context.Context, bucket, name, version string) error
}

// Object is an object without its bucket.
type Object struct {
	Name    string
	Size    int64  // in bytes, as stored
	Version string // differs between any two contents of a name
	CRC32C  string // as in fileio.Info; may be empty
	Token   string // of its writer; List need not know it
}

// TokenKey is the key under which a client stores the writer's token in an object's metadata.
const TokenKey = "sparsenb-writer"

// Condition is what must hold for an object to be written.
type Condition int

// The conditions.
const (
	Always Condition = iota
	Absent           // there is no object of that name
	Never            // always fails, with fs.ErrExist, for those who may write
)

// Upload writes an object.
type Upload interface {
	io.Writer

	// Commit publishes the object, and returns its version.
	Commit() (version string, err error)
}

// Error is an error in plain words. Kind is one of those that Client names.
type Error struct {
	Text        string
	Kind, Cause error
}

// Error is one line.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }
