package modelio

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// Exit codes, on which a scheduler can act.
const (
	ExitFailed = 1 // the pipeline or the storage failed; a retry may succeed
	ExitUsage  = 2 // invalid command or configuration; a retry cannot succeed
	ExitData   = 3 // invalid data
	ExitTaken  = 4 // the output is in use: another run published first
)

// Error is an error with an exit code.
type Error struct {
	Exit int
	Err  error
}

// Error returns the message, in one line.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error with ExitUsage.
func Usagef(format string, args ...any) error {
	return &Error{ExitUsage, fmt.Errorf(format, args...)}
}

// InputError adds an exit code to an error of reading or finding input: ExitData for a corrupt file, ExitFailed if the disk or
// the storage failed and a retry may succeed, and ExitUsage otherwise, as for a missing file.
func InputError(err error) error {
	var corrupt *corpusio.CorruptError
	switch {
	case errors.As(err, &corrupt):
		return &Error{ExitData, err}
	case errors.Is(err, syscall.EIO), errors.Is(err, fileio.ErrUnavailable):
		return &Error{ExitFailed, err}
	}
	return &Error{ExitUsage, err}
}

// Verdict is the reason why a run ended without publishing.
type Verdict struct {
	Run         string `json:"run_id"`
	Exit        int    `json:"exit"`
	Message     string `json:"message"`
	Fingerprint string `json:"fingerprint"` // of the run; Refuse sets it
}
