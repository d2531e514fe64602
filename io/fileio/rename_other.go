//go:build !linux

package fileio

// renameExclusive renames a file unless the new name exists.
func renameExclusive(from, to string) error { return linkExclusive(from, to) }
