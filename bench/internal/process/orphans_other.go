//go:build !linux

package process

const rssUnit = 1 // bytes, of ru_maxrss, on macOS

// AdoptOrphans does nothing here: what a child leaves behind, as Spark does, is not measured.
func AdoptOrphans() error { return nil }
