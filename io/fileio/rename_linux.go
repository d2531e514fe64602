package fileio

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameExclusive renames a file unless the new name is taken. A process that is killed leaves one of the names, never
// both, where the file system can do it in one step.
func renameExclusive(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // NFS, for one
		return linkExclusive(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
