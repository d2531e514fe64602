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
	"github.com/sparsenb/sparsenb/io/objectio"
)

// remedy says how to get credentials.
const remedy = "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"

// plain maps an error of the library to one of package objectio. Anything but a clear answer may be temporary.
func plain(err error) error {
	var answer *googleapi.Error
	var credentials *auth.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrObjectNotExist):
		return &objectio.Error{Text: "no such object", Kind: fs.ErrNotExist, Cause: err}
	case errors.Is(err, storage.ErrBucketNotExist):
		return &objectio.Error{Text: "no such bucket", Kind: fs.ErrNotExist, Cause: err}
	case errors.As(err, &answer):
		return &objectio.Error{Text: textOf(answer), Kind: kindOf(answer.Code), Cause: err}
	case errors.As(err, &credentials) && !credentials.Temporary():
		cause := strings.Join(strings.Fields(credentials.Error()), " ") // it may have several lines
		return &objectio.Error{Text: fmt.Sprintf("Google rejected the credentials (%s); %s", cause, remedy), Kind: fs.ErrPermission, Cause: err}
	case errors.Is(err, context.Canceled):
		return err
	}
	text := err.Error()
	var transport *url.Error
	if errors.As(err, &transport) {
		text = transport.Err.Error()
	}
	return &objectio.Error{Text: "Google Cloud Storage cannot be reached: " + text, Kind: fileio.ErrUnavailable, Cause: err}
}

func kindOf(status int) error {
	switch status {
	case http.StatusNotFound: // the bucket of an upload
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

func textOf(answer *googleapi.Error) string {
	text := fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code))
	switch kindOf(answer.Code) {
	case fs.ErrPermission:
		text = fs.ErrPermission.Error()
	case fs.ErrNotExist:
		text = "no such bucket"
	}
	if message, _, _ := strings.Cut(answer.Message, "\n"); message != "" {
		text += " (" + strings.TrimSuffix(message, ".") + ")"
	}
	return text
}
