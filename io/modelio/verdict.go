package modelio

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// Exit codes, by which a scheduler decides what to do.
const (
	ExitFailed = 1 // the pipeline or its storage failed; a retry may help
	ExitUsage  = 2 // the command does not fit; a retry cannot help
	ExitData   = 3 // the data failed a gate
	ExitTaken  = 4 // another run won the output
)

// Error is an error with the exit code that it means.
type Error struct {
	Exit int
	Err  error
}

// Error is the message alone, in one line.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error that no retry can help.
func Usagef(format string, args ...any) error {
	return &Error{ExitUsage, fmt.Errorf(format, args...)}
}

// InputError gives an error that was met while looking for input its exit code: what is not there or may not be read will
// not be there the next time, but a disk that failed may be well again, and a store that was out of reach too.
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

// Verdict is why a run ended without publishing, and the exit code that says so.
type Verdict struct {
	Run         string `json:"run_id"`
	Exit        int    `json:"exit"`
	Message     string `json:"message"`
	Fingerprint string `json:"fingerprint"` // of the run; Refuse sets it
}
