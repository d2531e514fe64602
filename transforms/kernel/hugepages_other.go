//go:build !linux

package kernel

func adviseHugePages([]byte) {}
