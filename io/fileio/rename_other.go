//go:build !linux

package fileio

import "os"

// renameExclusive gives a file a second name unless that is taken. The caller removes the first.
func renameExclusive(from, to string) error { return os.Link(from, to) }
