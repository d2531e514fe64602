package fileio

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameExclusive renames a file unless the new name exists. Where the file system does it in one step, a killed process
// never leaves both names.
func renameExclusive(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // such as NFS
		return linkExclusive(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
