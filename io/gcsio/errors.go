package gcsio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// failure is an error of the library in our words. It wraps what package fs or fileio calls it.
type failure struct {
	text        string
	kind, cause error
}

// Error is one line.
func (f *failure) Error() string { return f.text }

// Unwrap returns the kind and the cause.
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

// remedy is the way to credentials.
const remedy = "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a key"

// errSilent is the cause of a context that has ended because nothing came.
var errSilent = errors.New("no answer in time")

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, plain(err))
}

// plain says what the service has answered, or why it has not. All that is no clear answer may pass.
func plain(err error) error {
	if errors.Is(err, storage.ErrObjectNotExist) {
		return &failure{"no such object", fs.ErrNotExist, err}
	}
	if errors.Is(err, storage.ErrBucketNotExist) {
		return &failure{"no such bucket", fs.ErrNotExist, err}
	}
	var answer *googleapi.Error
	if errors.As(err, &answer) {
		return &failure{said(answer), kindOf(answer.Code), err}
	}
	if errors.Is(err, errReplaced) {
		return err
	}
	if errors.Is(err, errFlipped) {
		return &failure{err.Error(), fileio.ErrUnavailable, err}
	}
	var token *auth.Error
	if errors.As(err, &token) && !token.Temporary() {
		cause := strings.Join(strings.Fields(token.Error()), " ") // it may have lines
		return &failure{fmt.Sprintf("Google refuses the credentials (%s); %s", cause, remedy), fs.ErrPermission, err}
	}
	silent := errors.Is(err, errSilent) || errors.Is(err, context.DeadlineExceeded)
	if errors.Is(err, context.Canceled) && !silent {
		return err
	}
	text := err.Error()
	var transport *url.Error
	if errors.As(err, &transport) {
		text = transport.Err.Error()
	}
	if silent {
		text = fmt.Sprintf("no answer within %s (%s)", patience, text)
	}
	return &failure{"Google Cloud Storage cannot be reached: " + text, fileio.ErrUnavailable, err}
}

// kindOf is what an HTTP status means.
func kindOf(status int) error {
	switch status {
	case http.StatusNotFound: // of what is written to
		return fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return fs.ErrPermission
	case http.StatusPreconditionFailed:
		return fs.ErrExist
	case http.StatusBadRequest:
		return fs.ErrInvalid
	}
	return fileio.ErrUnavailable
}

// said is an answer in one line.
func said(answer *googleapi.Error) string {
	text := fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code))
	message, _, _ := strings.Cut(answer.Message, "\n")
	if kind := kindOf(answer.Code); kind == fs.ErrPermission || kind == fs.ErrNotExist {
		text = map[error]string{fs.ErrPermission: fs.ErrPermission.Error(), fs.ErrNotExist: "no such bucket"}[kind]
	}
	if message != "" {
		text += " (" + strings.TrimSuffix(message, ".") + ")"
	}
	return text
}

func hasStatus(err error, status int) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code == status
}
