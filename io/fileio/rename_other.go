//go:build !linux

package fileio

// renameExclusive renames a file unless the new name is taken.
func renameExclusive(from, to string) error { return linkExclusive(from, to) }
