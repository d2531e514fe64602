//go:build !linux

package main

const rssUnit = 1 // bytes, of ru_maxrss, on macOS

// adoptOrphans does nothing here: what a child leaves behind, as Spark does, is not measured.
func adoptOrphans() error { return nil }
